import type { BalanceLevel } from '../../chains/balances/level.ts';
import type { OrganizationId } from '../../lib/ids.ts';
/** What endpoints subscribe to, to hear of a level. */
export const BALANCE_EVENT_TYPES = {
  confirmed: 'BALANCE_CONFIRMED_UPDATES',
  finalized: 'BALANCE_FINALIZED_UPDATES',
} as const;

/** What is watched on its own. */
export interface BalancePlace {
  readonly caip2: string;
  readonly level: BalanceLevel;
}

/** The last block that was told of. */
export interface BalanceCursor extends BalancePlace {
  readonly number: number;
  readonly hash: string;
  /** How many blocks the chain has undone since the watch began: news of a block that comes back are others. */
  readonly turn: number;
  readonly owner: string;
  readonly claimedUntilMs: number;
}

/** An organization with a wallet account of an address. */
export interface Holder {
  /** The spelling that addresses are compared by. */
  readonly key: string;
  readonly address: string;
  readonly organizationId: OrganizationId;
  readonly parentId: OrganizationId | undefined;
}
