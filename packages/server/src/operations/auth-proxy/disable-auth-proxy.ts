import Type from 'typebox';
import { defineActivity } from '../define.ts';

export const disableAuthProxy = defineActivity({
  name: 'disable_auth_proxy',
  type: 'ACTIVITY_TYPE_DISABLE_AUTH_PROXY',
  summary: 'Turn the sign-up proxy off; its configuration, its user and its key stay.',
  policy: { governedBy: 'policy', resource: 'AUTH_PROXY', action: 'DELETE' },
  // It ends the key of the proxy.
  credentials: 'redirects',
  scope: 'parent',
  ours: true,
  parameters: Type.Object({}),
  result: Type.Object({}),
  async execute({ store, actor, nowMs }) {
    const config = await store.authProxy.ofOrganization(actor.organizationId);
    if (config !== undefined) await store.authProxy.update({ ...config, enabled: false, updatedAtMs: nowMs });
    await store.organizations.removeFeature(actor.organizationId, 'FEATURE_NAME_AUTH_PROXY');
    return {};
  },
});
