import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { lastingHeaders } from '../headers.ts';
import { DELIVERY_FIELDS, renderDelivery } from '../render-delivery.ts';
import { deliveryNotFound, WebhookReader } from '../store/webhook-reader.ts';
import { WebhookStatisticsReader } from '../store/webhook-statistics.ts';

export const getWebhookDelivery = defineQuery({
  name: 'get_webhook_delivery',
  ours: true,
  summary: 'One delivery with the exact bytes and headers that are posted, and what was answered.',
  parameters: Type.Object({ organizationId: IdShape, deliveryId: IdShape }),
  response: Type.Object({
    webhookDelivery: Type.Object({
      ...DELIVERY_FIELDS,
      payload: Type.String(),
      /** Those that are the same for every attempt. */
      headers: Type.Record(Type.String(), Type.String()),
      /** The names of those that each attempt has values of its own for: it is signed when it leaves. */
      headersPerAttempt: Type.Array(Type.String()),
    }),
  }),
  async run({ read, actor, config }, { deliveryId }) {
    const { organizationId } = actor;
    const delivery = await read(WebhookReader).getDelivery(organizationId, deliveryId);
    const [endpoint, payload] = await Promise.all([
      read(WebhookReader).findEndpoint(organizationId, delivery.endpointId),
      read(WebhookStatisticsReader).payload(delivery),
    ]);
    // Of an endpoint that was deleted nothing is shown, though its deliveries go by and by.
    if (endpoint === undefined || payload === undefined) throw deliveryNotFound();
    const event = { id: delivery.eventId, type: delivery.eventType, aboutId: delivery.aboutId };
    const { headers, perAttempt } = lastingHeaders(event, config.vendorNames);
    return { webhookDelivery: { ...renderDelivery(delivery), payload, headers, headersPerAttempt: perAttempt } };
  },
});
