import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codeOf } from '../../test/fixtures/client.ts';
import { createKeyring, type KeyringError, RETIRED_KEY_KEPT_MS, resealRing } from '../index.ts';
import { systemRandom } from './envelope.ts';
import { decodeRing, encodeRing, INTEGRITY_IDS_MAX, KEYS_MAX, RING_BYTES_MAX, type Ring } from './ring-file.ts';
import { RootKeyRing } from './root-key.ts';

const ONE = '0a'.repeat(16);
const OTHER = 'fe'.repeat(16);
const idOf = (index: number): string => index.toString(16).padStart(32, '0');

let folder: string;
let path: string;
let rootKey: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-required-'));
  path = join(folder, 'root.key');
  rootKey = `file:${path}`;
});

afterEach(() => rm(folder, { recursive: true }));

const refusalOf = (promise: Promise<unknown>): Promise<KeyringError> =>
  promise.then(
    () => new Error('no refusal'),
    (error: unknown) => error,
  ) as Promise<KeyringError>;

describe('integrity that is required', () => {
  test('is in the ring from then on, in the order in which it was, and once', async () => {
    await using keyring = await createKeyring({ rootKey, create: true });
    const { active, ids } = await keyring.refreshRing();
    expect(await keyring.integrityRequired()).toEqual([]);
    for (const id of [OTHER, ONE, OTHER]) await keyring.requireIntegrity(id);
    expect(await keyring.refreshRing()).toEqual({ active, ids, requiresIntegrity: [OTHER, ONE] });
    const answer = await keyring.integrityRequired();
    expect(answer).toEqual([OTHER, ONE]);
    // The answer is the caller's.
    answer.length = 0;
    expect(await keyring.integrityRequired()).toEqual([OTHER, ONE]);
    await using later = await createKeyring({ rootKey });
    expect(await later.integrityRequired()).toEqual([OTHER, ONE]);
    expect(await readdir(folder)).toEqual(['root.key']);
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('to require it again writes nothing, and does not wait for who has the lock', async () => {
    await using keyring = await createKeyring({ rootKey, create: true });
    await keyring.requireIntegrity(ONE);
    const { ino, mtimeNs } = await stat(path, { bigint: true });
    await writeFile(`${path}.lock`, 'somebody');
    await keyring.requireIntegrity(ONE);
    const after = await stat(path, { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([ino, mtimeNs]);
    expect(await codeOf(keyring.requireIntegrity(OTHER))).toBe('UNAVAILABLE');
    expect(await keyring.integrityRequired()).toEqual([ONE]);
  });

  test('another keyring of the ring sees it when it looks', async () => {
    await using one = await createKeyring({ rootKey, create: true });
    await using other = await createKeyring({ rootKey });
    expect(await other.integrityRequired()).toEqual([]);
    await one.requireIntegrity(ONE);
    expect(await other.integrityRequired()).toEqual([ONE]);
    await other.requireIntegrity(OTHER);
    expect((await one.refreshRing()).requiresIntegrity).toEqual([ONE, OTHER]);
  });

  test('sixteen are the most, and the seventeenth is refused with what is wrong', async () => {
    await using keyring = await createKeyring({ rootKey, create: true });
    const required = Array.from({ length: INTEGRITY_IDS_MAX }, (_, index) => idOf(index));
    for (const id of required) await keyring.requireIntegrity(id);
    const bytes = await readFile(path);
    const refusal = await refusalOf(keyring.requireIntegrity(idOf(16)));
    expect([refusal.code, refusal.message]).toEqual([
      'INVALID_INPUT',
      'the key ring requires 16 integrity keys already, and holds no more',
    ]);
    // One that is among them is no further one.
    await keyring.requireIntegrity(idOf(15));
    expect((await readFile(path)).equals(bytes)).toBe(true);
    expect(await keyring.integrityRequired()).toEqual(required);
  });

  test('of several that are required while root keys are added none is lost', async () => {
    const keyrings = await Promise.all(Array.from({ length: 4 }, () => createKeyring({ rootKey, create: true })));
    const insist = async (change: () => Promise<unknown>): Promise<void> => {
      while ((await change().catch((error: { code: string }) => error.code)) === 'UNAVAILABLE');
    };
    await Promise.all(
      keyrings.map(async (keyring, index) => {
        for (let count = 0; count < 3; count += 1) {
          await insist(() => keyring.requireIntegrity(idOf(3 * index + count)));
          await insist(() => keyring.addRootKey());
        }
      }),
    );
    const state = await keyrings[0]?.refreshRing();
    expect(state?.ids).toHaveLength(1 + 12);
    expect([...(state?.requiresIntegrity ?? [])].sort()).toEqual(Array.from({ length: 12 }, (_, index) => idOf(index)));
    for (const keyring of keyrings) await keyring.close();
  });

  test('stays whatever else is changed in the ring', async () => {
    const ring = await RootKeyRing.open(rootKey, true, systemRandom);
    await ring.requireIntegrity(ONE);
    const first = ring.activeId;
    const stays = async (change: Promise<unknown>): Promise<void> => {
      await change;
      expect(ring.requiresIntegrity).toEqual([ONE, OTHER].slice(0, ring.requiresIntegrity.length));
      const later = await RootKeyRing.open(rootKey, false, systemRandom);
      expect(later.requiresIntegrity).toEqual(ring.requiresIntegrity);
      expect(ring.requiresIntegrity.length).toBeGreaterThan(0);
    };
    await stays(ring.add(systemRandom));
    const second = ring.activeId;
    await stays(ring.retire(first, 1));
    await stays(ring.requireIntegrity(OTHER));
    expect(ring.state.retired?.map(({ id }) => id)).toEqual([first]);
    await stays(ring.restore(first));
    await stays(ring.retire(first, 1));
    await stays(ring.removeExpired([first], 1 + RETIRED_KEY_KEPT_MS));
    await stays(ring.add(systemRandom));
    await stays(ring.remove(second));
    expect(ring.requiresIntegrity).toEqual([ONE, OTHER]);
  });

  test('a ring that lacks one is not taken unless it is asked for', async () => {
    const ring = await RootKeyRing.open(rootKey, true, systemRandom);
    const id = ring.activeId;
    const before = await readFile(path);
    await using keyring = await createKeyring({ rootKey });
    await keyring.requireIntegrity(ONE);
    await ring.follow();
    expect(ring.requiresIntegrity).toEqual([ONE]);
    // The file of before, as when it is copied in the wrong direction.
    await writeFile(path, before, { mode: 0o600 });
    const refusal = await refusalOf(ring.follow());
    expect(refusal.message).toMatch(
      new RegExp(`replaced by a ring that does not require integrity key ${ONE}: put it`),
    );
    expect(ring.state).toEqual({ active: id, ids: [id], requiresIntegrity: [ONE] });
    expect(await codeOf(keyring.integrityRequired())).toBe('ROOT_KEY_INVALID');
    expect(await codeOf(keyring.requireIntegrity(OTHER))).toBe('ROOT_KEY_INVALID');
    expect(await ring.refresh()).toEqual({ active: id, ids: [id] });
    // One that is away is no ring that requires nothing.
    await rm(path);
    for (const call of [() => keyring.integrityRequired(), () => keyring.requireIntegrity(ONE)])
      expect(await codeOf(call())).toBe('ROOT_KEY_MISSING');
  });

  test('many that look at a changed file at once read it once', async () => {
    const ring = await RootKeyRing.open(rootKey, true, systemRandom);
    await using keyring = await createKeyring({ rootKey });
    await keyring.requireIntegrity(ONE);
    const before = ring.state;
    await Promise.all(Array.from({ length: 20 }, () => ring.follow()));
    const { state } = ring;
    expect(state).not.toBe(before);
    await ring.follow();
    expect(ring.state).toBe(state);
  });
});

describe('with a passphrase', { timeout: 120_000 }, () => {
  const passphraseAt = async (name: string, text: string): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, text, { mode: 0o600 });
    return `passphrase-file:${file}`;
  };

  test('it is required, and stays when the ring is sealed anew, under another passphrase too', async () => {
    const made = await passphraseAt('made', 'a passphrase of some length\n');
    await using keyring = await createKeyring({ rootKey: made, create: true });
    await keyring.requireIntegrity(ONE);
    const wrapped = await keyring.createOrganizationKey('organization-1');
    const state = await keyring.refreshRing();
    expect(state.requiresIntegrity).toEqual([ONE]);
    const one = await passphraseAt('one', 'another passphrase, also long');
    const two = await passphraseAt('two', 'a third passphrase, as long as that');
    const places = [made, one, two, rootKey, await passphraseAt('again', 'a passphrase of some length')];
    for (const [index, to] of places.slice(1).entries()) {
      await resealRing(places[index] ?? '', to);
      await using opened = await createKeyring({ rootKey: to });
      expect(await opened.refreshRing()).toEqual(state);
      expect(await opened.rewrapOrganizationKey('organization-1', wrapped)).toEqual(wrapped);
    }
    // Of a ring of wrapped keys, it is required without stretching for others.
    await using last = await createKeyring({ rootKey: two });
    await last.requireIntegrity(OTHER);
    await last.addRootKey();
    await using later = await createKeyring({ rootKey: two });
    expect(await later.integrityRequired()).toEqual([ONE, OTHER]);
    expect((await later.refreshRing()).ids).toHaveLength(2);
    const image = await readFile(join(folder, 'two.ring'));
    for (const offset of [8, image.length - 33, image.length - 50, image.length - 65]) {
      const bytes = Buffer.from(image);
      bytes.writeUInt8(bytes.readUInt8(offset) ^ 0x04, offset);
      await writeFile(join(folder, 'two.ring'), bytes, { mode: 0o600 });
      expect([offset, await codeOf(createKeyring({ rootKey: two }))]).toEqual([offset, 'ROOT_KEY_INVALID']);
    }
  });
});

describe('the ring file', () => {
  const ringNow = async (): Promise<Ring> => decodeRing(await readFile(path), 'file', path);
  const versionIn = async (): Promise<number | undefined> => (await readFile(path))[8];
  const bytesOf = (id: string): Uint8Array => Uint8Array.from(Buffer.from(id, 'hex'));

  test('has the third version with such an id only, and is else what it was before there was one', async () => {
    const ring = await RootKeyRing.open(rootKey, true, systemRandom);
    const plain = await readFile(path);
    expect(plain[8]).toBe(1);
    expect(encodeRing({ ...(await ringNow()), requiresIntegrity: [] })).toEqual(Uint8Array.from(plain));
    await ring.requireIntegrity(ONE);
    const single = await readFile(path);
    // A time for the key, the number and the id, the digest.
    expect([single[8], single.length]).toEqual([3, plain.length + 8 + 1 + 16 + 32]);
    expect(single.subarray(-49, -32).toString('hex')).toBe(`01${ONE}`);
    await ring.add(systemRandom);
    expect(await versionIn()).toBe(3);
    const { requiresIntegrity, ...without } = await ringNow();
    expect(requiresIntegrity).toHaveLength(1);
    expect(encodeRing(without)[8]).toBe(2);
  });

  test('is refused by programs that know no such section, as every unknown version is', async () => {
    const ring = await RootKeyRing.open(rootKey, true, systemRandom);
    await ring.requireIntegrity(ONE);
    const bytes = await readFile(path);
    for (const version of [0, 4, 5, 255]) {
      bytes[8] = version;
      expect(() => decodeRing(bytes, 'file', path)).toThrow(/is a key ring of an unknown version/);
    }
    // Nor can it be passed off as one of theirs.
    for (const version of [1, 2]) {
      bytes[8] = version;
      expect(() => decodeRing(bytes, 'file', path)).toThrow(/is damaged/);
    }
  });

  test('is damaged by any bit, by any byte too few or too many', async () => {
    const ring = await RootKeyRing.open(rootKey, true, systemRandom);
    for (const id of [ONE, OTHER]) await ring.requireIntegrity(id);
    const bytes = await readFile(path);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >>> 3) ^ (1 << (bit & 7)), bit >>> 3);
      expect(() => decodeRing(flipped, 'file', path)).toThrow();
    }
    const longer = Buffer.concat([bytes, Buffer.alloc(64)]);
    for (let length = 0; length < longer.length; length += 1) {
      if (length !== bytes.length) expect(() => decodeRing(longer.subarray(0, length), 'file', path)).toThrow();
    }
  });

  test('has 1 to 16 ids, each once', async () => {
    const ring = await RootKeyRing.open(rootKey, true, systemRandom);
    await ring.requireIntegrity(ONE);
    const decoded = await ringNow();
    const withIds = (ids: readonly string[]): Uint8Array =>
      encodeRing({ ...decoded, requiresIntegrity: ids.map(bytesOf) });
    const sixteen = Array.from({ length: INTEGRITY_IDS_MAX }, (_, index) => idOf(index));
    const read = decodeRing(withIds(sixteen), 'file', path).requiresIntegrity ?? [];
    expect(read.map((id) => Buffer.from(id).toString('hex'))).toEqual(sixteen);
    for (const ids of [
      [ONE, ONE],
      [...sixteen, ONE],
      [ONE, OTHER, ONE],
    ])
      expect(() => decodeRing(withIds(ids), 'file', path)).toThrow(/is damaged/);
    // None, with a digest that is right: no program writes that.
    const { createHash } = await import('node:crypto');
    const content = Buffer.from(withIds([ONE])).subarray(0, -48);
    content.writeUInt8(0, content.length - 1);
    const empty = Buffer.concat([content, createHash('sha256').update(content).digest()]);
    expect(() => decodeRing(empty, 'file', path)).toThrow(/is damaged/);
  });

  test('has room for all that it can hold', async () => {
    const entry = { material: new Uint8Array(60), check: new Uint8Array(32), retiredAtMs: 1 };
    const largest = encodeRing({
      provider: 'wrapped',
      activeId: new Uint8Array(16),
      salt: new Uint8Array(32),
      entries: Array.from({ length: KEYS_MAX }, (_, index) => ({ ...entry, id: bytesOf(idOf(index)) })),
      requiresIntegrity: Array.from({ length: INTEGRITY_IDS_MAX }, (_, index) => bytesOf(idOf(index))),
    });
    expect(largest.length).toBe(RING_BYTES_MAX);
  });
});
