import { Events } from '../../core/events.ts';
import type { Domain } from '../../engine/domain.ts';
import { provide } from '../../storage/stores.ts';
import { WebhookEvents } from './announce.ts';
import { names } from './names.ts';
import { createWebhookEndpoint } from './operations/create-webhook-endpoint.ts';
import { deleteWebhookEndpoint } from './operations/delete-webhook-endpoint.ts';
import { getWebhookDelivery } from './operations/get-webhook-delivery.ts';
import { getWebhookStatistics } from './operations/get-webhook-statistics.ts';
import { listWebhookDeliveries } from './operations/list-webhook-deliveries.ts';
import { listWebhookEndpoints } from './operations/list-webhook-endpoints.ts';
import { replayWebhookDelivery } from './operations/replay-webhook-delivery.ts';
import { testWebhookEndpoint } from './operations/test-webhook-endpoint.ts';
import { updateWebhookEndpoint } from './operations/update-webhook-endpoint.ts';
import { tables } from './tables.ts';

export const webhooks: Domain = {
  name: 'webhooks',
  operations: [
    createWebhookEndpoint,
    deleteWebhookEndpoint,
    getWebhookDelivery,
    getWebhookStatistics,
    listWebhookDeliveries,
    listWebhookEndpoints,
    replayWebhookDelivery,
    testWebhookEndpoint,
    updateWebhookEndpoint,
  ],
  tables,
  names,
  provides: [provide(Events, WebhookEvents)],
};
