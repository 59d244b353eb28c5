import type { NewId, OrganizationId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId } from '../../lib/ids.ts';
import type { Stores } from '../../storage/stores.ts';
import { type FilterFacts, passes } from './filters.ts';
import type { WebhookEndpoint, WebhookEventType } from './model.ts';
import type { SendStatusPayload } from './payloads.ts';
import { WebhookStore } from './store/webhooks.ts';

/** Something that endpoints may want to know. */
export type Occurrence =
  | {
      readonly type: 'ACTIVITY_UPDATES';
      readonly facts: FilterFacts;
      /** The activity as an organization may see it. */
      readonly bodyFor: (recipientId: OrganizationId) => string;
    }
  | { readonly type: 'SEND_TRANSACTION_STATUS_UPDATES'; readonly payload: SendStatusPayload };

/** Where it happened. */
export interface Place {
  readonly id: OrganizationId;
  readonly parentId: OrganizationId | undefined;
}

/** Only a parent is told of them, with its own id in the header (protocol/webhooks 1, protocol/webhooks 4.1). */
export const PARENT_ONLY: ReadonlySet<WebhookEventType> = new Set([
  'BALANCE_CONFIRMED_UPDATES',
  'BALANCE_FINALIZED_UPDATES',
  'SEND_TRANSACTION_STATUS_UPDATES',
]);

/**
 * Makes an event part of the transaction, for every active endpoint that subscribes to it; nothing is written where
 * none does (protocol/webhooks 1). Answers with the endpoints, for the dispatcher to be woken after the commit.
 */
export async function announce(
  store: Stores,
  occurrence: Occurrence,
  place: Place,
  newId: NewId,
  nowMs: number,
): Promise<readonly WebhookEndpointId[]> {
  const listeners = await store(WebhookStore).listeners(place.id, place.parentId);
  if (listeners.length === 0) return [];
  const facts = factsOf(occurrence, place);
  const eventId: WebhookEventId = newId();
  const told: WebhookEndpointId[] = [];
  const inserted: Promise<void>[] = [];
  for (const recipientId of [place.id, place.parentId]) {
    if (recipientId === undefined) continue;
    if (PARENT_ONLY.has(occurrence.type) && recipientId !== (place.parentId ?? place.id)) continue;
    const endpoints = listeners.filter(
      (endpoint) => endpoint.organizationId === recipientId && wants(endpoint, occurrence.type, facts),
    );
    if (endpoints.length === 0) continue;
    const event = {
      organizationId: recipientId,
      id: eventId,
      type: occurrence.type,
      aboutId: PARENT_ONLY.has(occurrence.type) ? recipientId : place.id,
      body:
        occurrence.type === 'ACTIVITY_UPDATES' ? occurrence.bodyFor(recipientId) : JSON.stringify(occurrence.payload),
      createdAtMs: nowMs,
    };
    const deliveries = endpoints.map(({ id }) => ({ id: newId() as WebhookDeliveryId, endpointId: id }));
    inserted.push(store(WebhookStore).insertEvent(event, deliveries));
    told.push(...endpoints.map(({ id }) => id));
  }
  await Promise.all(inserted);
  return told;
}

/** Whether an endpoint subscribes to what happened. */
export const wants = ({ subscriptions }: WebhookEndpoint, type: WebhookEventType, facts: FilterFacts): boolean =>
  subscriptions.some(
    ({ eventType, isActive, filtersJson }) => eventType === type && isActive && passes(filtersJson, facts),
  );

function factsOf(occurrence: Occurrence, { id }: Place): FilterFacts {
  switch (occurrence.type) {
    case 'ACTIVITY_UPDATES':
      return { ...occurrence.facts, organizationIds: id };
    case 'SEND_TRANSACTION_STATUS_UPDATES': {
      const { status, caip2 } = occurrence.payload.msg;
      return { statuses: status, caip2, organizationIds: id };
    }
  }
}
