import Type from 'typebox';
import { secretFacts } from '../../../chains/policy-facts/keys.ts';
import { namesOf } from '../../../describe/names.ts';
import { danger } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { type DescribeContext, defineActivity } from '../../../engine/define.ts';
import { targetKeyOf } from '../../../engine/holder.ts';
import { EncryptionSuiteShape, TargetPublicKeyShape } from '../../../engine/shapes/bundles.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdShape, listShape } from '../../../lib/shapes.ts';
import type { Secret } from '../model.ts';
import { KeyValueShape } from '../shapes.ts';
import { SecretReader, SecretStore } from '../store.ts';

const ExportSecretParamsShape = Type.Object({
  secretId: IdShape,
  targetPublicKey: TargetPublicKeyShape,
  encryptionSuite: EncryptionSuiteShape,
  requestContext: Type.Optional(listShape(KeyValueShape)),
});

export const exportSecrets = defineActivity({
  name: 'export_secrets',
  type: 'ACTIVITY_TYPE_EXPORT_SECRETS',
  summary: 'Export secrets, each encrypted to its target key; all or nothing.',
  policy: { governedBy: 'policy', resource: 'SECRET', action: 'EXPORT', namespaces: [['secret']] },
  credentials: 'none',
  lock: 'shared',
  parameters: Type.Object({ secrets: Type.Array(ExportSecretParamsShape, { minItems: 1, maxItems: 32 }) }),
  sentence: ({ secrets }, { names }) =>
    danger(
      say`Hand out ${namesOf(
        names,
        'secret',
        secrets.map(({ secretId }) => secretId),
      )} to the key of the request: whoever opens it knows it for ever.`,
      'hands out secrets',
      'Whoever opens this knows these secrets for ever. I want that.',
    ),
  result: Type.Object({ secretPayloads: Type.Array(Type.String()) }),
  check({ secrets }) {
    for (const { targetPublicKey } of secrets) targetKeyOf(targetPublicKey);
  },
  describe: (context, { secrets }) => storedSecrets(context, secrets),
  facts: async (_context, _parameters, stored) => stored.map((secret) => ({ secret: secretFacts(secret) })),
  async prepare(context, { secrets }, stored) {
    const { organization, organizationId } = context.actor;
    const wanted = stored.map(({ id, sealedSecret }, index) => {
      const { targetPublicKey } = secrets[index] as (typeof secrets)[number];
      return { ownerId: id, sealedSecret, targetPublicKey: targetKeyOf(targetPublicKey) };
    });
    return await context.once(() => context.keyring.exportSecrets(organization.wrappedKey, organizationId, wanted));
  },
  async execute({ store, actor }, { secrets }, secretPayloads) {
    const ids = [...new Set(secrets.map((secret) => secret.secretId))];
    if ((await store(SecretStore).find(actor.organizationId, ids)).length !== ids.length) throw secretNotFound();
    return { secretPayloads };
  },
});

/** The secrets in the order in which they are wanted. */
async function storedSecrets(
  { read, actor }: DescribeContext,
  wanted: readonly { readonly secretId: string }[],
): Promise<Secret[]> {
  const ids = [...new Set(wanted.map(({ secretId }) => secretId))];
  const found = await read(SecretReader).find(actor.organizationId, ids);
  const stored = new Map<string, Secret>(found.map((secret) => [secret.id, secret]));
  return wanted.map(({ secretId }) => {
    const secret = stored.get(secretId);
    if (secret === undefined) throw secretNotFound();
    return secret;
  });
}

const secretNotFound = (): ApiError => new ApiError('RESOURCE_NOT_FOUND', 'secret not found in this organization');
