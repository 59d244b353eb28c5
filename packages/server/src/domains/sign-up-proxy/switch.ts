import type { CreatedPrivateKey } from '@custos/keyring';
import { OrganizationStore } from '../../core/store/organizations.ts';
import type { ExecuteContext, PrepareContext } from '../../engine/define.ts';
import { holderOf } from '../../engine/holder.ts';
import { ApiError } from '../../lib/errors.ts';
import type { UserId } from '../../lib/ids.ts';
import type { SignUpProxyConfig } from './model.ts';
import { putIdentity, usableIdentity } from './new-identity.ts';
import { DEFAULT_PROXY_SETTINGS, SignUpProxyReader, SignUpProxyStore } from './store.ts';

// The sign-up proxy is on while its configuration says so. The feature says the same: both change together, here alone.

const FEATURE = 'FEATURE_NAME_AUTH_PROXY';

/** A key for the proxy, in case that it needs one, and the configuration that it is sealed for. */
export interface ProxyKey {
  readonly configId: string;
  readonly key: CreatedPrivateKey;
}

export async function prepareProxyKey(context: PrepareContext): Promise<ProxyKey> {
  const { read, keyring, actor, newId } = context;
  const configId: string = (await read(SignUpProxyReader).ofOrganization(actor.organizationId))?.id ?? newId();
  return { configId, key: await keyring.createPrivateKey(holderOf(context, configId), 'CURVE_P256', []) };
}

/** Makes its configuration, its user and its key where they are missing; answers its user. */
export async function turnProxyOn(
  { store, actor, newId, nowMs }: ExecuteContext,
  { configId, key }: ProxyKey,
  featureValue = 'true',
): Promise<UserId> {
  const { organizationId } = actor;
  const known = await store(SignUpProxyStore).ofOrganization(organizationId);
  const config: SignUpProxyConfig = {
    id: known?.id ?? configId,
    organizationId,
    enabled: true,
    identity: known?.identity,
    settings: known?.settings ?? DEFAULT_PROXY_SETTINGS,
    createdAtMs: known?.createdAtMs ?? nowMs,
    updatedAtMs: nowMs,
  };
  if (known === undefined) await store(SignUpProxyStore).insert(config);
  else await store(SignUpProxyStore).update(config);
  await store(OrganizationStore).setFeature(organizationId, FEATURE, featureValue);
  const usable = await usableIdentity(store, config);
  if (usable !== undefined) return usable.userId;
  // The key is sealed for its configuration and opens for no other.
  if (config.id !== configId) {
    throw new ApiError('CONFLICT', 'the sign-up proxy was just enabled by another request, try again', {
      retryAfterSeconds: 1,
    });
  }
  return (await putIdentity(store, config, key, newId, nowMs)).userId;
}

/** Its configuration, its user and its key stay. */
export async function turnProxyOff({ store, actor, nowMs }: ExecuteContext): Promise<void> {
  const config = await store(SignUpProxyStore).ofOrganization(actor.organizationId);
  if (config !== undefined) await store(SignUpProxyStore).update({ ...config, enabled: false, updatedAtMs: nowMs });
  await store(OrganizationStore).removeFeature(actor.organizationId, FEATURE);
}
