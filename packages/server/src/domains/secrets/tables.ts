import { authority, defineTable, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    secret: SecretTable;
  }
}

export interface SecretTable {
  organization_id: string;
  id: string;
  name: string | null;
  sealed_secret: Uint8Array;
  static_properties: string;
  created_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('secret', {
    integrity: authority('is what policies read of a secret'),
    unique: {
      ux_secret_name: { columns: ['organization_id', 'name'], message: 'a secret with this name already exists' },
    },
    sealed: [{ column: 'sealed_secret', kind: 'secret' }],
    erased: { by: 'id' },
  }),
];
