import Type from 'typebox';
import { danger } from '../../../describe/sentence.ts';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { prepareProxyKey, turnProxyOn } from '../switch.ts';

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
  sentence: () =>
    danger(
      say`Turn on the sign-up proxy: ${strong('anybody')} from its origins can then make sub-organizations here.`,
      'opens sign-up to strangers',
      'Strangers can then become sub-organizations of this one. I want that.',
    ),
  result: Type.Object({ userId: Type.String() }),
  prepare: prepareProxyKey,
  execute: async (context, _parameters, key) => ({ userId: await turnProxyOn(context, key) }),
});
