import type { ExecuteContext } from '../../engine/define.ts';
import type { OrganizationId, WebhookEndpointId } from '../../lib/ids.ts';
import type { Stores } from '../../storage/stores.ts';
import type { WebhookEndpoint } from './model.ts';
import { WebhookStore } from './store/webhooks.ts';

/** Of the feature and of its endpoint, which no other may have. */
export const FEATURE_NAME = 'FEATURE_NAME_WEBHOOK';

const featureEndpoint = async (store: Stores, organizationId: OrganizationId): Promise<WebhookEndpoint | undefined> =>
  (await store(WebhookStore).endpoints(organizationId)).find(({ isFeature }) => isFeature);

/** The feature is an endpoint like any other that gets the updates of all activities (protocol/webhooks 2.4). */
export async function putFeatureEndpoint(
  { store, actor, newId, nowMs }: Pick<ExecuteContext, 'store' | 'actor' | 'newId' | 'nowMs'>,
  url: string,
): Promise<void> {
  const { organizationId } = actor;
  const before = await featureEndpoint(store, organizationId);
  if (before !== undefined) {
    await store(WebhookStore).updateEndpoint({ ...before, url, isActive: true, updatedAtMs: nowMs });
    return;
  }
  await store(WebhookStore).insertEndpoint({
    id: newId() as WebhookEndpointId,
    organizationId,
    name: FEATURE_NAME,
    url,
    isActive: true,
    isFeature: true,
    includesDescription: false,
    subscriptions: [{ eventType: 'ACTIVITY_UPDATES', isActive: true }],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
}

export async function dropFeatureEndpoint(store: Stores, organizationId: OrganizationId): Promise<void> {
  const endpoint = await featureEndpoint(store, organizationId);
  if (endpoint !== undefined) await store(WebhookStore).deleteEndpoint(organizationId, endpoint.id);
}
