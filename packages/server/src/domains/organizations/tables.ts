import { authority, defineTable, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    invitation: InvitationTable;
  }
}

export interface InvitationTable {
  organization_id: string;
  id: string;
  receiver_user_name: string;
  receiver_email: string;
  receiver_user_tags: string;
  access_type: string;
  status: string;
  sender_user_id: string;
  /** Null for what was made before there were links. */
  secret_hash: Uint8Array | null;
  expires_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('invitation', {
    integrity: authority('lets somebody in who has its link'),
    plainBytes: ['secret_hash'],
    erased: { by: 'id' },
  }),
];
