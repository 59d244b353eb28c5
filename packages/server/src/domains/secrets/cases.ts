import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { newSecret, opensTo, RECEIVER, SUITE, secretParams } from '../../../test/fixtures/keys.ts';
import { newSecretTargets, Receiver, readSigned } from '../../../test/harness/bundles.ts';
import type { TestClient } from '../../../test/harness/client.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { anId, EMPTY_PAGE, notFound, nothing } from '../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../test/operations/hostile-case.ts';

const secrets = async (reader: TestClient) => (await reader.query('list_secrets')).body.secrets;

export const cases: DomainCases = {
  init_import_secrets: {
    activity: {
      intentKey: 'initImportSecretsIntent',
      resultKey: 'initImportSecretsResult',
      arrange: async ({ root }) => {
        const aTarget = expect.toSatisfy((bundle: string) => {
          const { organizationId, targetPublic = '', ...more } = readSigned(bundle);
          const isPoint = /^04[0-9a-f]{128}$/.test(targetPublic);
          return isPoint && organizationId === root.organizationId && Object.keys(more).length === 0;
        }, 'a target of this organization');
        return {
          parameters: { encryptionSuite: SUITE, numSecrets: 2 },
          result: { enclaveTargetMessages: [aTarget, aTarget] },
          holds: nothing,
          absent: nothing,
        };
      },
    },
    hostile: byRoot(() => ({ encryptionSuite: SUITE, numSecrets: 1 })),
  },
  import_secrets: {
    activity: {
      intentKey: 'importSecretsIntent',
      resultKey: 'importSecretsResult',
      arrange: async ({ root }) => {
        const params = (await newSecretTargets(root, 2)).map((target) =>
          secretParams(`Secret ${randomUUID()}`, target),
        );
        const stored = params.map(({ name, staticProperties }) => ({
          secretId: anId,
          name,
          staticProperties,
          createdAtUnixMs: expect.stringMatching(/^\d{13}$/),
        }));
        return {
          parameters: { secrets: params },
          result: { secretIds: [anId, anId] },
          holds: async (reader) => expect(await secrets(reader)).toEqual([...stored].reverse()),
          absent: async (reader) => expect(await secrets(reader)).toEqual([]),
        };
      },
      foreign: async ({ root }, other) => {
        await newSecretTargets(root);
        const [target = ''] = await newSecretTargets(other.root);
        const parameters = { secrets: [secretParams('x', target)] };
        return { parameters, status: 400, code: 'FAILED_PRECONDITION' };
      },
    },
    hostile: byRoot(async (tenant) => {
      const [target = ''] = await newSecretTargets(tenant.root);
      return { secrets: [secretParams(fresh(tenant), target)] };
    }),
    ids: { 'secrets.0.targetPublicKey': ['secretTarget'] },
  },
  export_secrets: {
    activity: {
      intentKey: 'exportSecretsIntent',
      resultKey: 'exportSecretsResult',
      arrange: async ({ root }) => {
        const secretId = await newSecret(root, 'the secret');
        const receiver = new Receiver();
        return {
          parameters: { secrets: [{ secretId, targetPublicKey: receiver.publicKey, encryptionSuite: SUITE }] },
          result: {
            secretPayloads: [opensTo(receiver, root, (plaintext) => plaintext.toString() === 'what the secret hides')],
          },
          holds: nothing,
          absent: nothing,
        };
      },
      foreign: async ({ root }, other) => {
        const to = { targetPublicKey: new Receiver().publicKey, encryptionSuite: SUITE };
        const ids = [await newSecret(root, 'mine'), await newSecret(other.root, 'theirs')];
        return notFound({ secrets: ids.map((secretId) => ({ secretId, ...to })) });
      },
    },
    hostile: byRoot((tenant) => ({
      secrets: [
        {
          secretId: tenant.ids.secret,
          targetPublicKey: RECEIVER.publicKey,
          encryptionSuite: SUITE,
          requestContext: [{ key: 'reason', value: 'test' }],
        },
      ],
    })),
  },
  delete_secrets: {
    activity: {
      intentKey: 'deleteSecretsIntent',
      resultKey: 'deleteSecretsResult',
      arrange: async ({ root }) => {
        const secretId = await newSecret(root, 'the secret');
        return {
          parameters: { secretIds: [secretId] },
          result: { secretIds: [secretId] },
          holds: async (reader) => expect(await secrets(reader)).toEqual([]),
          absent: async (reader) => expect(await secrets(reader)).toMatchObject([{ secretId }]),
        };
      },
      foreign: async ({ root }, other) =>
        notFound({ secretIds: [await newSecret(root, 'mine'), await newSecret(other.root, 'theirs')] }),
    },
    hostile: byRoot(async (tenant) => ({ secretIds: [await newSecret(tenant.root, fresh(tenant))] })),
  },
  list_secrets: {
    query: { answer: () => ({ secrets: [], pageInfo: EMPTY_PAGE }) },
    hostile: byRoot(() => ({})),
  },
};
