import { sql } from 'kysely';
import { MINUTE_MS } from '../../lib/clock.ts';
import { authority, defineTable, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    balance_cursor: BalanceCursorTable;
    balance_block: BalanceBlockTable;
  }
}

/** How far a chain is watched. */
export interface BalanceCursorTable {
  caip2: string;
  level: string;
  number: number;
  hash: string;
  /** Raised with every block that the chain has undone. */
  turn: number;
  owner: string;
  claimed_until_ms: number;
}

/** A block that was told of and may still be undone. */
export interface BalanceBlockTable {
  caip2: string;
  level: string;
  number: number;
  hash: string;
  /** JSON. */
  told: string;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('balance_cursor', {
    integrity: authority('says which blocks are told of, and receivers credit what they are told', {
      owner: 'a lease: another process looks at the chain, and tells of the same',
      claimed_until_ms: 'a lease',
    }),
    waits: [{ column: 'claimed_until_ms', longestMs: MINUTE_MS, where: sql`owner <> ''` }],
    erased: 'never',
  }),
  defineTable('balance_block', {
    integrity: authority('holds what is told when a chain undoes a block, and receivers credit what they are told'),
    erased: 'never',
  }),
];
