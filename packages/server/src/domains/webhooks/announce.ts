import type { EventFacts, EventPlace, Events, Occurrence } from '../../core/events.ts';
import type { NewId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId } from '../../lib/ids.ts';
import type { Transaction } from '../../storage/store.ts';
import { passes } from './filters.ts';
import type { WebhookEndpoint, WebhookEventType } from './model.ts';
import { WebhookStore } from './store/webhooks.ts';

/** Only a parent is told of them, with its own id in the header (protocol/webhooks 1, protocol/webhooks 4.1). */
export const PARENT_ONLY: ReadonlySet<WebhookEventType> = new Set([
  'BALANCE_CONFIRMED_UPDATES',
  'BALANCE_FINALIZED_UPDATES',
  'SEND_TRANSACTION_STATUS_UPDATES',
]);

/** Writes events for every active endpoint that subscribes to them (protocol/webhooks 1). */
export class WebhookEvents implements Events {
  static readonly writes = true;
  readonly #webhooks: Pick<WebhookStore, 'listeners' | 'readAhead' | 'insertEvent'>;

  constructor(transaction: Transaction) {
    this.#webhooks = new WebhookStore(transaction);
  }

  async readAhead({ id, parentId }: EventPlace): Promise<void> {
    await this.#webhooks.readAhead(id, parentId);
  }

  async announce(
    occurrence: Occurrence,
    place: EventPlace,
    newId: NewId,
    nowMs: number,
  ): Promise<readonly WebhookEndpointId[]> {
    return await announce(this.#webhooks, occurrence, place, newId, nowMs);
  }
}

export async function announce(
  webhooks: Pick<WebhookStore, 'listeners' | 'insertEvent'>,
  occurrence: Occurrence,
  place: EventPlace,
  newId: NewId,
  nowMs: number,
): Promise<readonly WebhookEndpointId[]> {
  const listeners = await webhooks.listeners(place.id, place.parentId);
  if (listeners.length === 0) return [];
  const facts = { ...occurrence.facts, organizationIds: place.id };
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
      activityId: occurrence.activityId,
      aboutId: PARENT_ONLY.has(occurrence.type) ? recipientId : place.id,
      body: occurrence.bodyFor(recipientId),
      createdAtMs: nowMs,
    };
    const deliveries = endpoints.map(({ id, includesDescription }) => ({
      id: newId() as WebhookDeliveryId,
      endpointId: id,
      includesDescription: includesDescription && occurrence.type === 'ACTIVITY_UPDATES',
    }));
    inserted.push(webhooks.insertEvent(event, deliveries));
    told.push(...endpoints.map(({ id }) => id));
  }
  await Promise.all(inserted);
  return told;
}

/** Whether an endpoint subscribes to what happened. */
export const wants = ({ subscriptions }: WebhookEndpoint, type: WebhookEventType, facts: EventFacts): boolean =>
  subscriptions.some(
    ({ eventType, isActive, filtersJson }) => eventType === type && isActive && passes(filtersJson, facts),
  );
