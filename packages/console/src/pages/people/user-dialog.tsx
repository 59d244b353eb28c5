import type { ListCredentialsResponse } from '@custos/sdk';
import { useRef, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../app/now.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { ActDialog } from '../../kit/act-dialog.tsx';
import { Asked } from '../../kit/asked.tsx';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { TextField } from '../../kit/field.tsx';
import { Hash } from '../../kit/hash.tsx';
import { fieldProblem } from '../../kit/problem-note.tsx';
import { RootMark, Tag } from '../../kit/tag.tsx';
import { Time } from '../../kit/time.tsx';
import { cx } from '../../lib/cx.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import { AddApiKeyDialog } from './add-api-key-dialog.tsx';
import { AddPasskeyDialog } from './add-passkey-dialog.tsx';
import { endInWords, type UserSummary } from './credentials-in-words.ts';
import styles from './people.module.css';
import { type TagChoice, TagPicker } from './tag-picker.tsx';

type Credential = ListCredentialsResponse['credentials'][number];
type Opened = 'rename' | 'tags' | 'delete' | 'passkey' | 'api-key' | Credential;

const KINDS: Readonly<Record<Credential['kind'], string>> = {
  API_KEY: 'API key',
  PASSKEY: 'Passkey',
  SESSION: 'Session',
  OAUTH: 'Login elsewhere',
};
const FACTORS: Readonly<Record<string, string>> = {
  AUTHENTICATION_TYPE_EMAIL_OTP: 'a code by mail',
  AUTHENTICATION_TYPE_SMS_OTP: 'a code by SMS',
  AUTHENTICATION_TYPE_PASSKEY: 'a passkey',
  AUTHENTICATION_TYPE_API_KEY: 'an API key',
  AUTHENTICATION_TYPE_OAUTH: 'a login elsewhere',
  AUTHENTICATION_TYPE_SESSION: 'a session',
};

export interface UserDialogProps {
  readonly user: UserSummary;
  readonly tags: readonly TagChoice[];
  readonly onClose: () => void;
}

/** One user: who it is, what it signs in with, and what it needs besides. */
export function UserDialog({ user, tags, onClose }: UserDialogProps) {
  const session = useSessionOrThrow();
  const off = useOffReason();
  const [opened, setOpened] = useState<Opened>();
  const isMe = user.userId === session.userId;
  const credentials = useApi('listCredentials', { userId: user.userId, paginationOptions: { limit: '100' } });
  const proofs = useApi('getMfaPolicies', { userId: user.userId }, { enabled: user.mfaPolicyCount > 0 });
  const close = (): void => setOpened(undefined);
  const own = tags.filter(({ tagId }) => user.tagIds.includes(tagId));
  return (
    <>
      <Dialog
        open
        onClose={onClose}
        width="wide"
        title={<bdi>{user.userName}</bdi>}
        footer={
          <>
            <Button kind="danger" icon="trash" off={off} hideReason onClick={() => setOpened('delete')}>
              Delete user
            </Button>
            <Button onClick={onClose}>Close</Button>
          </>
        }
      >
        <div className={styles.form}>
          <Facts>
            <Fact label="Id">
              <Hash value={user.userId} what="user id" whole />
            </Fact>
            <Fact label="Email">{user.userEmail ? <bdi>{user.userEmail}</bdi> : 'none'}</Fact>
            <Fact label="Tags">
              <span className={styles.tags}>
                {user.isRoot && <RootMark />}
                {own.map(({ tagId, tagName }) => (
                  <Tag key={tagId}>{tagName}</Tag>
                ))}
                {!user.isRoot && own.length === 0 && 'none'}
              </span>
            </Fact>
            <Fact label="Last seen">{user.lastSeenAt ? <Time time={user.lastSeenAt} /> : 'never'}</Fact>
            <Fact label="Extra proof">
              {user.mfaPolicyCount === 0
                ? 'none'
                : (proofs.data?.mfaPolicies ?? []).map(
                    ({ mfaPolicyId, mfaPolicyName, requiredAuthenticationMethods }) => (
                      <span key={mfaPolicyId} className={styles.proof}>
                        <bdi>{mfaPolicyName}</bdi>:{' '}
                        {requiredAuthenticationMethods
                          .map(({ any }) => any.map(({ type }) => FACTORS[type] ?? type).join(' or '))
                          .join(', and ')}
                      </span>
                    ),
                  )}
            </Fact>
          </Facts>
          <div className={styles.buttons}>
            <Button size="small" icon="edit" off={off} hideReason onClick={() => setOpened('rename')}>
              Rename
            </Button>
            <Button size="small" icon="tag" off={off} hideReason onClick={() => setOpened('tags')}>
              Edit tags
            </Button>
            {isMe && (
              <Button size="small" icon="passkey" off={off} hideReason onClick={() => setOpened('passkey')}>
                Add a passkey
              </Button>
            )}
            <Button size="small" icon="key" off={off} hideReason onClick={() => setOpened('api-key')}>
              Add an API key
            </Button>
          </div>
          <h3 className={styles.heading}>Credentials</h3>
          <Asked query={credentials} rows={2}>
            {({ credentials: held }) =>
              held.length === 0 ? (
                <p className={styles.quiet}>None: this user cannot sign in.</p>
              ) : (
                <ul className={styles.rows} aria-label="Credentials">
                  {held.map((credential) => (
                    <CredentialRow
                      key={credential.credentialId}
                      credential={credential}
                      isThisSession={credential.publicKey !== undefined && credential.publicKey === session.publicKey}
                      off={off}
                      onDelete={() => setOpened(credential)}
                    />
                  ))}
                </ul>
              )
            }
          </Asked>
        </div>
      </Dialog>
      {opened === 'rename' && <RenameUser user={user} onClose={close} />}
      {opened === 'tags' && <EditTags user={user} tags={tags} onClose={close} />}
      {opened === 'passkey' && <AddPasskeyDialog onClose={close} />}
      {opened === 'api-key' && <AddApiKeyDialog userId={user.userId} onClose={close} />}
      {opened === 'delete' && (
        <ActDialog
          method="deleteUsers"
          parameters={{ userIds: [user.userId] }}
          title={
            <>
              Delete <bdi>{user.userName}</bdi>
            </>
          }
          description={`All credentials and sessions ${isMe ? 'of yours, this one too,' : 'of the user'} end at once. What ${isMe ? 'you' : 'the user'} did stays in the record.`}
          act="Delete user"
          acting="Deleting…"
          kind="danger"
          onDone={({ state }) => {
            if (state === 'completed') onClose();
          }}
          onClose={close}
        />
      )}
      {typeof opened === 'object' && <DeleteCredential credential={opened} onClose={close} />}
    </>
  );
}

interface CredentialRowProps {
  readonly credential: Credential;
  readonly isThisSession: boolean;
  readonly off: string | undefined;
  readonly onDelete: () => void;
}

function CredentialRow({ credential, isThisSession, off, onDelete }: CredentialRowProps) {
  const { kind, name, expiresAt, lastUsedAt, createdAt, publicKey } = credential;
  const nowMs = useNow();
  const end = expiresAt === undefined ? undefined : endInWords(expiresAt, nowMs);
  return (
    <li className={styles.row}>
      <span className={styles.grow}>
        <bdi>{name || KINDS[kind]}</bdi> {isThisSession && <Tag kind="accent">this session</Tag>}
        <span className={styles.meta}>
          {KINDS[kind]}
          {publicKey !== undefined && (
            <>
              {' · '}
              <Hash value={publicKey} what="public key" />
            </>
          )}
        </span>
      </span>
      <span>
        {lastUsedAt ? (
          <>
            used <Time time={lastUsedAt} inRow />
          </>
        ) : (
          'never used'
        )}
        <span className={cx(styles.meta, end?.isSoon && kind !== 'SESSION' && styles.soon)}>
          {end?.text ?? (
            <>
              since <Time time={createdAt} shape="day" inRow />
            </>
          )}
        </span>
      </span>
      <Button
        size="small"
        kind="danger"
        off={off}
        hideReason
        aria-label={`Delete ${name || KINDS[kind]}`}
        onClick={onDelete}
      >
        Delete
      </Button>
    </li>
  );
}

function DeleteCredential({ credential, onClose }: { readonly credential: Credential; readonly onClose: () => void }) {
  const { credentialId, userId, kind, name } = credential;
  const frame = {
    title: (
      <>
        Delete <bdi>{name || KINDS[kind]}</bdi>
      </>
    ),
    description: 'What it signs is refused from then on.',
    act: 'Delete credential',
    acting: 'Deleting…',
    kind: 'danger',
    width: 'small',
    onClose,
  } as const;
  switch (kind) {
    case 'PASSKEY':
      return (
        <ActDialog method="deleteAuthenticators" parameters={{ userId, authenticatorIds: [credentialId] }} {...frame} />
      );
    case 'OAUTH':
      return (
        <ActDialog method="deleteOauthProviders" parameters={{ userId, providerIds: [credentialId] }} {...frame} />
      );
    default:
      return <ActDialog method="deleteApiKeys" parameters={{ userId, apiKeyIds: [credentialId] }} {...frame} />;
  }
}

function RenameUser({ user, onClose }: { readonly user: UserSummary; readonly onClose: () => void }) {
  const [name, setName] = useState(user.userName);
  const field = useRef<HTMLInputElement>(null);
  const userName = name.trim();
  return (
    <ActDialog
      method="updateUserName"
      parameters={{ userId: user.userId, userName }}
      title="Rename the user"
      act="Rename"
      acting="Renaming…"
      width="small"
      initialFocus={field}
      off={(userName === '' || userName === user.userName) && 'Type another name.'}
      onClose={onClose}
    >
      {(outcome) => (
        <TextField
          ref={field}
          label="Name"
          value={name}
          onChange={setName}
          maxLength={255}
          error={fieldProblem(outcome, 'userName')}
        />
      )}
    </ActDialog>
  );
}

function EditTags({ user, tags, onClose }: UserDialogProps) {
  const [chosen, setChosen] = useState<readonly string[]>(user.tagIds);
  const isSame = chosen.length === user.tagIds.length && chosen.every((tagId) => user.tagIds.includes(tagId));
  return (
    <ActDialog
      method="updateUser"
      parameters={{ userId: user.userId, userTagIds: [...chosen] }}
      title={
        <>
          Tags of <bdi>{user.userName}</bdi>
        </>
      }
      description="Policies name people by tags: a tag more may let this user do more."
      act="Change tags"
      acting="Changing…"
      width="small"
      off={tags.length === 0 ? 'There are no tags yet.' : isSame && 'Nothing is changed yet.'}
      onClose={onClose}
    >
      <TagPicker tags={tags} chosen={chosen} onChange={setChosen} />
    </ActDialog>
  );
}
