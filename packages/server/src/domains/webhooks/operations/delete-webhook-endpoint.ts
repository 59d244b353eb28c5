import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { requireOwn } from '../endpoints.ts';
import { WebhookReader } from '../store/webhook-reader.ts';
import { WebhookStore } from '../store/webhooks.ts';

export const deleteWebhookEndpoint = defineActivity({
  name: 'delete_webhook_endpoint',
  type: 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT',
  summary: 'Delete a webhook endpoint with all its deliveries, also those that wait.',
  policy: { governedBy: 'policy', resource: 'WEBHOOK_ENDPOINT', action: 'DELETE', params: ['endpoint_id'] },
  credentials: 'none',
  parameters: Type.Object({ endpointId: IdShape }),
  sentence: ({ endpointId }, { names }) =>
    lookClosely(
      say`Delete webhook endpoint ${nameOf(names, 'webhookEndpoint', endpointId)}: it is told nothing more.`,
      'stops deliveries',
      'Whoever relies on these deliveries learns nothing then. I want that.',
    ),
  result: Type.Object({ endpointId: Type.String() }),
  exposes: ({ endpointId }) => ({ endpoint_id: endpointId }),
  async describe({ read, actor }, { endpointId }) {
    requireOwn(await read(WebhookReader).getEndpoint(actor.organizationId, endpointId));
  },
  async execute({ store, actor }, { endpointId }) {
    const endpoint = await store(WebhookStore).getEndpoint(actor.organizationId, endpointId);
    requireOwn(endpoint);
    await store(WebhookStore).deleteEndpoint(actor.organizationId, endpoint.id);
    return { endpointId };
  },
});
