import Type from 'typebox';
import { toRfc3339 } from '../../lib/clock.ts';
import type { WebhookDelivery } from './model.ts';
import { DELIVERY_STATES, WebhookAttemptShape, WebhookDeliveryStateShape } from './shapes.ts';

/** What every answer about a delivery has. */
export const DELIVERY_FIELDS = {
  deliveryId: Type.String(),
  endpointId: Type.String(),
  eventId: Type.String(),
  eventType: Type.String(),
  /** The organization that the event is about. */
  organizationId: Type.String(),
  state: WebhookDeliveryStateShape,
  /** The last ones, oldest first. */
  attempts: Type.Array(WebhookAttemptShape),
  /** Of a pending delivery that has failed before. */
  nextAttemptAt: Type.Optional(Type.String()),
  createdAt: Type.String(),
  updatedAt: Type.String(),
};

export const renderDelivery = (delivery: WebhookDelivery) => ({
  deliveryId: delivery.id,
  endpointId: delivery.endpointId,
  eventId: delivery.eventId,
  eventType: delivery.eventType,
  organizationId: delivery.aboutId,
  state: DELIVERY_STATES[delivery.state],
  attempts: delivery.attempts.map(({ atMs, ...attempt }) => ({ attemptedAt: toRfc3339(atMs), ...attempt })),
  ...(delivery.state === 'pending' &&
    delivery.nextAttemptAtMs > 0 && { nextAttemptAt: toRfc3339(delivery.nextAttemptAtMs) }),
  createdAt: toRfc3339(delivery.createdAtMs),
  updatedAt: toRfc3339(delivery.updatedAtMs),
});
