import { authority, defineTable, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    recovery_kit: RecoveryKitTable;
    recovery_kit_piece: RecoveryKitPieceTable;
  }
}

export interface RecoveryKitTable {
  organization_id: string;
  id: string;
  /** The activity that made it. */
  activity_id: string;
  /** JSON array. */
  recipients: string;
  /** Of the file. */
  sha256: string;
  size_bytes: number;
  piece_count: number;
  wallet_count: number;
  private_key_count: number;
  created_at_ms: number;
}

/** A part of the file, which is encrypted to the recipients. */
export interface RecoveryKitPieceTable {
  organization_id: string;
  kit_id: string;
  position: number;
  content: Uint8Array;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('recovery_kit', {
    integrity: authority('says which file holds the keys of an organization'),
    erased: { by: 'id' },
  }),
  defineTable('recovery_kit_piece', {
    key: ['organization_id', 'kit_id', 'position'],
    integrity: authority('is what people restore their wallets from'),
    plainBytes: ['content'],
    isLarge: true,
    erased: { by: 'kit_id' },
  }),
];
