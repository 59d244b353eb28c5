import Type from 'typebox';
import { privateKeyFacts } from '../../../chains/policy-facts/keys.ts';
import { nameOf } from '../../../describe/names.ts';
import { danger } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf, targetKeyOf } from '../../../engine/holder.ts';
import { TargetPublicKeyShape } from '../../../engine/shapes/bundles.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { requestOf } from '../sentences.ts';
import { PrivateKeyReader, PrivateKeyStore } from '../store/private-keys.ts';

export const exportPrivateKey = defineActivity({
  name: 'export_private_key',
  type: 'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY',
  summary: 'Export a private key, encrypted to the target key. It is marked as exported.',
  policy: {
    governedBy: 'policy',
    resource: 'PRIVATE_KEY',
    action: 'EXPORT',
    params: ['target_public_key'],
    namespaces: [['private_key']],
  },
  credentials: 'none',
  lock: 'exclusive-with-rules',
  parameters: Type.Object({ privateKeyId: IdShape, targetPublicKey: TargetPublicKeyShape }),
  sentence: ({ privateKeyId }, context) =>
    danger(
      say`Hand out private key ${nameOf(context.names, 'privateKey', privateKeyId)} to the key of ${requestOf(context)}: whoever opens it owns all that it holds for ever.`,
      'hands out a private key',
      'Whoever opens this owns the key for ever, and nothing here can stop them. I want that.',
    ),
  result: Type.Object({ privateKeyId: Type.String(), exportBundle: Type.String() }),
  check: ({ targetPublicKey }) => void targetKeyOf(targetPublicKey),
  exposes: ({ targetPublicKey }) => ({ target_public_key: targetPublicKey }),
  describe: ({ read, actor }, { privateKeyId }) => read(PrivateKeyReader).get(actor.organizationId, privateKeyId),
  facts: async (_context, _parameters, key) => [{ private_key: privateKeyFacts(key) }],
  prepare: (context, { targetPublicKey }, key) =>
    context.once(() =>
      context.keyring.exportPrivateKey(holderOf(context, key.id), key.sealedKey, targetKeyOf(targetPublicKey)),
    ),
  async execute({ store, actor, nowMs }, { privateKeyId }, exportBundle) {
    await store(PrivateKeyStore).markExported(actor.organizationId, privateKeyId, nowMs);
    return { privateKeyId, exportBundle };
  },
});
