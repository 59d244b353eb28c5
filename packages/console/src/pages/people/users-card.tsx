import type { ListInvitationsResponse } from '@custos/sdk';
import { problemOf } from '../../api/problem.ts';
import type { Paged } from '../../api/use-api.ts';
import { useNow } from '../../app/now.ts';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { Empty } from '../../kit/empty.tsx';
import { SearchField } from '../../kit/field.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import { Person } from '../../kit/person.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { RootMark, Tag } from '../../kit/tag.tsx';
import { Time } from '../../kit/time.tsx';
import { count } from '../../lib/amounts.ts';
import { cx } from '../../lib/cx.ts';
import { relative } from '../../lib/time.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import { credentialsInWords, endInWords, type UserSummary } from './credentials-in-words.ts';
import styles from './people.module.css';
import { isAway } from './quorum.ts';
import type { TagChoice } from './tag-picker.tsx';

type Invitation = ListInvitationsResponse['invitations'][number];
type Row = { readonly user: UserSummary } | { readonly invitation: Invitation };

export interface UsersCardProps {
  readonly paged: Paged<UserSummary>;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly tags: readonly TagChoice[];
  /** Only those with this tag. */
  readonly tagId: string | undefined;
  readonly onAnyTag: () => void;
  readonly invitations: readonly Invitation[];
  readonly nameOf: (userId: string) => string | undefined;
  readonly off: string | undefined;
  readonly onOpen: (userId: string) => void;
  readonly onInvite: () => void;
  readonly onRevoke: (invitation: Invitation) => void;
}

export function UsersCard(props: UsersCardProps) {
  const { paged, text, tags, tagId, invitations, nameOf, off, onOpen, onRevoke } = props;
  const { userId: me } = useSessionOrThrow();
  const nowMs = useNow();
  const tagName = (id: string): string => tags.find((tag) => tag.tagId === id)?.tagName ?? id;
  const wanted = text.trim().toLocaleLowerCase();
  const rows: readonly Row[] = [
    ...paged.items.filter((user) => tagId === undefined || user.tagIds.includes(tagId)).map((user) => ({ user })),
    ...invitations
      .filter(
        ({ receiverUserName, receiverEmail, receiverUserTags }) =>
          (tagId === undefined || receiverUserTags.includes(tagId)) &&
          `${receiverUserName} ${receiverEmail}`.toLocaleLowerCase().includes(wanted),
      )
      .map((invitation) => ({ invitation })),
  ];
  const columns: readonly Column<Row>[] = [
    {
      id: 'name',
      header: 'Name',
      width: '27%',
      cell: (row) =>
        'invitation' in row ? (
          <Person
            name={row.invitation.receiverUserName}
            detail={
              <>
                invited by <bdi>{nameOf(row.invitation.senderUserId) ?? 'somebody'}</bdi>
              </>
            }
          />
        ) : (
          <button type="button" className={styles.nameButton} onClick={() => onOpen(row.user.userId)}>
            <Person
              name={row.user.userName}
              isProgram={row.user.isProgram}
              detail={
                row.user.isProgram
                  ? 'program'
                  : row.user.userEmail && <bdi title={row.user.userEmail}>{row.user.userEmail}</bdi>
              }
              {...(row.user.userId === me && { marks: <Tag kind="accent">you</Tag> })}
            />
          </button>
        ),
    },
    {
      id: 'tags',
      header: 'Tags',
      width: '17%',
      cell: (row) => (
        <span className={styles.tags}>
          {'user' in row && row.user.isRoot && <RootMark />}
          {('user' in row ? row.user.tagIds : row.invitation.receiverUserTags).map((id) => (
            <Tag key={id}>{tagName(id)}</Tag>
          ))}
        </span>
      ),
    },
    {
      id: 'credentials',
      header: 'Credentials',
      width: '24%',
      cell: (row) => {
        if ('invitation' in row) {
          const { expiresAt } = row.invitation;
          return (
            <span className={styles.quiet}>
              {expiresAt === undefined ? 'invited' : `invitation ends ${relative(expiresAt, nowMs)}`}
            </span>
          );
        }
        const { credentialExpiresAt } = row.user;
        const end = credentialExpiresAt === undefined ? undefined : endInWords(credentialExpiresAt, nowMs);
        return (
          <>
            {credentialsInWords(row.user)}
            {end && (
              <>
                , <span className={cx(end.isSoon && styles.soon)}>{end.text}</span>
              </>
            )}
          </>
        );
      },
    },
    {
      id: 'proof',
      header: 'Extra proof',
      cell: (row) =>
        'user' in row && (
          <span className={styles.quiet}>
            {row.user.mfaPolicyCount === 0 ? 'none' : count(row.user.mfaPolicyCount, 'rule')}
          </span>
        ),
      narrow: 'hide',
    },
    {
      id: 'seen',
      header: 'Last seen',
      align: 'right',
      cell: (row) => {
        if ('invitation' in row) {
          return off === undefined ? (
            <LinkButton
              aria-label={`Revoke the invitation of ${row.invitation.receiverUserName}`}
              onClick={() => onRevoke(row.invitation)}
            >
              Revoke
            </LinkButton>
          ) : null;
        }
        const { user } = row;
        if (user.lastSeenAt === undefined) return <span className={styles.quiet}>never</span>;
        return <Time time={user.lastSeenAt} inRow className={cx(isAway(user, nowMs) && styles.soon)} />;
      },
    },
  ];
  return (
    <Card
      title="Users"
      detail={
        tagId === undefined ? undefined : (
          <>
            with the tag <bdi>{tagName(tagId)}</bdi>. <LinkButton onClick={props.onAnyTag}>Show all</LinkButton>
          </>
        )
      }
      flush
      actions={
        <>
          <div className={styles.search}>
            <SearchField label="Name or email" placeholder="Name or email" value={text} onChange={props.onText} />
          </div>
          <Button icon="plus" off={off} hideReason onClick={props.onInvite}>
            Invite
          </Button>
        </>
      }
    >
      {paged.query.error && (
        <ProblemNote problem={problemOf(paged.query.error)} onRetry={() => void paged.query.refetch()} />
      )}
      {paged.query.isPending ? (
        <Skeleton rows={5} />
      ) : (
        <Table
          label="Users"
          columns={columns}
          rows={rows}
          rowKey={(row) => ('user' in row ? row.user.userId : row.invitation.invitationId)}
          onOpen={(row) => {
            if ('user' in row) onOpen(row.user.userId);
          }}
          empty={
            <Empty title="Nobody is found" icon="people" call="await client.listUserSummaries({ text: 'ada' })">
              Users whose name or mail address has this text, and who have the tag, will be listed here.
            </Empty>
          }
        />
      )}
      {paged.hasMore && (
        <div className={styles.more}>
          <Button size="small" busy={paged.query.isFetchingNextPage && 'Loading…'} onClick={paged.loadMore}>
            Show more
          </Button>
        </div>
      )}
    </Card>
  );
}
