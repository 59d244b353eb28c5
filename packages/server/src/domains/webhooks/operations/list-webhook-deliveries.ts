import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { WEBHOOK_DELIVERY_STATES } from '../model.ts';
import { DELIVERY_FIELDS, renderDelivery } from '../render-delivery.ts';
import { DELIVERY_STATES, WebhookDeliveryStateShape } from '../shapes.ts';
import { WebhookReader } from '../store/webhook-reader.ts';

export const listWebhookDeliveries = defineQuery({
  name: 'list_webhook_deliveries',
  summary: 'What was sent to the webhook endpoints of the organization, and what was answered; newest first.',
  ours: true,
  parameters: Type.Object({
    organizationId: IdShape,
    endpointId: Type.Optional(IdShape),
    eventId: Type.Optional(IdShape),
    /** Those of events that come of this activity, its sends included. */
    filterByActivityId: Type.Optional(IdShape),
    state: Type.Optional(WebhookDeliveryStateShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ webhookDeliveries: Type.Array(Type.Object(DELIVERY_FIELDS)), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { endpointId, eventId, filterByActivityId, state, paginationOptions }) {
    const { organizationId } = actor;
    if (endpointId !== undefined) await read(WebhookReader).getEndpoint(organizationId, endpointId);
    const { items, pageInfo } = await read(WebhookReader).deliveries(
      organizationId,
      {
        endpointId,
        eventId,
        activityId: filterByActivityId,
        state: WEBHOOK_DELIVERY_STATES.find((known) => DELIVERY_STATES[known] === state),
      },
      toPageRequest(paginationOptions, config.listMax),
    );
    return { webhookDeliveries: items.map(renderDelivery), pageInfo };
  },
});
