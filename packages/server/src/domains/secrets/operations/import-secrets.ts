import Type from 'typebox';
import { normalizePublicKey, parsePublicKey } from '../../../authn/public-key.ts';
import { counted, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { EncryptedBundleShape, EncryptionSuiteShape } from '../../../engine/shapes/bundles.ts';
import { firstDuplicate } from '../../../lib/collections.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import type { SecretId } from '../../../lib/ids.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { listShape, NameShape, textShape } from '../../../lib/shapes.ts';
import { importOnce, liveTargets, useTarget } from '../../wallets/imports.ts';
import { KeyValueShape } from '../shapes.ts';
import { SecretStore } from '../store.ts';

const SecretParamsShape = Type.Object({
  name: Type.Optional(NameShape),
  secretPayload: EncryptedBundleShape,
  targetPublicKey: textShape(512),
  encryptionSuite: EncryptionSuiteShape,
  staticProperties: Type.Optional(listShape(KeyValueShape)),
});

export const importSecrets = defineActivity({
  name: 'import_secrets',
  type: 'ACTIVITY_TYPE_IMPORT_SECRETS',
  summary: 'Import secrets that were encrypted to keys of init_import_secrets, all or nothing.',
  bodyLimit: LIMITS.bodyBytes,
  policy: { governedBy: 'policy', resource: 'SECRET', action: 'IMPORT' },
  credentials: 'none',
  lock: 'shared',
  parameters: Type.Object({ secrets: Type.Array(SecretParamsShape, { minItems: 1, maxItems: 32 }) }),
  sentence: ({ secrets }) => say`Store ${counted(secrets.length, 'secret')}.`,
  result: Type.Object({ secretIds: Type.Array(Type.String()) }),
  check({ secrets }) {
    const keys = secrets.map(({ targetPublicKey }, index) =>
      parsePublicKey('P256', targetPublicKey, `parameters.secrets.${index}.targetPublicKey`),
    );
    if (firstDuplicate(keys) !== undefined) throw invalidField('parameters.secrets', 'uses a target key twice');
    const names = secrets.flatMap(({ name }) => (name === undefined ? [] : [name]));
    if (firstDuplicate(names) !== undefined) throw invalidField('parameters.secrets', 'names two secrets alike');
    for (const [index, { staticProperties = [] }] of secrets.entries()) {
      // Policies read a property by its key, and of two values might see the one that its author did not mean.
      if (firstDuplicate(staticProperties.map(({ key = '' }) => key)) === undefined) continue;
      throw invalidField(`parameters.secrets.${index}.staticProperties`, 'has a key twice');
    }
  },
  prepare: (context, { secrets }) =>
    importOnce(context, async () => {
      const { organization, organizationId } = context.actor;
      const targets = await liveTargets(context, 'secret');
      const wanted = secrets.map(({ targetPublicKey, secretPayload }) => {
        const asked = normalizePublicKey('P256', targetPublicKey);
        const target = targets.find((candidate) => normalizePublicKey('P256', candidate.targetPublicKey) === asked);
        if (target === undefined)
          throw new ApiError('FAILED_PRECONDITION', 'targetPublicKey is not an open target of this user');
        const id: SecretId = context.newId();
        return { ownerId: id, target: { id: target.id, sealed: target.sealedTarget }, secretPayload };
      });
      const sealed = await context.keyring.importSecrets(organization.wrappedKey, organizationId, wanted);
      return wanted.map(({ ownerId, target }, index) => ({
        id: ownerId,
        targetId: target.id,
        sealedSecret: sealed[index] as Uint8Array,
      }));
    }),
  async execute(context, { secrets }, prepared) {
    const { store, actor, nowMs } = context;
    for (const [index, { id, targetId, sealedSecret }] of prepared.entries()) {
      const params = secrets[index] as (typeof secrets)[number];
      await useTarget(context, targetId);
      await store(SecretStore).insert(actor.organizationId, {
        id,
        name: params.name,
        sealedSecret,
        staticProperties: (params.staticProperties ?? []).map(({ key, value }) => ({
          key: key ?? '',
          value: value ?? '',
        })),
        createdAtMs: nowMs,
      });
    }
    return { secretIds: prepared.map((secret) => secret.id) };
  },
});
