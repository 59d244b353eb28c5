import Type from 'typebox';
import { ApiError } from '../../lib/errors.ts';
import type { Secret } from '../../lib/model.ts';
import { secretFacts } from '../../policy-facts/keys.ts';
import { type DescribeContext, defineActivity } from '../define.ts';
import { IdShape, listShape } from '../shapes/basic.ts';
import { EncryptionSuiteShape, KeyValueShape, TargetPublicKeyShape } from '../shapes/wallets.ts';
import { holderOf, targetKeyOf } from '../wallets/accounts.ts';

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
  policy: { governedBy: 'policy', resource: 'SECRET', action: 'EXPORT' },
  credentials: 'none',
  lock: 'shared',
  parameters: Type.Object({ secrets: Type.Array(ExportSecretParamsShape, { minItems: 1, maxItems: 32 }) }),
  result: Type.Object({ secretPayloads: Type.Array(Type.String()) }),
  check({ secrets }) {
    for (const { targetPublicKey } of secrets) targetKeyOf(targetPublicKey);
  },
  async facts(context, { secrets }) {
    const stored = await storedSecrets(context, secrets);
    return secrets.map(({ secretId }) => {
      const secret = stored.get(secretId);
      // As for wallets: one that is not there is refused when it is used.
      return secret === undefined ? {} : { secret: secretFacts(secret) };
    });
  },
  async prepare(context, { secrets }) {
    const stored = await storedSecrets(context, secrets);
    return await Promise.all(
      secrets.map(async ({ secretId, targetPublicKey }) => {
        const secret = stored.get(secretId);
        if (secret === undefined) throw secretNotFound();
        return await context.keyring.exportSecret(
          holderOf(context, secret.id),
          secret.sealedSecret,
          targetKeyOf(targetPublicKey),
        );
      }),
    );
  },
  async execute({ store, actor }, { secrets }, secretPayloads) {
    const ids = [...new Set(secrets.map((secret) => secret.secretId))];
    if ((await store.imports.secrets(actor.organizationId, ids)).length !== ids.length) throw secretNotFound();
    return { secretPayloads };
  },
});

async function storedSecrets(
  { read, actor }: DescribeContext,
  wanted: readonly { readonly secretId: string }[],
): Promise<ReadonlyMap<string, Secret>> {
  const ids = [...new Set(wanted.map(({ secretId }) => secretId))];
  const found = await read.imports.secrets(actor.organizationId, ids);
  return new Map(found.map((secret) => [secret.id, secret]));
}

const secretNotFound = (): ApiError => new ApiError('RESOURCE_NOT_FOUND', 'secret not found in this organization');
