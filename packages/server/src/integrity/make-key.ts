import type { Keyring } from '@custos/keyring';
import { InstallationStore } from '../core/store/installation.ts';
import { MarkedRowStore } from '../core/store/marked-rows.ts';
import { openInstallationKey } from '../installation-key.ts';
import { writeBeside } from '../keyring-admin/beside.ts';
import type { Storage } from '../storage/storage.ts';

/** Makes the key of a generation and stores it; undefined where somebody else was first. */
export async function makeKey(
  storage: Storage,
  keyring: Keyring,
  generation: number,
  nowMs: number,
): Promise<string | undefined> {
  const wrapped = await openInstallationKey(storage, keyring);
  const { keyId, sealed } = await keyring.createIntegrityKey(Buffer.from(wrapped, 'hex'), generation);
  return await writeBeside(storage, async (store) => {
    // Writing the row locks it: of several processes that start at once the later ones find what the first added.
    if (!(await store(InstallationStore).exchange('deployment_key', wrapped, wrapped))) return undefined;
    const newest = (await store(MarkedRowStore).keys()).at(-1)?.generation ?? 0;
    if (newest >= generation) return undefined;
    await store(MarkedRowStore).insertKey({ keyId, generation, sealedKey: sealed }, nowMs);
    return keyId;
  });
}
