import type { Keyring } from '@custos/keyring';
import { InstallationReader } from '../core/store/installation.ts';
import { SealedReader } from '../core/store/sealed.ts';
import { isMove, parseRotation } from '../key-rotation/rotation.ts';
import { describeUses, rootKeyIdsOf, usesOf } from '../key-rotation/uses.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';

/**
 * Refuses a ring that lacks a key which others use already: a rotation from it would have the other rings replaced by this
 * one, and what is under that key would be lost.
 */
export async function requireWholeRing(storage: Storage, keyring: Keyring, ring: string): Promise<void> {
  const { ids, retired = [] } = await keyring.refreshRing();
  const facts = await storage.read(InstallationReader).facts(['rotation', 'deployment_key']);
  const lacks = (id: string): boolean => !ids.includes(id);
  const where = (id: string): string =>
    retired.some((key) => key.id === id)
      ? `which was retired in ${ring} (\`custos keyring unretire ${printable(id)}\` brings it back)`
      : `which ${ring} does not hold`;
  const pending = parseRotation(facts.get('rotation'));
  if (isMove(pending) && lacks(pending.to)) {
    throw new StartError(
      `a rotation was begun with another key ring, to root key ${printable(pending.to)}, ${where(pending.to)}. Run the command on the machine where it was begun, or copy the key ring from there first; nothing was changed`,
    );
  }
  const used = [...(await storage.read(SealedReader).rootKeyIds()), ...rootKeyIdsOf(facts.get('deployment_key'))];
  const lacking = used.find(lacks);
  if (lacking === undefined) return;
  const uses = describeUses(await usesOf(storage, lacking));
  throw new StartError(
    `root key ${lacking}, ${where(lacking)}, is needed by ${uses.join(', ')}. Copy the key ring that holds it here first; nothing was changed`,
  );
}
