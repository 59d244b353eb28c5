import type { BalanceLevel } from '../../chains/balances/level.ts';
import { groupBy } from '../../lib/collections.ts';
import type { NewId, OrganizationId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId } from '../../lib/ids.ts';
import type { Stores } from '../../storage/stores.ts';
import { wants } from '../webhooks/announce.ts';
import type { BalancePayload } from '../webhooks/payloads.ts';
import { WebhookStore } from '../webhooks/store/webhooks.ts';
import { BALANCE_EVENT_TYPES } from './model.ts';

interface BalanceNews {
  readonly eventId: WebhookEventId;
  /** The organization, or its parent if it has one. */
  readonly rootId: OrganizationId;
  readonly payload: BalancePayload;
}

/**
 * Makes changes of balances part of the transaction, in a number of statements that hardly depends on theirs. Answers
 * with the ids of those that somebody wants, and with the endpoints, for the dispatcher to be woken after the commit.
 */
export async function announceBalances(
  store: Stores,
  level: BalanceLevel,
  news: readonly BalanceNews[],
  newId: NewId,
  nowMs: number,
): Promise<{ readonly told: ReadonlySet<WebhookEventId>; readonly endpoints: readonly WebhookEndpointId[] }> {
  const type = BALANCE_EVENT_TYPES[level];
  const told = new Set<WebhookEventId>();
  const woken = new Set<WebhookEndpointId>();
  for (const [rootId, ofRoot] of groupBy(news, (one) => one.rootId)) {
    const listeners = await store(WebhookStore).listeners(rootId, undefined);
    const events = ofRoot.flatMap(({ eventId, payload }) => {
      const { address, caip2 } = payload.msg;
      const facts = { addresses: address, caip2, organizationIds: payload.organizationId };
      const wanting = listeners.filter((endpoint) => wants(endpoint, type, facts));
      if (wanting.length === 0) return [];
      told.add(eventId);
      for (const { id } of wanting) woken.add(id);
      const deliveries = wanting.map(({ id }) => ({ id: newId() as WebhookDeliveryId, endpointId: id }));
      const body = JSON.stringify(payload);
      return [{ organizationId: rootId, id: eventId, type, aboutId: rootId, body, createdAtMs: nowMs, deliveries }];
    });
    await store(WebhookStore).insertEvents(events);
  }
  return { told, endpoints: [...woken] };
}
