import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toTimestamp } from '../../../lib/clock.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { AuthProxyConfigShape, noProxyConfig, type ProxySettingsChange } from '../settings.ts';
import { SignUpProxyReader } from '../store.ts';

export const getAuthProxyConfig = defineQuery({
  name: 'get_auth_proxy_config',
  summary: 'The configuration of the sign-up proxy, with the id that its clients send.',
  ours: true,
  parameters: Type.Object({ organizationId: IdShape }),
  response: Type.Object({ authProxyConfig: AuthProxyConfigShape }),
  async run({ read, actor }) {
    const config = await read(SignUpProxyReader).ofOrganization(actor.organizationId);
    if (config === undefined) throw noProxyConfig();
    return {
      authProxyConfig: {
        configId: config.id,
        organizationId: config.organizationId,
        enabled: config.enabled,
        ...(config.identity && { userId: config.identity.userId }),
        ...(config.settings as ProxySettingsChange),
        createdAt: toTimestamp(config.createdAtMs),
        updatedAt: toTimestamp(config.updatedAtMs),
      },
    };
  },
});
