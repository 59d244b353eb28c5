import Type from 'typebox';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { WebhookEndpointShape } from '../shapes/webhooks.ts';
import { renderEndpoint } from './endpoints.ts';

export const listWebhookEndpoints = defineQuery({
  name: 'list_webhook_endpoints',
  summary: 'The webhook endpoints of the organization with what they subscribe to, oldest first.',
  parameters: Type.Object({ organizationId: IdShape }),
  response: Type.Object({ webhookEndpoints: Type.Array(WebhookEndpointShape) }),
  async run({ read, actor }) {
    const endpoints = await read.webhooks.endpoints(actor.organizationId);
    return { webhookEndpoints: endpoints.map(renderEndpoint) };
  },
});
