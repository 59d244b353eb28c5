import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { invalidField } from '../../../lib/errors.ts';
import { IdShape, NameShape } from '../../../lib/shapes.ts';
import { checkName, renderEndpoint, requireOwn, requireRoom } from '../endpoints.ts';
import type { WebhookEndpoint } from '../model.ts';
import { WebhookEndpointShape, WebhookUrlShape } from '../shapes.ts';
import { WebhookReader } from '../store/webhook-reader.ts';
import { WebhookStore } from '../store/webhooks.ts';

export const updateWebhookEndpoint = defineActivity({
  name: 'update_webhook_endpoint',
  type: 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT',
  summary:
    'Change the URL or the name of a webhook endpoint, switch it off and on, or have activities described to it. What waits for it goes on.',
  waitsOutside: true,
  policy: { governedBy: 'policy', resource: 'WEBHOOK_ENDPOINT', action: 'UPDATE', params: ['endpoint_id'] },
  credentials: 'none',
  parameters: Type.Object({
    endpointId: IdShape,
    url: Type.Optional(WebhookUrlShape),
    name: Type.Optional(NameShape),
    isActive: Type.Optional(Type.Boolean()),
    /** An addition of ours: from the next event on. */
    includeDescription: Type.Optional(Type.Boolean()),
  }),
  sentence: ({ endpointId, url, name, isActive, includeDescription }, { names }) => {
    const endpoint = nameOf(names, 'webhookEndpoint', endpointId);
    const verb = includeDescription ? 'Tell' : 'No longer tell';
    const also = includeDescription === undefined ? '' : ` ${verb} it in words what activities do.`;
    if (url !== undefined) {
      return lookClosely(
        say`Send what ${endpoint} is told to ${named(url)} instead.${also}`,
        'sends data elsewhere',
        'Whoever runs that server learns of everything that it subscribes to. I want that.',
      );
    }
    if (isActive === false)
      return lookClosely(
        say`Stop telling ${endpoint} what happens here.${also}`,
        'stops deliveries',
        'Whoever relies on these deliveries learns nothing then. I want that.',
      );
    if (isActive === true) return say`Tell ${endpoint} again what happens here.${also}`;
    if (name !== undefined) return say`Rename endpoint ${endpoint} to ${named(name)}.${also}`;
    return includeDescription === undefined
      ? say`Leave endpoint ${endpoint} unchanged.`
      : say`${verb} ${endpoint} in words what activities do.`;
  },
  result: Type.Object({ endpointId: Type.String(), webhookEndpoint: WebhookEndpointShape }),
  check({ url, name, isActive, includeDescription }) {
    if ([url, name, isActive, includeDescription].every((change) => change === undefined)) {
      throw invalidField('parameters', 'must have at least one of url, name, isActive, includeDescription');
    }
    checkName(name);
  },
  exposes: ({ endpointId }) => ({ endpoint_id: endpointId }),
  async describe({ read, actor }, { endpointId }) {
    requireOwn(await read(WebhookReader).getEndpoint(actor.organizationId, endpointId));
  },
  async prepare({ webhooks }, { url }) {
    if (url !== undefined) await webhooks.checkTarget(url);
  },
  async execute({ store, actor, nowMs }, { endpointId, url, name, isActive, includeDescription }) {
    const before = await store(WebhookStore).getEndpoint(actor.organizationId, endpointId);
    requireOwn(before);
    const endpoint: WebhookEndpoint = {
      ...before,
      url: url ?? before.url,
      name: name ?? before.name,
      isActive: isActive ?? before.isActive,
      includesDescription: includeDescription ?? before.includesDescription,
      updatedAtMs: nowMs,
    };
    await store(WebhookStore).updateEndpoint(endpoint);
    await requireRoom(store, actor.organizationId);
    return { endpointId: endpoint.id, webhookEndpoint: renderEndpoint(endpoint) };
  },
});
