import Type from 'typebox';
import { counted, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import { EncryptionSuiteShape } from '../../../engine/shapes/bundles.ts';
import { integerShape } from '../../../lib/shapes.ts';
import { keepTargets } from '../../wallets/imports.ts';

/** As many as one export may carry (protocol/organizations 7.2). */
const SECRETS_MAX = 32;

export const initImportSecrets = defineActivity({
  name: 'init_import_secrets',
  type: 'ACTIVITY_TYPE_INIT_IMPORT_SECRETS',
  summary: 'Get one-time keys to encrypt secrets to, one per secret. They live an hour and work once.',
  policy: { governedBy: 'policy', resource: 'SECRET', action: 'IMPORT' },
  credentials: 'none',
  lock: 'shared',
  parameters: Type.Object({ encryptionSuite: EncryptionSuiteShape, numSecrets: integerShape(1, SECRETS_MAX) }),
  sentence: ({ numSecrets }) =>
    say`Prepare to store ${counted(numSecrets, 'secret')}: make keys for one use that they are encrypted to.`,
  result: Type.Object({ enclaveTargetMessages: Type.Array(Type.String()) }),
  async prepare(context, { numSecrets }) {
    return await Promise.all(
      Array.from({ length: numSecrets }, async () => {
        const id: string = context.newId();
        const [target] = await context.keyring.createSecretTargets(holderOf(context, id), 1);
        if (target === undefined) throw new Error('the keyring made no target');
        return { id, ...target };
      }),
    );
  },
  async execute(context, _parameters, targets) {
    await keepTargets(context, 'secret', targets, 4 * SECRETS_MAX);
    return { enclaveTargetMessages: targets.map((target) => target.targetBundle) };
  },
});
