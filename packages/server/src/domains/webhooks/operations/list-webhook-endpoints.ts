import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderEndpoint } from '../endpoints.ts';
import { WebhookEndpointShape } from '../shapes.ts';
import { WebhookReader } from '../store/webhook-reader.ts';

export const listWebhookEndpoints = defineQuery({
  name: 'list_webhook_endpoints',
  summary: 'The webhook endpoints of the organization with what they subscribe to, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ webhookEndpoints: Type.Array(WebhookEndpointShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(WebhookReader).page(actor.organizationId, request);
    return { webhookEndpoints: items.map(renderEndpoint), pageInfo };
  },
});
