import type { Approval, Member, OrganizationFacts, PolicyCredential } from '@custos/server/policy';
import { type Cursor, required } from './cursor.ts';

const CREDENTIAL_TYPES = [
  'CREDENTIAL_TYPE_API_KEY_P256',
  'CREDENTIAL_TYPE_API_KEY_SECP256K1',
  'CREDENTIAL_TYPE_API_KEY_ED25519',
  'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR',
  'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256',
  'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256',
  'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256',
  'CREDENTIAL_TYPE_OAUTH_KEY_P256',
  'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
  'CREDENTIAL_TYPE_LOGIN',
] as const;

export interface TestOrganization {
  readonly facts: OrganizationFacts;
  /** By the name that cases call them. */
  readonly users: ReadonlyMap<string, Member>;
}

export function readOrganization(cursor: Cursor): TestOrganization {
  const members = cursor.members('"organization"', ['root', 'users']);
  const users = readUsers(required(cursor, members, 'users'));
  return { users, facts: readRoot(required(cursor, members, 'root'), users) };
}

function readUsers(cursor: Cursor): ReadonlyMap<string, Member> {
  const users = new Map<string, Member>();
  const ids = new Set<string>();
  const credentialIds = new Set<string>();
  for (const [name, item] of cursor.entries('"users"')) {
    const user = readUser(name, item.within(`user '${name}'`));
    if (ids.has(user.id)) item.fail(`another user has the id ${user.id}`);
    ids.add(user.id);
    for (const { id } of user.credentials) {
      if (credentialIds.has(id)) item.fail(`another credential has the id ${id}`);
      credentialIds.add(id);
    }
    users.set(name, user);
  }
  return users;
}

function readUser(name: string, cursor: Cursor): Member {
  const members = cursor.members('a user', ['id', 'tags', 'email', 'alias', 'credentials']);
  const id = members.id?.text('"id"') ?? name;
  const listed = members.credentials?.items('"credentials"').map((item) => readCredential(id, item));
  if (listed?.length === 0) cursor.fail('whoever can do something has a credential', ['credentials']);
  return {
    id,
    tags: (members.tags?.items('"tags"') ?? []).map((tag) => tag.text('a tag')),
    email: members.email?.text('"email"') ?? '',
    alias: members.alias?.text('"alias"') ?? name,
    credentials: listed ?? [
      { id: `${id}-api-key`, user_id: id, type: 'CREDENTIAL_TYPE_API_KEY_P256', credential_id: '', public_key: '' },
    ],
  };
}

function readCredential(userId: string, cursor: Cursor): PolicyCredential {
  const members = cursor.members('a credential', ['id', 'type', 'credentialId', 'publicKey']);
  return {
    id: required(cursor, members, 'id').text('"id"'),
    user_id: userId,
    type: required(cursor, members, 'type').oneOf('"type"', CREDENTIAL_TYPES),
    credential_id: members.credentialId?.text('"credentialId"') ?? '',
    public_key: members.publicKey?.text('"publicKey"') ?? '',
  };
}

function readRoot(cursor: Cursor, users: ReadonlyMap<string, Member>): OrganizationFacts {
  const members = cursor.members('"root"', ['threshold', 'users']);
  const rootUserIds = required(cursor, members, 'users')
    .items('"users"')
    .map((item) => findUser(item, users).id);
  const threshold = required(cursor, members, 'threshold');
  const rootThreshold = threshold.value;
  if (!Number.isSafeInteger(rootThreshold) || (rootThreshold as number) < 1) {
    threshold.fail('"threshold" is a number of approvals, at least 1');
  }
  if (new Set(rootUserIds).size < (rootThreshold as number)) {
    threshold.fail(`"threshold" asks for ${rootThreshold} of ${rootUserIds.length} root users`);
  }
  return { id: 'organization', rootThreshold: rootThreshold as number, rootUserIds };
}

export function findUser(cursor: Cursor, users: ReadonlyMap<string, Member>): Member {
  const name = cursor.text('a user');
  return users.get(name) ?? cursor.fail(`there is no user ${JSON.stringify(name)} in "organization"`);
}

/** Who submits or approves: the name of a user, or with which of its credentials. */
export function readApproval(cursor: Cursor, users: ReadonlyMap<string, Member>): Approval {
  const isName = typeof cursor.value === 'string';
  const members: Partial<Record<'user' | 'credential', Cursor>> = isName
    ? { user: cursor }
    : cursor.members('a user', ['user', 'credential']);
  const user = findUser(required(cursor, members, 'user'), users);
  const id = members.credential?.text('"credential"');
  const credential = id === undefined ? user.credentials[0] : user.credentials.find((own) => own.id === id);
  if (credential === undefined) return cursor.fail(`the user has no credential ${JSON.stringify(id)}`, ['credential']);
  return { userId: user.id, credential };
}
