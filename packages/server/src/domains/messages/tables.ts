import { HOUR_MS, MINUTE_MS } from '../../lib/clock.ts';
import { authority, defineTable, none, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    outbox_message: OutboxMessageTable;
    email_event: EmailEventTable;
    dev_message: DevMessageTable;
  }
}

/** A mail or text message that waits to be sent. */
export interface OutboxMessageTable {
  organization_id: string;
  id: string;
  channel: string;
  /** Recipient, sender and content. */
  sealed_message: Uint8Array;
  /** Null where it stays useful. */
  not_after_ms: number | null;
  /** How often handing it over has failed. */
  attempts: number;
  next_attempt_at_ms: number;
  /** Until when one process has it; 0 for nobody. */
  claimed_until_ms: number;
  created_at_ms: number;
}

export interface EmailEventTable {
  organization_id: string;
  id: string;
  /** The Message-ID of the mail, without its brackets. */
  message_id: string;
  event_type: string;
  from_address: string;
  to_address: string;
  /** Lower-case form that look-ups compare. */
  address_key: string;
  /** JSON. */
  details: string;
  created_at_ms: number;
}

/** The development inbox: what would have been sent. */
export interface DevMessageTable {
  organization_id: string;
  id: string;
  sealed_message: Uint8Array;
  created_at_ms: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('outbox_message', {
    integrity: authority('is sent in the name of the organization, with codes and links in it', {
      claimed_until_ms: 'a lease: a message is handed over later, or once more, and is still the same',
    }),
    sealed: [{ column: 'sealed_message', kind: 'outbox-message' }],
    waits: [
      { column: 'claimed_until_ms', longestMs: 2 * MINUTE_MS },
      { column: 'next_attempt_at_ms', longestMs: 2 * HOUR_MS },
    ],
    erased: { by: 'id' },
  }),
  defineTable('email_event', {
    integrity: none('tells what became of a mail'),
    erased: { by: 'id' },
  }),
  defineTable('dev_message', {
    integrity: none('is shown to developers in place of being sent'),
    sealed: [{ column: 'sealed_message', kind: 'dev-message' }],
    erased: { by: 'id' },
  }),
];
