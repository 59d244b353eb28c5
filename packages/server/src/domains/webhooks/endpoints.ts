import type { Static } from 'typebox';
import { configuredChain } from '../../chains/networks.ts';
import type { ConfiguredChains } from '../../chains/settings.ts';
import type { Organization } from '../../core/model.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { Stores } from '../../storage/stores.ts';
import { PARENT_ONLY } from './announce.ts';
import { FEATURE_NAME } from './feature-endpoint.ts';
import { chainsOf, checkFilters } from './filters.ts';
import type { WebhookEndpoint, WebhookEventType, WebhookSubscription } from './model.ts';
import type { WebhookEndpointShape, WebhookSubscriptionShape } from './shapes.ts';
import { WebhookStore } from './store/webhooks.ts';

type WireSubscription = Static<typeof WebhookSubscriptionShape>;

/** Checks what is subscribed to. The same subscription twice is one; two different ones of a type would contradict. */
export function toSubscriptions(given: readonly WireSubscription[]): WebhookSubscription[] {
  const found = new Map<WebhookEventType, WebhookSubscription>();
  for (const [index, { eventType, filtersJson, isActive = true }] of given.entries()) {
    const field = `parameters.subscriptions.${index}`;
    if (filtersJson) checkFilters(eventType, filtersJson, `${field}.filtersJson`);
    const subscription = { eventType, ...(filtersJson && { filtersJson }), isActive };
    const before = found.get(eventType);
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(subscription)) {
      throw invalidField(`${field}.eventType`, `${eventType} is already subscribed to in another way`);
    }
    found.set(eventType, subscription);
  }
  return [...found.values()];
}

/** Balances and transactions of a whole tree are its parent's business (protocol/webhooks 1). */
export function requireAudience({ parentId }: Organization, subscriptions: readonly WireSubscription[]): void {
  const forParents = subscriptions.find(({ eventType }) => PARENT_ONLY.has(eventType));
  if (parentId === undefined || forParents === undefined) return;
  throw new ApiError(
    'REQUEST_NOT_AUTHORIZED',
    `only a parent organization can subscribe to ${forParents.eventType}; it is told of its sub-organizations too`,
  );
}

const BALANCES: ReadonlySet<WebhookEventType> = new Set(['BALANCE_CONFIRMED_UPDATES', 'BALANCE_FINALIZED_UPDATES']);

/** Nothing would ever be told of a chain that nobody watches. */
export function requireChains(chains: ConfiguredChains, subscriptions: readonly WireSubscription[]): void {
  for (const { eventType, filtersJson } of subscriptions) {
    if (!BALANCES.has(eventType)) continue;
    for (const caip2 of chainsOf(filtersJson) ?? []) configuredChain(chains, caip2);
    if (chains.size > 0) continue;
    throw new ApiError(
      'CHAIN_NOT_CONFIGURED',
      `${eventType} needs a chain, and none is configured: the operator sets chains in CUSTOS_CHAINS`,
    );
  }
}

/** Whoever may create endpoints must not keep the root quorum from setting the feature. */
export function checkName(name: string | undefined): void {
  if (name === FEATURE_NAME)
    throw invalidField('parameters.name', `${FEATURE_NAME} is the name of the feature's endpoint`);
}

/** The endpoint of a feature changes with the feature and in no other way. */
export function requireOwn({ isFeature }: WebhookEndpoint): void {
  if (!isFeature) return;
  throw new ApiError(
    'FAILED_PRECONDITION',
    `this endpoint belongs to the feature ${FEATURE_NAME}; set_organization_feature and remove_organization_feature change it`,
  );
}

/** Every activity reads all of them, so that they have a bound together. */
export async function requireRoom(store: Stores, organizationId: OrganizationId): Promise<void> {
  if ((await store(WebhookStore).weight(organizationId)) <= LIMITS.webhookEndpointsLength) return;
  throw new ApiError(
    'RESOURCE_LIMIT_EXCEEDED',
    `the webhook endpoints of an organization can have at most ${LIMITS.webhookEndpointsLength} bytes, each counted with 40000 more`,
  );
}

export const renderEndpoint = (endpoint: WebhookEndpoint): Static<typeof WebhookEndpointShape> => ({
  endpointId: endpoint.id,
  organizationId: endpoint.organizationId,
  url: endpoint.url,
  name: endpoint.name,
  isActive: endpoint.isActive,
  includeDescription: endpoint.includesDescription,
  subscriptions: endpoint.subscriptions.map((subscription) => ({ ...subscription })),
});
