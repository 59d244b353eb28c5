import { defineTable, none, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    payment: PaymentTable;
  }
}

/** Somebody whom a signature of the organization pays; one row for each activity, recipient and chain. */
export interface PaymentTable {
  organization_id: string;
  /** What people compare of an address: its first and last characters. */
  looks: string;
  /** In the one spelling that look-ups compare. */
  recipient: string;
  /** In CAIP-2, or the family alone. */
  chain: string;
  activity_id: string;
  created_at_ms: number;
}

export const tables: readonly Table[] = [
  defineTable('payment', {
    integrity: none('warns of addresses that look alike; nothing is decided by it'),
    key: ['organization_id', 'looks', 'recipient', 'chain', 'activity_id'],
    erased: { by: 'activity_id' },
  }),
];
