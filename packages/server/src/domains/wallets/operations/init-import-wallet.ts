import Type from 'typebox';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { keepTargets, newImportTarget, requireSelf } from '../imports.ts';
import { UserIdOnlyShape } from '../shapes.ts';

export const initImportWallet = defineActivity({
  name: 'init_import_wallet',
  type: 'ACTIVITY_TYPE_INIT_IMPORT_WALLET',
  summary: 'Get a one-time key to encrypt a mnemonic to. It lives an hour and works once.',
  policy: { governedBy: 'policy', resource: 'WALLET', action: 'IMPORT' },
  credentials: 'none',
  lock: 'shared',
  parameters: UserIdOnlyShape,
  sentence: () => say`Prepare to import a wallet: make a key for one use that its words are encrypted to.`,
  result: Type.Object({ importBundle: Type.String() }),
  describe: requireSelf,
  prepare: (context, { userId }) => newImportTarget(context, userId),
  async execute(context, _parameters, target) {
    await keepTargets(context, 'wallet', [target]);
    return { importBundle: target.importBundle };
  },
});
