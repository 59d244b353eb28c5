import { sql } from 'kysely';
import { MINUTE_MS } from '../../lib/clock.ts';
import { authority, defineTable, none, type Table } from '../../storage/table.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    chain_send: ChainSendTable;
    chain_lane: ChainLaneTable;
    chain_operator_key: ChainOperatorKeyTable;
    gas_usage_config: GasUsageConfigTable;
    sponsored_cost: SponsoredCostTable;
  }
}

/** A transaction that is sent to a chain. */
export interface ChainSendTable {
  organization_id: string;
  id: string;
  activity_id: string;
  caip2: string;
  sender: string;
  lane: string;
  purpose: string;
  /** JSON. */
  request: string;
  after_id: string | null;
  state: string;
  nonce: number | null;
  /** JSON. */
  attempts: string;
  tx_hash: string | null;
  block_number: number | null;
  /** JSON. */
  block: string | null;
  /** JSON. */
  error: string | null;
  is_open: number;
  created_at_ms: number;
  updated_at_ms: number;
}

/** Which process works on the sends of one paying address. */
export interface ChainLaneTable {
  caip2: string;
  lane: string;
  is_active: number;
  /** Raised with every send that comes in. */
  version: number;
  owner: string;
  /** Raised with every claim. */
  epoch: number;
  claimed_until_ms: number;
}

export interface ChainOperatorKeyTable {
  caip2: string;
  address: string;
  public_key: string;
  sealed_key: Uint8Array;
  created_at_ms: number;
}

export interface GasUsageConfigTable {
  organization_id: string;
  id: string;
  tree_limit_usd: string;
  sub_organization_limit_usd: string;
  window_minutes: number;
  is_enabled: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface SponsoredCostTable {
  /** A sub-organization, or a parent for its whole tree. */
  organization_id: string;
  caip2: string;
  /** Since 1970, in which sends were first signed. */
  minute: number;
  /** In billionths of the native asset. */
  native_cost: number;
  /** In millionths of a US dollar. */
  usd_micros: number;
  /** The part of `native_cost` that sub-organizations asked for; in a parent's row only. */
  sub_organizations_cost: number;
}

/**
 * What stays for a while: the operator's transactions that may still land, or be undone. Without them nobody would hand
 * over or replace what everybody else's sends in that lane wait for. They go when they are settled.
 */
const NOT_YET_ERASED = sql`is_open = 1 AND attempts <> '[]'
  AND (purpose = 'earn-deploy' OR (purpose <> 'raw' AND lane <> sender))`;

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('chain_send', {
    integrity: authority('is signed and sent as it stands'),
    followed: { kind: 'SEND', fields: { sendTransactionStatusId: 'id', activityId: 'activity_id', state: 'state' } },
    erased: { by: 'id', except: NOT_YET_ERASED, holding: sql`is_open = 1` },
  }),
  defineTable('chain_lane', {
    integrity: authority('says which process may send for an address, so that nothing is sent twice'),
    waits: [{ column: 'claimed_until_ms', longestMs: MINUTE_MS, where: sql`is_active = 1` }],
    erased: 'never',
  }),
  defineTable('chain_operator_key', {
    integrity: authority('says which key pays for sponsored transactions'),
    key: ['caip2', 'address'],
    sealed: [{ column: 'sealed_key', kind: 'private-key', owner: 'caip2', organizationId: 'deployment' }],
    erased: 'never',
  }),
  defineTable('gas_usage_config', {
    integrity: authority('limits what sponsors pay'),
    set: { under: 'organization', by: ['id'] },
    erased: { by: 'id' },
  }),
  defineTable('sponsored_cost', {
    integrity: none(
      'counts fees that were paid; without its rows, which a mark would not keep, more is paid for sends that are genuine',
    ),
    erased: { by: 'minute' },
  }),
];
