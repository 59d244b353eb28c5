import Type from 'typebox';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { WebhookEndpointId } from '../../../lib/ids.ts';
import { listShape, NameShape } from '../../../lib/shapes.ts';
import {
  checkName,
  renderEndpoint,
  requireAudience,
  requireChains,
  requireRoom,
  toSubscriptions,
} from '../endpoints.ts';
import type { WebhookEndpoint } from '../model.ts';
import { WebhookEndpointShape, WebhookSubscriptionShape, WebhookUrlShape } from '../shapes.ts';
import { WebhookStore } from '../store/webhooks.ts';

export const createWebhookEndpoint = defineActivity({
  name: 'create_webhook_endpoint',
  type: 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
  summary: 'Register a URL that signed events are sent to, with what it subscribes to.',
  waitsOutside: true,
  bodyLimit: 128 * 1024,
  policy: { governedBy: 'policy', resource: 'WEBHOOK_ENDPOINT', action: 'CREATE' },
  credentials: 'none',
  parameters: Type.Object({
    url: WebhookUrlShape,
    name: NameShape,
    subscriptions: Type.Optional(listShape(WebhookSubscriptionShape)),
    /** An addition of ours: events of activities say in words what they do. */
    includeDescription: Type.Optional(Type.Boolean()),
  }),
  sentence: ({ name, url }) =>
    lookClosely(
      say`Tell ${named(url)} what happens here, as ${named(name)}.`,
      'sends data out',
      'Whoever runs that server learns of everything that it subscribes to. I want that.',
    ),
  result: Type.Object({ endpointId: Type.String(), webhookEndpoint: WebhookEndpointShape }),
  check({ name, subscriptions = [] }) {
    checkName(name);
    toSubscriptions(subscriptions);
  },
  async describe({ actor, config }, { subscriptions = [] }) {
    requireAudience(actor.organization, subscriptions);
    requireChains(config.chains, subscriptions);
  },
  async prepare({ webhooks }, { url }) {
    await webhooks.checkTarget(url);
  },
  async execute({ store, actor, newId, nowMs, config }, { url, name, subscriptions = [], includeDescription = false }) {
    const { organizationId } = actor;
    const most = config.limitWebhookEndpoints;
    if (most !== undefined && (await store(WebhookStore).countEndpoints(organizationId)) >= most) {
      throw new ApiError('RESOURCE_LIMIT_EXCEEDED', `an organization can have at most ${most} webhook endpoints`);
    }
    const endpoint: WebhookEndpoint = {
      id: newId() as WebhookEndpointId,
      organizationId,
      name,
      url,
      isActive: true,
      isFeature: false,
      includesDescription: includeDescription,
      subscriptions: toSubscriptions(subscriptions),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await store(WebhookStore).insertEndpoint(endpoint);
    await requireRoom(store, organizationId);
    return { endpointId: endpoint.id, webhookEndpoint: renderEndpoint(endpoint) };
  },
});
