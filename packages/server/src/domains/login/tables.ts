import { authority, defineTable, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    session_profile: SessionProfileTable;
    otp: OtpTable;
    oauth2_credential: Oauth2CredentialTable;
  }
}

export interface SessionProfileTable {
  organization_id: string;
  id: string;
  name: string;
  scope: string;
  expiration_seconds: number | null;
  notes: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** A one-time code; of it only a keyed hash is kept, sealed together with the key that attempts are encrypted to. */
export interface OtpTable {
  organization_id: string;
  id: string;
  type: string;
  contact: string;
  /** The contact in the one spelling that limits and look-ups compare. */
  contact_key: string;
  /** The user that the code was made for; null where it proves a contact only. */
  user_id: string | null;
  /** 1 where attempts come encrypted, 0 where they come as text. */
  is_encrypted: number;
  sealed_otp: Uint8Array;
  attempts_left: number;
  expires_at_ms: number;
  created_at_ms: number;
}

export interface Oauth2CredentialTable {
  organization_id: string;
  id: string;
  provider: string;
  client_id: string;
  /** As it was submitted, which is what queries show. */
  encrypted_client_secret: string;
  sealed_secret: Uint8Array;
  created_at_ms: number;
  updated_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('session_profile', {
    integrity: authority('narrows what a session may do'),
    unique: {
      ux_session_profile_name: {
        columns: ['organization_id', 'name'],
        message: 'a session profile with this name already exists',
      },
    },
    erased: { by: 'id' },
  }),
  defineTable('otp', {
    integrity: authority('says whom a code logs in, and how many attempts are left'),
    sealed: [{ column: 'sealed_otp', kind: 'otp' }],
    erased: { by: 'id' },
  }),
  defineTable('oauth2_credential', {
    integrity: authority('says as which client the service exchanges codes'),
    unique: {
      ux_oauth2_credential: {
        columns: ['organization_id', 'provider', 'client_id'],
        message: 'an OAuth 2.0 credential for this provider and client id already exists',
      },
    },
    sealed: [{ column: 'sealed_secret', kind: 'oauth-secret' }],
    erased: { by: 'id' },
  }),
];
