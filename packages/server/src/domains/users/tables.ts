import { authority, defineTable, none, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    app_user: UserTable;
    api_key: ApiKeyTable;
    authenticator: AuthenticatorTable;
    read_session: ReadSessionTable;
    tag: TagTable;
    user_tag: UserTagTable;
    mfa_policy: MfaPolicyTable;
    mfa_requirement: MfaRequirementTable;
    oauth_provider: OauthProviderTable;
    last_use: LastUseTable;
  }
}

export interface UserTable {
  organization_id: string;
  id: string;
  name: string;
  email: string | null;
  /** Lower-case form that uniqueness and look-ups compare. */
  email_key: string | null;
  email_verified: number;
  phone: string | null;
  phone_verified: number;
  /** Raised by every change to the user, its credentials or its tags. */
  revision: number;
  /** Of the marks of its credentials, tags and MFA policies; null where some have none yet (docs/decisions/0060). */
  owned_digest: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface ApiKeyTable {
  organization_id: string;
  id: string;
  user_id: string;
  name: string;
  type: string;
  public_key: string;
  session_profile_id: string | null;
  expiration_seconds: number | null;
  expires_at_ms: number | null;
  /** Null until the key has stamped a request (protocol/stamps 7.2). */
  first_used_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface AuthenticatorTable {
  organization_id: string;
  id: string;
  user_id: string;
  name: string;
  credential_id: string;
  public_key: Uint8Array;
  rp_id_hash: Uint8Array;
  aaguid: string;
  attestation_type: string;
  transports: string;
  sign_count: number;
  first_used_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface ReadSessionTable {
  organization_id: string;
  token_hash: string;
  user_id: string;
  expires_at_ms: number;
}

export interface TagTable {
  organization_id: string;
  id: string;
  type: string;
  name: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface UserTagTable {
  organization_id: string;
  user_id: string;
  tag_id: string;
}

export interface MfaPolicyTable {
  organization_id: string;
  id: string;
  user_id: string;
  name: string;
  condition: string;
  /** JSON: for each step the methods of which any one suffices. */
  steps: string;
  position: number;
  notes: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** The MFA policy that a user has to meet for an activity, frozen when it began to apply. */
export interface MfaRequirementTable {
  organization_id: string;
  activity_id: string;
  user_id: string;
  mfa_policy_id: string;
  steps: string;
  /** JSON: the proofs credited so far, one per step. */
  proofs: string;
  satisfied_at_ms: number | null;
  created_at_ms: number;
}

export interface OauthProviderTable {
  organization_id: string;
  id: string;
  user_id: string;
  name: string;
  issuer: string;
  audience: string;
  subject: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** When a credential, or a user by any credential, stamped last. Written behind the requests, up to a minute later. */
export interface LastUseTable {
  organization_id: string;
  /** Of an API key, a passkey, an OAuth provider or a user. */
  id: string;
  used_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('app_user', {
    integrity: authority('says whose contacts log in, and is what policies read of a user'),
    owns: { digests: 'owned_digest', isByTable: false, key: ['organization_id', 'user_id'], changesOften: true },
    unique: {
      ux_user_email: { columns: ['organization_id', 'email_key'], message: 'a user with this email already exists' },
      ux_user_phone: { columns: ['organization_id', 'phone'], message: 'a user with this phone number already exists' },
    },
    revises: ['id'],
    isOf: 'users',
    erased: { by: 'id' },
  }),
  defineTable('api_key', {
    integrity: authority('says whose stamps are believed'),
    set: { under: 'app_user', by: ['id'] },
    unique: {
      ux_api_key_public_key: {
        columns: ['organization_id', 'public_key'],
        message: 'an API key with this public key already exists',
      },
      ux_api_key_name: {
        columns: ['organization_id', 'user_id', 'name'],
        message: 'this user already has an API key with this name: it already exists',
      },
    },
    revises: ['id', 'public_key', 'user_id'],
    isOf: 'users',
    erased: { by: 'id' },
  }),
  defineTable('authenticator', {
    integrity: authority('says whose passkeys are believed'),
    set: { under: 'app_user', by: ['id'] },
    unique: {
      ux_authenticator_credential: {
        columns: ['organization_id', 'credential_id'],
        message: 'an authenticator with this credential id already exists',
      },
      ux_authenticator_name: {
        columns: ['organization_id', 'user_id', 'name'],
        message: 'this user already has an authenticator with this name: it already exists',
      },
    },
    plainBytes: ['public_key', 'rp_id_hash'],
    isOf: 'users',
    erased: { by: 'id' },
  }),
  defineTable('read_session', {
    integrity: authority('lets whoever has its token read'),
    erased: { by: 'token_hash' },
  }),
  defineTable('tag', {
    integrity: authority('is what policies read of users and private keys'),
    unique: {
      ux_tag_name: { columns: ['organization_id', 'type', 'name'], message: 'a tag with this name already exists' },
    },
    erased: { by: 'id' },
  }),
  defineTable('user_tag', {
    integrity: authority('is what policies read of a user'),
    set: { under: 'app_user', by: ['tag_id'] },
    isOf: 'users',
    erased: { by: 'user_id' },
  }),
  defineTable('mfa_policy', {
    integrity: authority('says what a user has to prove'),
    set: { under: 'app_user', by: ['id'] },
    isOf: 'users',
    erased: { by: 'id' },
  }),
  defineTable('mfa_requirement', {
    integrity: authority('says what a user has proven for an activity'),
    erased: 'never',
  }),
  defineTable('oauth_provider', {
    integrity: authority('says which identity logs in a user'),
    set: { under: 'app_user', by: ['id'] },
    unique: {
      ux_oauth_provider: {
        columns: ['organization_id', 'issuer', 'subject', 'audience'],
        message: 'an OAuth provider with this issuer, subject and audience already exists',
        code: 'OAUTH_PROVIDER_ALREADY_EXISTS',
      },
    },
    isOf: 'users',
    erased: { by: 'id' },
  }),
  defineTable('last_use', {
    integrity: none('tells when something was used last'),
    erased: { by: 'id' },
  }),
];
