import { authority, defineTable, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    auth_proxy_config: SignUpProxyConfigTable;
  }
}

export interface SignUpProxyConfigTable {
  organization_id: string;
  id: string;
  /** The user that the proxy acts as, and the key that it stamps with; null until the service has made them. */
  user_id: string | null;
  public_key: string | null;
  sealed_key: Uint8Array | null;
  enabled: number;
  /** JSON. */
  settings: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('auth_proxy_config', {
    integrity: authority('says as which user the sign-up proxy acts, and what it may do'),
    set: { under: 'organization', by: ['id'] },
    unique: {
      ux_auth_proxy_config: { columns: ['id'], message: 'a sign-up proxy configuration with this id already exists' },
    },
    sealed: [{ column: 'sealed_key', kind: 'private-key' }],
    erased: { by: 'id' },
  }),
];
