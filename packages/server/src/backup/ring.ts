import { readFile, stat } from 'node:fs/promises';
import { createKeyring, parseRootKeySetting } from '@custos/keyring';
import type { Config } from '../config/config.ts';
import { StartError } from '../lib/start-error.ts';
import type { ArchivedRing } from './archive/parts.ts';

/** Far more than the keys that a ring may hold. */
const RING_BYTES_MAX = 64 * 1024;

/** What puts the key ring into a backup. What is sure to fail fails before anything is read. */
export async function ringReader({
  rootKey,
  keyring,
}: Config): Promise<(rootKeyIds: readonly string[]) => Promise<ArchivedRing>> {
  if (typeof keyring === 'object') {
    throw new StartError(
      'a keyring on a socket gives its key ring to nobody: leave out --with-keys and keep a copy of the ring apart, or run this as root or as its user, with CUSTOS_ROOT_KEY as it has it and without CUSTOS_KEYRING and CUSTOS_KEYRING_KEY_FILE',
    );
  }
  await readRing(rootKey);
  return (rootKeyIds) => readRingWith(rootKey, rootKeyIds);
}

/** The file, and only if it has every key that the rows need: it is read at the end, so that it has those of a rotation too. */
async function readRingWith(rootKey: string, rootKeyIds: readonly string[]): Promise<ArchivedRing> {
  const ring = await readRing(rootKey);
  const opened = await createKeyring({ rootKey, mode: 'inline' });
  try {
    const { ids, retired = [] } = await opened.refreshRing();
    const known = [...ids, ...retired.map(({ id }) => id)];
    const missing = rootKeyIds.filter((id) => !known.includes(id));
    if (missing.length === 0) return ring;
    throw new StartError(
      `the key ring ${rootKey} lacks root key ${missing.join(', ')}, which the database needs: use the key ring of the service, or leave out --with-keys`,
    );
  } finally {
    await opened.close();
  }
}

async function readRing(rootKey: string): Promise<ArchivedRing> {
  const { provider, ringPath } = parseRootKeySetting(rootKey);
  try {
    const { size } = await stat(ringPath);
    if (size > RING_BYTES_MAX) throw new Error('it is too large for a key ring');
    return { provider, ring: await readFile(ringPath) };
  } catch (error) {
    throw new StartError(`cannot read the key ring ${ringPath}: ${(error as Error).message}`);
  }
}
