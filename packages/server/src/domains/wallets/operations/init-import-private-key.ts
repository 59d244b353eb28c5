import Type from 'typebox';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { keepTargets, newImportTarget, requireSelf } from '../imports.ts';
import { UserIdOnlyShape } from '../shapes.ts';

export const initImportPrivateKey = defineActivity({
  name: 'init_import_private_key',
  type: 'ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY',
  summary: 'Get a one-time key to encrypt a private key to. It lives an hour and works once.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'IMPORT' },
  credentials: 'none',
  lock: 'shared',
  parameters: UserIdOnlyShape,
  sentence: () => say`Prepare to import a private key: make a key for one use that it is encrypted to.`,
  result: Type.Object({ importBundle: Type.String() }),
  describe: requireSelf,
  prepare: (context, { userId }) => newImportTarget(context, userId),
  async execute(context, _parameters, target) {
    await keepTargets(context, 'private-key', [target]);
    return { importBundle: target.importBundle };
  },
});
