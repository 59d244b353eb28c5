import { authority, defineTable, none, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    on_ramp_credential: OnRampCredentialTable;
    on_ramp_transaction: OnRampTransactionTable;
  }
}

export interface OnRampCredentialTable {
  organization_id: string;
  id: string;
  provider: string;
  project_id: string | null;
  publishable_api_key: string;
  /** As they were submitted, which is what queries show. */
  encrypted_secret_api_key: string;
  encrypted_private_api_key: string | null;
  sealed_secret_key: Uint8Array;
  sealed_private_key: Uint8Array | null;
  is_sandbox: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface OnRampTransactionTable {
  organization_id: string;
  id: string;
  credential_id: string;
  provider: string;
  is_sandbox: number;
  status: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('on_ramp_credential', {
    integrity: authority('says in whose name purchases are signed, and whether they are real'),
    sealed: [
      { column: 'sealed_secret_key', kind: 'on-ramp-secret' },
      { column: 'sealed_private_key', kind: 'on-ramp-secret' },
    ],
    erased: { by: 'id' },
  }),
  defineTable('on_ramp_transaction', {
    integrity: none('tells what became of a purchase, which happens elsewhere'),
    erased: { by: 'id' },
  }),
];
