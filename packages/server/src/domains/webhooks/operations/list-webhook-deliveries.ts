import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { WEBHOOK_DELIVERY_STATES } from '../model.ts';
import { DELIVERY_STATES, WebhookAttemptShape, WebhookDeliveryStateShape } from '../shapes.ts';
import { WebhookReader } from '../store/webhook-reader.ts';

const WebhookDeliveryShape = Type.Object({
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
});

export const listWebhookDeliveries = defineQuery({
  name: 'list_webhook_deliveries',
  summary: 'What was sent to the webhook endpoints of the organization, and what was answered; newest first.',
  ours: true,
  parameters: Type.Object({
    organizationId: IdShape,
    endpointId: Type.Optional(IdShape),
    eventId: Type.Optional(IdShape),
    state: Type.Optional(WebhookDeliveryStateShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ webhookDeliveries: Type.Array(WebhookDeliveryShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { endpointId, eventId, state, paginationOptions }) {
    const { organizationId } = actor;
    if (endpointId !== undefined) await read(WebhookReader).getEndpoint(organizationId, endpointId);
    const { items, pageInfo } = await read(WebhookReader).deliveries(
      organizationId,
      { endpointId, eventId, state: WEBHOOK_DELIVERY_STATES.find((known) => DELIVERY_STATES[known] === state) },
      toPageRequest(paginationOptions, config.listMax),
    );
    const webhookDeliveries = items.map((delivery) => ({
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
    }));
    return { webhookDeliveries, pageInfo };
  },
});
