import Type from 'typebox';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { turnProxyOff } from '../switch.ts';

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
  sentence: () =>
    lookClosely(
      say`Turn off the sign-up proxy: nobody can sign up or log in through it then.`,
      'ends sign-up',
      'People who log in through it are locked out. I want that.',
    ),
  result: Type.Object({}),
  async execute(context) {
    await turnProxyOff(context);
    return {};
  },
});
