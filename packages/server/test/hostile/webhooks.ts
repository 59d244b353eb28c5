import type { TestClient } from '../harness/client.ts';
import type { Outside } from './outside.ts';

// Webhook endpoints to which nothing is sent but what a test asks for.

/** Of an organization that there is not; and a parent, whose filters get spoiled, asks for what nobody emits here. */
const subscription = (scope: 'parent' | 'sub-organization') => ({
  eventType: scope === 'parent' ? 'BALANCE_CONFIRMED_UPDATES' : 'ACTIVITY_UPDATES',
  filtersJson: '{"organizationIds":["00000000-0000-4000-8000-000000000001"]}',
  isActive: true,
});

export interface EndpointOwner {
  readonly root: TestClient;
  readonly scope: 'parent' | 'sub-organization';
  readonly outside: Outside;
}

export const endpointParams = ({ scope, outside }: EndpointOwner, name: string) => ({
  url: outside.hook(name),
  name,
  subscriptions: [subscription(scope)],
});

const KEPT = 8;
const CROWDED = 14;

/** An organization has few endpoints, so that those which tests have left go; the first one is what others look at. */
export async function makeRoom(root: TestClient, kept = KEPT): Promise<void> {
  const { webhookEndpoints } = (await root.query('list_webhook_endpoints')).body;
  if (kept > 0 && webhookEndpoints.length < CROWDED) return;
  for (const { endpointId } of webhookEndpoints.slice(1, webhookEndpoints.length - kept)) {
    await root.run('delete_webhook_endpoint', { endpointId });
  }
}

export async function newEndpoint(owner: EndpointOwner, name: string): Promise<string> {
  await makeRoom(owner.root);
  return (await owner.root.run('create_webhook_endpoint', endpointParams(owner, name))).endpointId;
}

/** An endpoint to which something was sent. */
export async function newTestedEndpoint(owner: EndpointOwner, name: string) {
  const endpointId = await newEndpoint(owner, name);
  const { deliveryId, eventId, delivered } = await owner.root.run('test_webhook_endpoint', { endpointId });
  if (!delivered) throw new Error(`${name} was not reached`);
  return { endpointId, deliveryId, eventId };
}
