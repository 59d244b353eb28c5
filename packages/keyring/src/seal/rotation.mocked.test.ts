import {
  chown,
  type FileHandle,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { codeOf } from '../../test/fixtures/client.ts';
import { createKeyring, type Keyring, removeRingLeftovers } from '../index.ts';
import { systemRandom } from './envelope.ts';
import { resealRing } from './reseal.ts';
import { RootKeyRing } from './root-key.ts';

// A process that is killed does nothing more. Here every call to the file system counts, and from a chosen one on none
// of them happens or returns, as if the process had ended there; a write that is the chosen one happens by half.
const life = vi.hoisted(() => {
  const state = {
    operations: 0,
    diesAt: Number.POSITIVE_INFINITY,
    handles: [] as { close(): Promise<void> }[],
    /** How many files can still be written before the disk is full. */
    room: Number.POSITIVE_INFINITY,
  };
  const never = (): Promise<never> => new Promise(() => {});
  return {
    state,
    never,
    isLast: () => {
      state.operations += 1;
      return state.operations === state.diesAt;
    },
    isOver: () => state.operations >= state.diesAt,
  };
});

vi.mock('node:fs/promises', async (importOriginal) => {
  const actual = await importOriginal<typeof import('node:fs/promises')>();
  const mortal = <F extends (...args: never[]) => Promise<unknown>>(call: F): F =>
    ((...args: never[]) => (life.isOver() || life.isLast() ? life.never() : call(...args))) as F;
  const wrapHandle = (handle: FileHandle): FileHandle => {
    life.state.handles.push(handle);
    return new Proxy(handle, {
      get(target, name) {
        const member = Reflect.get(target, name, target) as unknown;
        if (typeof member !== 'function') return member;
        const call = member.bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (name !== 'writeFile') return mortal(call);
        return async (bytes: Uint8Array) => {
          life.state.room -= 1;
          if (life.state.room < 0) {
            await call(bytes.subarray(0, bytes.length >> 1));
            throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
          }
          if (life.isOver()) return life.never();
          if (!life.isLast()) return call(bytes);
          await call(bytes.subarray(0, bytes.length >> 1));
          return life.never();
        };
      },
    });
  };
  const open = mortal(actual.open);
  return {
    ...actual,
    open: async (...args: Parameters<typeof actual.open>) => wrapHandle(await open(...args)),
    ...Object.fromEntries(
      (['link', 'rename', 'rm', 'stat', 'chown', 'readFile', 'readdir'] as const).map((name) => [
        name,
        mortal(actual[name] as (...args: never[]) => Promise<unknown>),
      ]),
    ),
  };
});

const binding = { organizationId: 'organization-1', ownerId: 'owner-1', kind: 'vote-message' };
const plaintext = Uint8Array.of(1, 2, 3);
const ONE_ID = '0a'.repeat(16);
const OTHER_ID = '0b'.repeat(16);

let folder: string;
let path: string;
let rootKey: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-rotation-'));
  path = join(folder, 'root.key');
  rootKey = `file:${path}`;
});

afterEach(async () => {
  live();
  await rm(folder, { recursive: true });
});

function live(): void {
  life.state.diesAt = Number.POSITIVE_INFINITY;
  life.state.operations = 0;
  life.state.room = Number.POSITIVE_INFINITY;
}

const openRing = (): Promise<RootKeyRing> => RootKeyRing.open(rootKey, true, systemRandom);

async function rotate(keyring: Keyring, wrapped: Uint8Array): Promise<Uint8Array> {
  const old = keyring.rootKeyId;
  await keyring.addRootKey();
  const rewrapped = await keyring.rewrapOrganizationKey(binding.organizationId, wrapped);
  await keyring.removeRootKey(old);
  return rewrapped;
}

test('a rotation leaves every secret readable and the old key useless', async () => {
  await using keyring = await createKeyring({ rootKey, create: true });
  const first = keyring.rootKeyId;
  const wrapped = await keyring.createOrganizationKey(binding.organizationId);
  const blob = await keyring.seal(wrapped, binding, plaintext);
  const added = await keyring.addRootKey();
  expect([keyring.rootKeyId, keyring.hasRootKey(first), keyring.hasRootKey(added)]).toEqual([added, true, true]);
  const rewrapped = await keyring.rewrapOrganizationKey(binding.organizationId, wrapped);
  expect(Buffer.from(rewrapped.subarray(2, 18)).toString('hex')).toBe(added);
  expect([...rewrapped.subarray(18, 34)]).toEqual([...wrapped.subarray(18, 34)]);
  expect([...(await keyring.open(rewrapped, binding, blob))]).toEqual([...plaintext]);
  expect([...(await keyring.open(wrapped, binding, blob))]).toEqual([...plaintext]);
  await keyring.removeRootKey(first);
  expect(await codeOf(keyring.open(wrapped, binding, blob))).toBe('UNKNOWN_ROOT_KEY');
  expect(await codeOf(keyring.rewrapOrganizationKey(binding.organizationId, wrapped))).toBe('UNKNOWN_ROOT_KEY');
  await using later = await createKeyring({ rootKey });
  expect([...(await later.open(rewrapped, binding, blob))]).toEqual([...plaintext]);
  expect(await later.refreshRing()).toEqual({ active: added, ids: [added] });
  expect((await readdir(folder)).sort()).toEqual(['root.key']);
  if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('the ring still belongs to whom it belonged when the administrator adds a key', async () => {
  await using keyring = await createKeyring({ rootKey, create: true });
  const owner = process.getuid?.() === 0 ? 1234 : process.getuid?.();
  if (owner === undefined) return;
  await chown(path, owner, (await stat(path)).gid);
  await keyring.addRootKey();
  expect((await stat(path)).uid).toBe(owner);
});

test('to wrap again under the same key changes nothing, and only for its organization', async () => {
  await using keyring = await createKeyring({ rootKey, create: true });
  const wrapped = await keyring.createOrganizationKey(binding.organizationId);
  expect(await keyring.rewrapOrganizationKey(binding.organizationId, wrapped)).toEqual(wrapped);
  await keyring.addRootKey();
  expect(await codeOf(keyring.rewrapOrganizationKey('organization-2', wrapped))).toBe('NOT_OPENED');
});

test('another keyring learns of the new key when it meets it, or when it is asked to look', async () => {
  await using first = await createKeyring({ rootKey, create: true });
  await using second = await createKeyring({ rootKey });
  const old = first.rootKeyId;
  const added = await first.addRootKey();
  expect(second.hasRootKey(added)).toBe(false);
  const wrapped = await first.createOrganizationKey(binding.organizationId);
  await second.seal(wrapped, binding, plaintext);
  expect(second.rootKeyId).toBe(added);
  await first.removeRootKey(old);
  expect(second.hasRootKey(old)).toBe(true);
  expect(await second.refreshRing()).toEqual({ active: added, ids: [added] });
});

test('the active key, an unknown key and a seventeenth key are refused', async () => {
  await using keyring = await createKeyring({ rootKey, create: true });
  expect(await codeOf(keyring.removeRootKey(keyring.rootKeyId))).toBe('INVALID_INPUT');
  expect(await codeOf(keyring.removeRootKey('00'.repeat(16)))).toBe('UNKNOWN_ROOT_KEY');
  await Promise.all(Array.from({ length: 15 }, () => keyring.addRootKey()));
  expect((await keyring.refreshRing()).ids).toHaveLength(16);
  expect(await codeOf(keyring.addRootKey())).toBe('INVALID_INPUT');
});

test('of several keyrings that add at once none loses a key', async () => {
  const keyrings = await Promise.all(Array.from({ length: 4 }, () => createKeyring({ rootKey, create: true })));
  const added: string[] = [];
  await Promise.all(
    keyrings.map(async (keyring) => {
      for (let left = 3; left > 0; ) {
        const id = await keyring.addRootKey().catch((error: { code: string }) => error.code);
        if (id !== 'UNAVAILABLE') {
          added.push(id);
          left -= 1;
        }
      }
    }),
  );
  const { ids } = await keyrings[0]!.refreshRing();
  expect(ids.slice(1).sort()).toEqual(added.sort());
  for (const keyring of keyrings) await keyring.close();
});

test('a lock that a killed process left is respected while it is new and broken when it is old', async () => {
  await using keyring = await createKeyring({ rootKey, create: true });
  await writeFile(`${path}.lock`, 'somebody');
  expect(await codeOf(keyring.addRootKey())).toBe('UNAVAILABLE');
  const old = new Date(Date.now() - 61_000);
  await utimes(`${path}.lock`, old, old);
  await keyring.addRootKey();
  expect(await readdir(folder)).toEqual(['root.key']);
});

test.each(['add', 'remove', 'retire', 'restore', 'require'] as const)(
  'a kill at any point of %s leaves a readable ring',
  async (change) => {
    const first = await openRing();
    const kept = await first.add(systemRandom);
    const removed = await first.add(systemRandom);
    const last = await first.add(systemRandom);
    if (change === 'restore') await first.retire(removed, 1);
    await first.requireIntegrity(ONE_ID);
    const image = await readFile(path);
    const before = await first.refresh();
    let killed = 0;
    for (let diesAt = 1; ; diesAt += 1) {
      await writeFile(path, image, { mode: 0o600 });
      const ring = await openRing();
      life.state.operations = 0;
      life.state.diesAt = diesAt;
      let isDone = false;
      const changes = {
        add: () => ring.add(systemRandom),
        remove: () => ring.remove(removed),
        retire: () => ring.retire(removed, 1),
        restore: () => ring.restore(removed),
        require: () => ring.requireIntegrity(OTHER_ID),
      };
      const running = changes[change]().then(() => {
        isDone = true;
      });
      await Promise.race([running, untilDead()]);
      live();
      for (const handle of life.state.handles.splice(0)) await handle.close();
      if (isDone) break;
      killed += 1;
      const after = await RootKeyRing.open(rootKey, false, systemRandom);
      const { active, ids, retired = [], requiresIntegrity = [] } = after.state;
      expect(requiresIntegrity[0]).toBe(ONE_ID);
      expect(requiresIntegrity.slice(1)).toEqual(
        requiresIntegrity.length > 1 && change === 'require' ? [OTHER_ID] : [],
      );
      expect(ids).toContain(kept);
      expect(ids).toContain(last);
      if (change === 'add') {
        for (const id of before.ids) expect(ids).toContain(id);
        expect(active).toBe(ids.length === before.ids.length ? last : ids.at(-1));
      } else if (change === 'remove') {
        expect([active, ids.length === 4 || !ids.includes(removed)]).toEqual([last, true]);
      } else {
        expect([active, ids.length + retired.length]).toEqual([last, 4]);
        expect([...ids, ...retired.map(({ id }) => id)]).toContain(removed);
      }
      // What the killed one left behind does not stop the next one for ever.
      const old = new Date(Date.now() - 61_000);
      await utimes(`${path}.lock`, old, old).catch(() => undefined);
      await after.add(systemRandom);
      // Nor does a copy of the keys stay, once a command has looked.
      expect(await removeRingLeftovers(rootKey)).toEqual([]);
      expect((await readdir(folder)).filter((name) => !/\.lock\.[0-9a-f]+\.tmp$/.test(name))).toEqual(['root.key']);
      for (const name of await readdir(folder)) if (name !== 'root.key') await rm(join(folder, name));
    }
    expect(killed).toBeGreaterThan(15);
  },
);

/** Resolves when the chosen operation was reached and nothing can follow. */
async function untilDead(): Promise<void> {
  while (!life.isOver()) await new Promise((resolve) => setImmediate(resolve));
  // The half of a write that still happens.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('copies that killed commands left are removed, and nothing else', async () => {
  await using keyring = await createKeyring({ rootKey, create: true });
  const left = ['root.key.0123456789abcdef.tmp', 'root.key.fedcba9876543210.tmp'];
  const others = [
    'root.key.tmp',
    'root.key.0123456789abcdef.tmp.old',
    'xroot.key.0123456789abcdef.tmp',
    'root.key.bak',
  ];
  for (const name of [...left, ...others]) await writeFile(join(folder, name), 'x');
  // Nobody else may be writing.
  await writeFile(`${path}.lock`, 'somebody');
  expect(await codeOf(removeRingLeftovers(rootKey))).toBe('UNAVAILABLE');
  expect(await readdir(folder)).toHaveLength(8);
  await rm(`${path}.lock`);
  // One that cannot be removed is named.
  await mkdir(join(folder, 'root.key.00000000000000ff.tmp'));
  expect(await removeRingLeftovers(rootKey)).toEqual([join(folder, 'root.key.00000000000000ff.tmp')]);
  await rm(join(folder, 'root.key.00000000000000ff.tmp'), { recursive: true });
  expect((await readdir(folder)).sort()).toEqual(['root.key', ...others].sort());
  await writeFile(join(folder, 'other.key.0123456789abcdef.tmp'), 'x');
  await writeFile(join(folder, left[0] as string), 'x');
  await resealRing(rootKey, `file:${join(folder, 'other.key')}`);
  expect((await readdir(folder)).sort()).toEqual(['other.key', 'root.key', ...others].sort());
  expect(keyring.rootKeyId).toBeTypeOf('string');
});

test('a rotation with a passphrase', { timeout: 120_000 }, async () => {
  const passphrasePath = join(folder, 'passphrase');
  await writeFile(passphrasePath, 'sixteen bytes ok', { mode: 0o600 });
  const setting = `passphrase-file:${passphrasePath}`;
  await using keyring = await createKeyring({ rootKey: setting, create: true });
  const wrapped = await keyring.createOrganizationKey(binding.organizationId);
  const blob = await keyring.seal(wrapped, binding, plaintext);
  const rewrapped = await rotate(keyring, wrapped);
  await using later = await createKeyring({ rootKey: setting });
  expect([...(await later.open(rewrapped, binding, blob))]).toEqual([...plaintext]);
  expect((await later.refreshRing()).ids).toHaveLength(1);
});

test('a kill at any point of sealing a ring anew leaves the old one, and the new one whole or not at all', async () => {
  const first = await openRing();
  await first.add(systemRandom);
  const { active, ids } = first.state;
  const image = await readFile(path);
  const other = join(folder, 'other.key');
  let killed = 0;
  let whole = 0;
  for (let diesAt = 1; ; diesAt += 1) {
    life.state.operations = 0;
    life.state.diesAt = diesAt;
    let isDone = false;
    const running = resealRing(rootKey, `file:${other}`).then(() => {
      isDone = true;
    });
    await Promise.race([running, untilDead()]);
    live();
    for (const handle of life.state.handles.splice(0)) await handle.close();
    expect((await readFile(path)).equals(image)).toBe(true);
    const written = await RootKeyRing.open(`file:${other}`, false, systemRandom).catch((error: { code: string }) => {
      expect(error.code).toBe('ROOT_KEY_MISSING');
      return undefined;
    });
    if (written !== undefined) {
      whole += 1;
      expect(written.state).toEqual({ active, ids });
    }
    for (const name of await readdir(folder)) if (name !== 'root.key') await rm(join(folder, name));
    if (isDone) break;
    killed += 1;
  }
  expect(killed).toBeGreaterThan(10);
  expect(whole).toBeGreaterThan(1);
});

// The lock is the first file that is written, and the ring the second.
test.each([0, 1])('a disk that is full after %i files leaves everything as it was', async (room) => {
  const ring = await openRing();
  const old = ring.activeId;
  await ring.add(systemRandom);
  const image = await readFile(path);
  const changes: (() => Promise<unknown>)[] = [
    () => ring.add(systemRandom),
    () => ring.remove(old),
    () => ring.retire(old, 1),
    () => ring.requireIntegrity(ONE_ID),
    () => resealRing(rootKey, `file:${join(folder, 'other.key')}`),
  ];
  for (const change of changes) {
    life.state.room = room;
    await expect(change()).rejects.toMatchObject({
      name: 'KeyringError',
      message: expect.stringContaining('(ENOSPC)'),
    });
    live();
    expect((await readFile(path)).equals(image)).toBe(true);
    expect(await readdir(folder)).toEqual(['root.key']);
  }
  await ring.retire(old, 1);
});
