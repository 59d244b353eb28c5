import { Buffer } from 'node:buffer';
import { KeyringError } from '../errors.ts';
import { EntryKeys } from './entry-keys.ts';
import { type RandomBytes, systemRandom } from './envelope.ts';
import { createPrivateFile, readPrivateFile, removeLeftovers, targetOf } from './private-file.ts';
import * as ringFile from './ring-file.ts';
import { withRingLock } from './ring-lock.ts';
import { wrongKey } from './root-key.ts';
import { parseRootKeySetting, type RootKeySource } from './root-key-setting.ts';

/** Where the ring now also is, and where it was. */
export interface Resealed {
  readonly from: string;
  readonly to: string;
  readonly keys: number;
}

/**
 * Writes all keys of a ring, with their ids, with those that are retired and with the integrity keys that it requires,
 * into a new ring elsewhere: as they are, or encrypted under a passphrase. The old ring stays as it is, so that there is
 * a whole ring at every moment.
 */
export async function resealRing(from: string, to: string, random: RandomBytes = systemRandom): Promise<Resealed> {
  const source = parseRootKeySetting(from);
  const target = parseRootKeySetting(to);
  if (target.ringPath === source.ringPath) {
    throw new KeyringError('INVALID_INPUT', `${to} is where the key ring is already: name another file`);
  }
  const bytes = await readPrivateFile(source.ringPath, ringFile.RING_BYTES_MAX);
  let resealed: Uint8Array | undefined;
  try {
    const ring = ringFile.decodeRing(bytes, source.provider, source.ringPath);
    // Stretching takes seconds, for which nobody else has to wait.
    resealed = await encodeFor(target, ring, source, random);
    const made = resealed;
    const ringPath = targetOf(source.ringPath);
    await withRingLock(ringPath, async (checkLock) => {
      await requireSame(ringPath, bytes);
      for (const path of [ringPath, target.ringPath]) await removeLeftovers(path);
      await checkLock();
      if (!(await createPrivateFile(target.ringPath, made, { like: source.ringPath }))) {
        throw new KeyringError('INVALID_INPUT', `${target.ringPath} exists already: nothing was changed`);
      }
    });
    await requireOpens(target);
    return { from: source.ringPath, to: target.ringPath, keys: ring.entries.length };
  } finally {
    bytes.fill(0);
    resealed?.fill(0);
  }
}

/** A key that was added meanwhile would be missing in the new ring. */
async function requireSame(path: string, bytes: Uint8Array): Promise<void> {
  const now = await readPrivateFile(path, ringFile.RING_BYTES_MAX);
  const isSame = Buffer.from(now.buffer, now.byteOffset, now.byteLength).equals(bytes);
  now.fill(0);
  if (!isSame) throw new KeyringError('UNAVAILABLE', `${path} was changed meanwhile: run the command again`);
}

/** Every key of the new ring, before anybody relies on it: a start would not open the retired ones. */
async function requireOpens(target: RootKeySource): Promise<void> {
  const bytes = await readPrivateFile(target.ringPath, ringFile.RING_BYTES_MAX);
  let entryKeys: EntryKeys | undefined;
  try {
    const ring = ringFile.decodeRing(bytes, target.provider, target.ringPath);
    entryKeys = new EntryKeys(ring, target.passphrasePath);
    for (const entry of ring.entries) {
      const { key, isRight } = await entryKeys.open(entry);
      key.fill(0);
      if (!isRight) throw wrongKey(target);
    }
  } finally {
    entryKeys?.wipe();
    bytes.fill(0);
  }
}

async function encodeFor(
  target: RootKeySource,
  ring: ringFile.Ring,
  source: RootKeySource,
  random: RandomBytes,
): Promise<Uint8Array> {
  const sealing =
    target.provider === 'file'
      ? { provider: 'file' as const }
      : { provider: 'wrapped' as const, salt: random(ringFile.SALT_BYTES) };
  const opens = new EntryKeys(ring, source.passphrasePath);
  const seals = new EntryKeys(sealing, target.passphrasePath);
  const entries: ringFile.RingEntry[] = [];
  try {
    for (const entry of ring.entries) {
      const { key, isRight } = await opens.open(entry);
      try {
        if (!isRight) throw wrongKey(source);
        const sealed = await seals.seal({ id: entry.id, key }, random);
        entries.push({ ...sealed, ...(entry.retiredAtMs !== undefined && { retiredAtMs: entry.retiredAtMs }) });
      } finally {
        key.fill(0);
      }
    }
    const { activeId, requiresIntegrity = [] } = ring;
    return ringFile.encodeRing({ ...sealing, activeId, entries, requiresIntegrity });
  } finally {
    for (const { material } of entries) material.fill(0);
    opens.wipe();
    seals.wipe();
  }
}
