import { expect } from 'vitest';
import { AGE_RECIPIENT, newPrivateKey, newRecoveryKit, newWallet } from '../../../test/fixtures/keys.ts';
import type { TestClient } from '../../../test/harness/client.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { anId, EMPTY_PAGE, keep, keptOf, notFound } from '../../../test/operations/every-case.ts';
import { byRoot } from '../../../test/operations/hostile-case.ts';
import type { Tenant } from '../../../test/operations/tenant.ts';

const kits = async (reader: TestClient) => (await reader.query('list_recovery_kits')).body.recoveryKits;
const isExported = async (reader: TestClient, walletId: string): Promise<boolean> =>
  (await reader.query('get_wallet', { walletId })).body.wallet.exported;

/** One of an organization that had none and has no keys but a wallet. */
async function kitOf(client: TestClient): Promise<string> {
  await newWallet(client);
  return await newRecoveryKit(client);
}

/** Only the newest are kept: the tenant's kit, or a new one where others have taken its place. */
async function presentKit({ root, ids }: Tenant): Promise<string> {
  const present = (await kits(root)).some(
    ({ recoveryKitId }: { recoveryKitId: string }) => recoveryKitId === ids.recoveryKit,
  );
  if (!present) ids.recoveryKit = await newRecoveryKit(root);
  return ids.recoveryKit;
}

const shown = (recoveryKitId: unknown) => ({
  recoveryKitId,
  activityId: anId,
  recipients: [AGE_RECIPIENT],
  sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  sizeBytes: expect.any(Number),
  pieceCount: 1,
  walletCount: 1,
  createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
});

export const cases: DomainCases = {
  create_recovery_kit: {
    activity: {
      intentKey: 'createRecoveryKitIntent',
      resultKey: 'createRecoveryKitResult',
      arrange: async ({ root }) => {
        const { walletId } = await newWallet(root);
        const { privateKeyId } = await newPrivateKey(root);
        const { activityId: _, recipients: __, createdAt: ___, ...result } = shown(anId);
        return {
          parameters: { recipients: [AGE_RECIPIENT] },
          result: { ...result, privateKeyCount: 1, walletIds: [walletId], privateKeyIds: [privateKeyId] },
          holds: async (reader) => {
            expect(await kits(reader)).toEqual([{ ...shown(anId), privateKeyCount: 1 }]);
            expect(await isExported(reader, walletId)).toBe(true);
          },
          absent: async (reader) => {
            expect(await kits(reader)).toEqual([]);
            expect(await isExported(reader, walletId)).toBe(false);
          },
        };
      },
    },
    hostile: byRoot(() => ({ recipients: [AGE_RECIPIENT] })),
  },
  delete_recovery_kits: {
    activity: {
      intentKey: 'deleteRecoveryKitsIntent',
      resultKey: 'deleteRecoveryKitsResult',
      arrange: async ({ root }) => {
        const recoveryKitId = await kitOf(root);
        return {
          parameters: { recoveryKitIds: [recoveryKitId] },
          result: { recoveryKitIds: [recoveryKitId] },
          holds: async (reader) => expect(await kits(reader)).toEqual([]),
          absent: async (reader) => expect(await kits(reader)).toMatchObject([{ recoveryKitId }]),
        };
      },
      foreign: async ({ root }, other) => notFound({ recoveryKitIds: [await kitOf(root), await kitOf(other.root)] }),
    },
    // Each request deletes a kit of its own.
    hostile: byRoot(async ({ root }) => ({ recoveryKitIds: [await newRecoveryKit(root)] })),
  },
  get_recovery_kit: {
    query: {
      // Its pieces are for the root quorum alone: test/flows/recovery-kits.test.ts.
      parameters: async (world) => keep(world, { recoveryKitId: await kitOf(world.root) }),
      answer: (world) => ({ recoveryKit: { ...shown(keptOf(world).recoveryKitId), privateKeyCount: 0 } }),
    },
    hostile: byRoot(async (tenant) => ({ recoveryKitId: await presentKit(tenant) })),
  },
  list_recovery_kits: {
    query: { answer: () => ({ recoveryKits: [], pageInfo: EMPTY_PAGE }) },
    hostile: byRoot(() => ({})),
  },
};
