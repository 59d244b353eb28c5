import Type from 'typebox';
import { toPageRequest } from '../../lib/pagination.ts';
import { defineQuery } from '../define.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../shapes/basic.ts';
import { WebhookEndpointShape } from '../shapes/webhooks.ts';
import { renderEndpoint } from './endpoints.ts';

export const listWebhookEndpoints = defineQuery({
  name: 'list_webhook_endpoints',
  summary: 'The webhook endpoints of the organization with what they subscribe to, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ webhookEndpoints: Type.Array(WebhookEndpointShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read.webhooks.page(actor.organizationId, request);
    return { webhookEndpoints: items.map(renderEndpoint), pageInfo };
  },
});
