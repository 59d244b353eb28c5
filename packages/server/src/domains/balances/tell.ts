import { createHash } from 'node:crypto';
import type { Change, WatchedBlock } from '../../chains/balances/reader.ts';
import type { NewId, WebhookEndpointId, WebhookEventId } from '../../lib/ids.ts';
import type { Stores } from '../../storage/stores.ts';
import type { BalancePayload } from '../webhooks/payloads.ts';
import { announceBalances } from './announce.ts';
import type { BalanceCursor, Holder } from './model.ts';

/** News of one change for one organization, as they are kept until their block stays. */
export interface News {
  readonly place: { readonly id: Holder['organizationId']; readonly parentId?: Holder['organizationId'] };
  readonly msg: BalancePayload['msg'];
}

/** What a block changed, for each organization that has the address. */
export function newsOf(
  cursor: BalanceCursor,
  { number, hash, timestamp }: Omit<WatchedBlock, 'changes'>,
  changes: readonly Change[],
  holders: ReadonlyMap<string, readonly Holder[]>,
): News[] {
  return changes.flatMap(({ key, txHash, asset, amount }) => {
    const { symbol, name, decimals, caip19 } = asset;
    const isDeposit = amount > 0n;
    return (holders.get(key) ?? []).map(({ address, organizationId, parentId }) => ({
      place: { id: organizationId, ...(parentId !== undefined && { parentId }) },
      msg: {
        operation: isDeposit ? ('deposit' as const) : ('withdraw' as const),
        caip2: cursor.caip2,
        txHash,
        address,
        // The same for the same news, whoever writes them and however often; another one when a block comes back.
        idempotencyKey: digest(cursor, [hash, txHash, key, caip19, organizationId]),
        asset: { symbol, name, decimals, caip19, amount: String(isDeposit ? amount : -amount) },
        block: { number: Number(number), hash, timestamp: new Date(timestamp * 1000).toISOString() },
      },
    }));
  });
}

/** The opposite of news whose block the chain has undone: who adds up what was told has the right sum again. */
export const undoing = ({ place, msg }: News): News => ({
  place,
  msg: {
    ...msg,
    operation: msg.operation === 'deposit' ? 'withdraw' : 'deposit',
    idempotencyKey: `${msg.idempotencyKey}:undone`,
  },
});

/** Makes news part of the transaction; answers with those that somebody wanted, and whom to wake. */
export async function tell(
  store: Stores,
  { level }: BalanceCursor,
  news: readonly News[],
  newId: NewId,
  nowMs: number,
): Promise<{ readonly told: readonly News[]; readonly endpoints: readonly WebhookEndpointId[] }> {
  const all = news.map((one) => {
    const { place, msg } = one;
    const rootId = place.parentId ?? place.id;
    const type = `balances:${level}` as const;
    const payload = { type, organizationId: place.id, parentOrganizationId: rootId, msg };
    return { one, eventId: eventIdOf(msg.idempotencyKey), rootId, payload };
  });
  const { told, endpoints } = await announceBalances(store, level, all, newId, nowMs);
  return { told: all.filter(({ eventId }) => told.has(eventId)).map(({ one }) => one), endpoints };
}

const digest = ({ level, caip2, turn }: BalanceCursor, parts: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([level, caip2, turn, ...parts]))
    .digest('hex')
    .slice(0, 32);

/** An id made of the key: version 8 is for those that are made in a way of one's own. */
function eventIdOf(key: string): WebhookEventId {
  const hex = createHash('sha256').update(key).digest('hex');
  const variant = (Number.parseInt(hex.charAt(16), 16) % 4) + 8;
  const groups = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  return [...groups, `${variant.toString(16)}${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-') as WebhookEventId;
}
