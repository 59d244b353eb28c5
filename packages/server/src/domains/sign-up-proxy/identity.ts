import type { CreatedPrivateKey } from '@custos/keyring';
import type { Organization } from '../../core/model.ts';
import { ActivityStore } from '../../core/store/activities.ts';
import { OrganizationStore } from '../../core/store/organizations.ts';
import { isSameKey } from '../../core/store/sealed.ts';
import { unproposedActivity } from '../../engine/activities/unproposed.ts';
import { announceActivity } from '../../engine/announce-activity.ts';
import type { App } from '../../engine/app.ts';
import { sha256Hex } from '../../lib/encoding.ts';
import type { WebhookEndpointId } from '../../lib/ids.ts';
import type { Stores } from '../../storage/stores.ts';
import { configurationNotFound } from './configuration.ts';
import type { SignUpProxyConfig } from './model.ts';
import { type ProxyIdentity, putIdentity, usableIdentity } from './new-identity.ts';
import { SignUpProxyStore } from './store.ts';

const TYPE = 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY';

export const holderOf = (config: SignUpProxyConfig, { id, wrappedKey }: Organization) => ({
  organizationKey: wrappedKey,
  organizationId: id as string,
  ownerId: config.id,
});

/**
 * Makes the user and the key of a proxy that has none: with its first use, or after somebody deleted them. Of several
 * processes that try, one does it and the others find it done.
 */
export async function makeIdentity(app: App, config: SignUpProxyConfig, parent: Organization): Promise<ProxyIdentity> {
  const { storage, keyring, clock } = app;
  let organization = parent;
  for (;;) {
    const key = await keyring.createPrivateKey(holderOf(config, organization), 'CURVE_P256', []);
    const nowMs = clock();
    let told: readonly WebhookEndpointId[] = [];
    const made = await storage.write(
      async (store) => {
        const sealedFor = organization;
        organization = await store(OrganizationStore).lock(parent.id, 'exclusive');
        const current = await store(SignUpProxyStore).byId(config.id);
        if (current?.enabled !== true) throw configurationNotFound();
        const usable = await usableIdentity(store, current);
        if (usable !== undefined) return usable;
        // The organization got another key meanwhile: this one is sealed under the earlier.
        if (!isSameKey(sealedFor.wrappedKey, organization.wrappedKey)) return undefined;
        const identity = await putIdentity(store, current, key, app.newId, nowMs);
        told = await keepActivity(app, store, parent, key, identity, nowMs);
        return identity;
      },
      { of: parent },
    );
    app.webhooks.wake(told);
    if (made !== undefined) return made;
  }
}

/** The audit log tells where the user came from: an activity that nobody voted on, as at genesis. */
async function keepActivity(
  app: App,
  store: Stores,
  parent: Organization,
  { publicKey }: CreatedPrivateKey,
  { userId }: ProxyIdentity,
  nowMs: number,
): Promise<readonly WebhookEndpointId[]> {
  const organizationId = parent.id;
  const activity = unproposedActivity(
    {
      id: app.newId(),
      organizationId,
      fingerprint: `sha256:${sha256Hex(JSON.stringify({ type: TYPE, organizationId, publicKey }))}`,
      operation: 'enable_auth_proxy',
      type: TYPE,
      parameters: {},
      result: { userId },
    },
    nowMs,
  );
  await store(ActivityStore).insert(activity, []);
  return await announceActivity(app, store, { activity, votes: [], proofs: [] }, parent, nowMs);
}
