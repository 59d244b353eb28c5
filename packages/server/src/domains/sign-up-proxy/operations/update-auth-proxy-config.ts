import Type from 'typebox';
import { toWords } from '../../../describe/fields.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { listOf, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import {
  checkProxySettings,
  checkWithinOperatorBounds,
  noProxyConfig,
  PROXY_SETTINGS,
  requireTemplates,
  withChange,
} from '../settings.ts';
import { SignUpProxyStore } from '../store.ts';

export const updateAuthProxyConfig = defineActivity({
  name: 'update_auth_proxy_config',
  type: 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG',
  summary:
    'Change what the sign-up proxy may do and how; what is absent stays as it is, empty text takes a value away.',
  policy: { governedBy: 'policy', resource: 'AUTH_PROXY', action: 'UPDATE' },
  // It says which logins strangers are offered, and from where.
  credentials: 'redirects',
  scope: 'parent',
  ours: true,
  parameters: Type.Object(PROXY_SETTINGS),
  sentence: (settings) =>
    lookClosely(
      say`Change the sign-up proxy: ${listOf(
        Object.keys(settings).map((key) => toWords(key).toLowerCase()),
        8,
      )}.`,
      'changes who can sign up and how',
      'I have read the new settings of sign-up and login.',
    ),
  result: Type.Object({ configId: Type.Optional(Type.String()) }),
  check: checkProxySettings,
  async describe({ config }, change) {
    checkWithinOperatorBounds(change, config);
    await requireTemplates(change, config);
  },
  async execute({ store, actor, nowMs }, change) {
    const config = await store(SignUpProxyStore).ofOrganization(actor.organizationId);
    if (config === undefined) throw noProxyConfig();
    await store(SignUpProxyStore).update(withChange(config, change, nowMs));
    return { configId: config.id };
  },
});
