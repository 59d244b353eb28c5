import { writeFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codeOf } from '../../test/fixtures/client.ts';
import { createKeyring, RETIRED_KEY_KEPT_MS, resealRing } from '../index.ts';
import { systemRandom } from './envelope.ts';
import { resealRing as resealWith } from './reseal.ts';
import { decodeRing, encodeRing } from './ring-file.ts';
import { RootKeyRing } from './root-key.ts';

const binding = { organizationId: 'organization-1', ownerId: 'owner-1', kind: 'vote-message' };
const plaintext = Uint8Array.of(1, 2, 3);
const NOW = Date.UTC(2026, 10, 18);

let folder: string;
let path: string;
let rootKey: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-retire-'));
  path = join(folder, 'root.key');
  rootKey = `file:${path}`;
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => '',
    (error: Error) => error.message,
  );

describe('a ring that is looked at', () => {
  test('is taken when it keeps the active key, and only then', async () => {
    const ring = await RootKeyRing.open(rootKey, true, systemRandom);
    const own = ring.activeId;
    const file = await readFile(path);
    await using other = await createKeyring({ rootKey });
    const next = await other.addRootKey();
    // It opens what is under the new key, and wraps under it when it is asked to.
    await ring.follow();
    expect(ring.state).toEqual({ active: own, ids: [own, next] });
    expect(await ring.refresh()).toEqual({ active: next, ids: [own, next] });
    // The file of before, as when it is copied in the wrong direction: it lacks the key that is in use.
    await writeFile(path, file, { mode: 0o600 });
    expect(await messageOf(ring.follow())).toMatch(
      new RegExp(`without root key ${next}, which is in use: put it back$`),
    );
    expect(ring.state).toEqual({ active: next, ids: [own, next] });
    await rm(path);
    expect(await codeOf(ring.follow())).toBe('ROOT_KEY_MISSING');
    expect(ring.has(next)).toBe(true);
    // Whoever asks for it gets what is there.
    await writeFile(path, file, { mode: 0o600 });
    expect(await ring.refresh()).toEqual({ active: own, ids: [own] });
  });
});

describe('a retired root key', () => {
  test('stays in the ring, opens nothing, and comes back when asked', async () => {
    await using keyring = await createKeyring({ rootKey, create: true });
    const old = keyring.rootKeyId;
    const wrapped = await keyring.createOrganizationKey(binding.organizationId);
    const blob = await keyring.seal(wrapped, binding, plaintext);
    const added = await keyring.addRootKey();
    const before = Date.now();
    await keyring.retireRootKey(old);
    const state = await keyring.refreshRing();
    expect(state).toEqual({ active: added, ids: [added], retired: [{ id: old, retiredAtMs: expect.any(Number) }] });
    expect(state.retired?.[0]?.retiredAtMs).toBeGreaterThanOrEqual(before);
    expect(keyring.hasRootKey(old)).toBe(false);
    expect(await codeOf(keyring.open(wrapped, binding, blob))).toBe('UNKNOWN_ROOT_KEY');
    expect(await messageOf(keyring.open(wrapped, binding, blob))).toMatch(
      /was retired at 20.*`custos keyring unretire`/,
    );
    // Also for a keyring that starts, and one that had it open.
    await using later = await createKeyring({ rootKey });
    expect(await codeOf(later.open(wrapped, binding, blob))).toBe('UNKNOWN_ROOT_KEY');
    // A second time changes nothing, not even the time.
    await keyring.retireRootKey(old);
    expect(await keyring.refreshRing()).toEqual(state);
    await keyring.addRootKey();
    expect((await keyring.refreshRing()).retired).toEqual(state.retired);
    await keyring.restoreRootKey(old);
    expect((await keyring.refreshRing()).retired).toBeUndefined();
    expect([...(await keyring.open(wrapped, binding, blob))]).toEqual([...plaintext]);
    expect(await readdir(folder)).toEqual(['root.key']);
  });

  test('counts as retired no sooner than its caller says', async () => {
    await using keyring = await createKeyring({ rootKey, create: true });
    const old = keyring.rootKeyId;
    await keyring.addRootKey();
    for (const time of [-1, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER, '1'])
      expect(await codeOf(keyring.retireRootKey(old, time as number))).toBe('INVALID_INPUT');
    const later = Date.now() + 1_000_000;
    await keyring.retireRootKey(old, later);
    expect((await keyring.refreshRing()).retired).toEqual([{ id: old, retiredAtMs: later }]);
    await keyring.restoreRootKey(old);
    const before = Date.now();
    await keyring.retireRootKey(old, 1);
    expect((await keyring.refreshRing()).retired?.[0]?.retiredAtMs).toBeGreaterThanOrEqual(before);
  });

  test('is neither the active one nor one that is not there', async () => {
    await using keyring = await createKeyring({ rootKey, create: true });
    const bytes = await readFile(path);
    expect(await codeOf(keyring.retireRootKey(keyring.rootKeyId))).toBe('INVALID_INPUT');
    for (const call of ['retireRootKey', 'restoreRootKey'] as const)
      expect(await codeOf(keyring[call]('00'.repeat(16)))).toBe('UNKNOWN_ROOT_KEY');
    expect((await readFile(path)).equals(bytes)).toBe(true);
  });

  test('leaves the ring 30 days later and not before, and only if it is named', async () => {
    const ring = await RootKeyRing.open(rootKey, true, systemRandom);
    const [first, second] = [ring.activeId, await ring.add(systemRandom)];
    const active = await ring.add(systemRandom);
    for (const id of [first, second]) await ring.retire(id, NOW);
    const bytes = await readFile(path);
    expect(await ring.removeExpired([first, active], NOW + RETIRED_KEY_KEPT_MS - 1)).toEqual([]);
    expect((await readFile(path)).equals(bytes)).toBe(true);
    expect(await ring.removeExpired([first, active], NOW + RETIRED_KEY_KEPT_MS)).toEqual([first]);
    expect(ring.state).toEqual({ active, ids: [active], retired: [{ id: second, retiredAtMs: NOW }] });
    // A key in use never expires, however old it is.
    expect(await ring.removeExpired([active], NOW + 100 * RETIRED_KEY_KEPT_MS)).toEqual([]);
  });

  test('stays in a ring of the second version, which programs that destroy earlier keys refuse', async () => {
    const ring = await RootKeyRing.open(rootKey, true, systemRandom);
    const first = ring.activeId;
    expect((await readFile(path))[8]).toBe(1);
    await ring.add(systemRandom);
    const bytes = await readFile(path);
    expect(bytes[8]).toBe(2);
    await ring.retire(first, NOW);
    const retired = await readFile(path);
    expect([retired[8], retired.length]).toEqual([2, bytes.length]);
    const decoded = decodeRing(retired, 'file', path);
    expect(decoded.entries.map(({ retiredAtMs }) => retiredAtMs)).toEqual([NOW, undefined]);
    await ring.restore(first);
    expect((await readFile(path)).equals(bytes)).toBe(true);
    await ring.remove(first);
    expect((await readFile(path))[8]).toBe(1);
    // No other check covers a retired key or its time.
    for (let offset = 0; offset < retired.length; offset += 1) {
      const flipped = Buffer.from(retired);
      flipped.writeUInt8(flipped.readUInt8(offset) ^ 0x01, offset);
      expect(() => decodeRing(flipped, 'file', path)).toThrow();
    }
    // The active key is never a retired one.
    const damaged = encodeRing({ ...decoded, activeId: decoded.entries[0]?.id ?? new Uint8Array(16) });
    expect(() => decodeRing(damaged, 'file', path)).toThrow(/is damaged/);
    for (const length of [retired.length - 1, retired.length + 1, 40])
      expect(() => decodeRing(Buffer.concat([retired, Buffer.alloc(9)]).subarray(0, length), 'file', path)).toThrow(
        /is damaged/,
      );
  });
});

describe('a ring that is sealed anew', { timeout: 120_000 }, () => {
  const passphraseAt = async (name: string, text: string): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, text, { mode: 0o600 });
    return `passphrase-file:${file}`;
  };

  test('holds the same keys under a passphrase, under another, and in a file again', async () => {
    await using keyring = await createKeyring({ rootKey, create: true });
    const old = keyring.rootKeyId;
    const wrapped = await keyring.createOrganizationKey(binding.organizationId);
    const blob = await keyring.seal(wrapped, binding, plaintext);
    await keyring.addRootKey();
    await keyring.addRootKey();
    const gone = (await keyring.refreshRing()).ids[1] ?? '';
    await keyring.retireRootKey(gone);
    const state = await keyring.refreshRing();

    const one = await passphraseAt('one', 'a passphrase of some length\n');
    const two = await passphraseAt('two', 'another passphrase, also long');
    const places = [rootKey, one, two, `file:${join(folder, 'again.key')}`];
    for (const [index, to] of places.slice(1).entries()) {
      const from = places[index] ?? '';
      expect(await resealRing(from, to)).toMatchObject({ keys: 3 });
      await using opened = await createKeyring({ rootKey: to });
      expect(await opened.refreshRing()).toEqual(state);
      expect([...(await opened.open(wrapped, binding, blob))]).toEqual([...plaintext]);
    }
    const image = await readFile(path);
    expect((await readFile(join(folder, 'again.key'))).equals(image)).toBe(true);
    // No key is in a ring of wrapped keys as it is.
    const ringBytes = await readFile(join(folder, 'one.ring'));
    for (const { material } of decodeRing(image, 'file', path).entries)
      expect(ringBytes.includes(Buffer.from(material))).toBe(false);
    // It can be added to, and its keys retired.
    await using other = await createKeyring({ rootKey: one });
    const added = await other.addRootKey();
    await other.retireRootKey(old);
    await using later = await createKeyring({ rootKey: one });
    expect(await later.refreshRing()).toMatchObject({ active: added, retired: [{ id: old }, { id: gone }] });
    expect((await readdir(folder)).filter((name) => /tmp|lock/.test(name))).toEqual([]);
  });

  test('can come from a ring whose keys are made of the passphrase', async () => {
    const one = await passphraseAt('one', 'a passphrase of some length');
    await using keyring = await createKeyring({ rootKey: one, create: true });
    const wrapped = await keyring.createOrganizationKey(binding.organizationId);
    const two = await passphraseAt('two', 'another passphrase, also long');
    await resealRing(one, two);
    await using opened = await createKeyring({ rootKey: two });
    expect(await opened.rewrapOrganizationKey(binding.organizationId, wrapped)).toEqual(wrapped);
  });

  test('is refused with what is wrong, and leaves everything as it was', async () => {
    await using _ = await createKeyring({ rootKey, create: true });
    const one = await passphraseAt('one', 'a passphrase of some length');
    const short = await passphraseAt('short', 'too short');
    await resealRing(rootKey, one);
    const names = (await readdir(folder)).sort();
    const [image, ring] = [await readFile(path), await readFile(join(folder, 'one.ring'))];
    const cases: readonly (readonly [from: string, to: string, problem: RegExp])[] = [
      [rootKey, rootKey, /is where the key ring is already/],
      [rootKey, one, /one\.ring exists already: nothing was changed/],
      [rootKey, short, /holds fewer than 16 bytes/],
      [rootKey, `passphrase-file:${join(folder, 'none')}`, /none cannot be read \(ENOENT\)/],
      [rootKey, 'root.key', /must be 'file:PATH' or 'passphrase-file:PATH'/],
      [rootKey, `file:${join(folder, 'nowhere', 'root.key')}`, /cannot be created \(ENOENT\)/],
      [`file:${join(folder, 'missing')}`, one, /missing/],
      [`file:${join(folder, 'one.ring')}`, `file:${join(folder, 'x')}`, /is not a key ring for 'file'/],
    ];
    for (const [from, to, problem] of cases) expect(await messageOf(resealRing(from, to))).toMatch(problem);
    await writeFile(join(folder, 'one'), 'a passphrase of other text.');
    const wrong = resealRing(one, `file:${join(folder, 'x')}`);
    expect(await messageOf(wrong)).toMatch(/one\.ring is damaged, or .*one is not its passphrase/);
    await chmod(join(folder, 'one'), 0o644);
    expect(await messageOf(resealRing(one, `file:${join(folder, 'x')}`))).toMatch(/has mode 0644/);
    expect((await readdir(folder)).sort()).toEqual(names);
    expect((await readFile(path)).equals(image)).toBe(true);
    expect((await readFile(join(folder, 'one.ring'))).equals(ring)).toBe(true);
  });

  test('is not made of a ring that was changed meanwhile', async () => {
    const other = await RootKeyRing.open(rootKey, true, systemRandom);
    const before = await readFile(path);
    await other.add(systemRandom);
    other.wipe();
    const after = await readFile(path);
    await writeFile(path, before);
    const one = await passphraseAt('one', 'a passphrase of some length');
    // The first random bytes are asked for when the old ring has been read.
    const changing = (bytes: number): Uint8Array => {
      writeFileSync(path, after);
      return systemRandom(bytes);
    };
    expect(await messageOf(resealWith(rootKey, one, changing))).toMatch(/was changed meanwhile: run the command again/);
    expect(await readdir(folder)).not.toContain('one.ring');
  });

  test('is damaged by any bit', async () => {
    await using keyring = await createKeyring({ rootKey, create: true });
    await keyring.addRootKey();
    const one = await passphraseAt('one', 'a passphrase of some length');
    await resealRing(rootKey, one);
    const image = await readFile(join(folder, 'one.ring'));
    // Magic, version, provider, count, id of the active key, salt, id of a key, box, check.
    for (const offset of [0, 8, 9, 10, 11, 30, 60, 120, image.length - 1]) {
      const bytes = Buffer.from(image);
      bytes.writeUInt8(bytes.readUInt8(offset) ^ 0x40, offset);
      await writeFile(join(folder, 'one.ring'), bytes, { mode: 0o600 });
      expect([offset, await codeOf(createKeyring({ rootKey: one }))]).toEqual([offset, 'ROOT_KEY_INVALID']);
    }
  });
});
