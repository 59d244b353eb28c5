import type { ListInvitationsResponse } from '@custos/sdk';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApi, useApiPages } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { ActDialog } from '../../kit/act-dialog.tsx';
import { Card } from '../../kit/card.tsx';
import { HeaderButton } from '../../kit/header-button.tsx';
import { Page, Stack } from '../../kit/page.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { shortHash } from '../../lib/addresses.ts';
import { count } from '../../lib/amounts.ts';
import { AddPasskeyDialog } from './add-passkey-dialog.tsx';
import { ChangeQuorumDialog } from './change-quorum-dialog.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import type { RootUser } from './quorum.ts';
import { QuorumCard } from './quorum-card.tsx';
import { TagsDialog } from './tags-dialog.tsx';
import { UserDialog } from './user-dialog.tsx';
import { UsersCard } from './users-card.tsx';

type Invitation = ListInvitationsResponse['invitations'][number];
type Opened = 'quorum' | 'tags' | 'passkey' | 'invite' | Invitation;

/** So many users are looked through for those of the root quorum; they are most often the oldest. */
const LOOKED_THROUGH = 1000;

export function PeoplePage() {
  const { user: openUserId, tag } = useSearch({ from: '/shell/people' });
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [opened, setOpened] = useState<Opened>();
  const off = useOffReason();
  const asked = useDeferredValue(text.trim());
  const everybody = useApiPages('listUserSummaries', {}, ({ users }) => users);
  const found = useApiPages('listUserSummaries', { text: asked }, ({ users }) => users, { enabled: asked !== '' });
  const configs = useApi('getOrganizationConfigs');
  const tagList = useApi('listUserTags', { paginationOptions: { limit: '100' } });
  const invitations = useApi('listInvitations', { paginationOptions: { limit: '100' } });
  const tags = tagList.data?.userTags ?? [];
  const pending = (invitations.data?.invitations ?? []).filter(({ status }) => status === 'INVITATION_STATUS_CREATED');
  const quorum = configs.data?.configs.quorum;

  const known = useMemo(() => new Map(everybody.items.map((user) => [user.userId, user])), [everybody.items]);
  const isMissing =
    (quorum?.userIds.some((userId) => !known.has(userId)) ?? false) ||
    (openUserId !== undefined && !known.has(openUserId));
  const { hasMore, loadMore, query } = everybody;
  useEffect(() => {
    if (isMissing && hasMore && known.size < LOOKED_THROUGH && !query.isFetchingNextPage) loadMore();
  }, [isMissing, hasMore, known, query.isFetchingNextPage, loadMore]);

  const open = (user: string | undefined): void => {
    void navigate({
      to: '/people',
      search: { ...(user !== undefined && { user }), ...(tag !== undefined && { tag }) },
    });
  };
  const close = (): void => setOpened(undefined);
  const opensUser =
    openUserId === undefined
      ? undefined
      : (known.get(openUserId) ?? found.items.find(({ userId }) => userId === openUserId));
  const total = hasMore ? `${known.size} or more users` : count(known.size, 'user');
  return (
    <Page
      title="People"
      {...(!query.isPending && { detail: `${total}${pending.length > 0 ? `, ${pending.length} invited` : ''}` })}
      actions={
        <>
          <HeaderButton icon="tag" label="Tags" onClick={() => setOpened('tags')} />
          <HeaderButton icon="passkey" label="Add a passkey" off={off} onClick={() => setOpened('passkey')} />
        </>
      }
    >
      <Stack>
        {configs.error && <ProblemNote problem={problemOf(configs.error)} onRetry={() => void configs.refetch()} />}
        {quorum === undefined || query.isPending ? (
          <Card title="Root quorum">
            <Skeleton rows={5} shape="text" />
          </Card>
        ) : (
          <QuorumCard
            threshold={quorum.threshold}
            users={quorum.userIds.map((userId): RootUser => {
              const user = known.get(userId);
              if (user === undefined) return { userId, userName: shortHash(userId), isProgram: false };
              return { ...user, credentialCount: user.passkeyCount + user.apiKeyCount + user.oauthCount };
            })}
            off={off}
            onChange={() => setOpened('quorum')}
            onAddPasskey={() => setOpened('passkey')}
          />
        )}
        <UsersCard
          paged={asked === '' ? everybody : found}
          text={text}
          onText={setText}
          tags={tags}
          tagId={tag}
          onAnyTag={() => void navigate({ to: '/people', search: {} })}
          invitations={pending}
          nameOf={(userId) => known.get(userId)?.userName}
          off={off}
          onOpen={open}
          onInvite={() => setOpened('invite')}
          onRevoke={setOpened}
        />
      </Stack>
      {opened === 'quorum' && quorum && (
        <ChangeQuorumDialog
          threshold={quorum.threshold}
          userIds={quorum.userIds}
          users={[
            ...everybody.items,
            ...quorum.userIds
              .filter((userId) => !known.has(userId))
              .map((userId) => ({ userId, userName: shortHash(userId), isProgram: false })),
          ].sort((a, b) => Number(quorum.userIds.includes(b.userId)) - Number(quorum.userIds.includes(a.userId)))}
          onClose={close}
        />
      )}
      {opened === 'tags' && <TagsDialog tags={tags} onClose={close} />}
      {opened === 'passkey' && <AddPasskeyDialog onClose={close} />}
      {opened === 'invite' && <InviteDialog tags={tags} onClose={close} />}
      {typeof opened === 'object' && (
        <ActDialog
          method="deleteInvitation"
          parameters={{ invitationId: opened.invitationId }}
          title={
            <>
              Revoke the invitation of <bdi>{opened.receiverUserName}</bdi>
            </>
          }
          description="It cannot be accepted any more. You can invite again."
          act="Revoke"
          acting="Revoking…"
          kind="danger"
          width="small"
          onClose={close}
        />
      )}
      {opensUser && <UserDialog key={opensUser.userId} user={opensUser} tags={tags} onClose={() => open(undefined)} />}
    </Page>
  );
}
