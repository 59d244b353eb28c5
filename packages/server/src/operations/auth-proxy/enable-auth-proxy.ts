import Type from 'typebox';
import { ApiError } from '../../lib/errors.ts';
import type { AuthProxyConfig } from '../../lib/model.ts';
import { DEFAULT_PROXY_SETTINGS } from '../../storage/stores/auth-proxy.ts';
import { defineActivity } from '../define.ts';
import { holderOf } from '../wallets/accounts.ts';
import { putIdentity, usableIdentity } from './identity.ts';

export const enableAuthProxy = defineActivity({
  name: 'enable_auth_proxy',
  type: 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY',
  summary: 'Turn the sign-up proxy on; makes its configuration, its user and its key where they are missing.',
  policy: { governedBy: 'policy', resource: 'AUTH_PROXY', action: 'CREATE' },
  // It makes the key of the proxy, which signs strangers up and logs them in.
  credentials: 'mints',
  scope: 'parent',
  ours: true,
  parameters: Type.Object({}),
  result: Type.Object({ userId: Type.String() }),
  async prepare(context) {
    const { read, keyring, actor, newId } = context;
    const configId: string = (await read.authProxy.ofOrganization(actor.organizationId))?.id ?? newId();
    return { configId, key: await keyring.createPrivateKey(holderOf(context, configId), 'CURVE_P256', []) };
  },
  async execute({ store, actor, newId, nowMs }, _parameters, { configId, key }) {
    const { organizationId } = actor;
    const known = await store.authProxy.ofOrganization(organizationId);
    const config: AuthProxyConfig = {
      id: known?.id ?? configId,
      organizationId,
      enabled: true,
      identity: known?.identity,
      settings: known?.settings ?? DEFAULT_PROXY_SETTINGS,
      createdAtMs: known?.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
    };
    if (known === undefined) await store.authProxy.insert(config);
    else await store.authProxy.update(config);
    await store.organizations.setFeature(organizationId, 'FEATURE_NAME_AUTH_PROXY', 'true');
    const usable = await usableIdentity(store, config);
    if (usable !== undefined) return { userId: usable.userId };
    // The key is sealed for its configuration and opens for no other.
    if (config.id !== configId) {
      throw new ApiError('CONFLICT', 'the sign-up proxy was just enabled by another request, try again', {
        retryAfterSeconds: 1,
      });
    }
    return { userId: (await putIdentity(store, config, key, newId, nowMs)).userId };
  },
});
