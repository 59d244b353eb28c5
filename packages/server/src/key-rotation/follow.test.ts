import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keyring } from '@custos/keyring';
import { expect, onTestFinished, test, vi } from 'vitest';
import { byUse } from '../core/service-keys.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import { dataModel } from '../domains.ts';
import { DAY_MS } from '../lib/clock.ts';
import { openSqlite } from '../storage/sqlite.ts';
import { followRotations } from './follow.ts';
import { formatRotation, type ProcessState } from './rotation.ts';

const clocks = { steady: Date.now, elapsed: () => performance.now() };

async function openFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'custos-follow-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'custos.db');
  const storage = await openSqlite({ dataModel, file, lockFile: join(folder, 'lock'), nowMs: 0 });
  onTestFinished(() => storage.close());
  const closing = new AbortController();
  onTestFinished(() => closing.abort());
  return { storage, closing };
}

test('a process shows that it has seen a rotation before it has read the ring, and says what it holds after', async () => {
  const { storage, closing } = await openFolder();
  let active = 'old';
  let finishReading = (): void => {};
  const keyring = {
    get rootKeyId() {
      return active;
    },
    hasRootKey: (id: string) => id === active,
    refreshRing: () =>
      new Promise<void>((resolve) => {
        finishReading = () => {
          active = 'new';
          resolve();
        };
      }),
    closing: closing.signal,
  } as unknown as Keyring;
  await storage.write((store) => store(InstallationStore).put('root_key_id', 'old'));
  await followRotations(storage, keyring, { wrapped: '', keys: [] }, async () => [], clocks);
  const states = async () =>
    (await storage.read(InstallationReader).processes()).map(({ state }) => JSON.parse(state) as ProcessState);

  await storage.write((store) => store(InstallationStore).put('rotation', formatRotation({ id: 'one', to: 'new' })));
  const self = { host: hostname(), pid: process.pid, knowsEarlierKeys: true, knowsMarks: true, writesMarks: true };
  await vi.waitFor(async () => expect(await states()).toEqual([{ ...self, rotation: 'one' }]), 20_000);
  await vi.waitFor(() => {
    finishReading();
    expect(active).toBe('new');
  }, 20_000);
  await vi.waitFor(async () => expect(await states()).toEqual([{ ...self, rotation: 'one', holdsKey: true }]), 20_000);
});

test('a process whose ring cannot be read answers nothing, and reads it again', async () => {
  const { storage, closing } = await openFolder();
  let failures = 0;
  let canRead = false;
  const keyring = {
    rootKeyId: 'one',
    hasRootKey: (id: string) => id === 'one',
    refreshRing: async () => {
      if (canRead) return;
      failures += 1;
      throw new Error('no ring');
    },
    closing: closing.signal,
  } as unknown as Keyring;
  const put = (name: 'root_key_id' | 'rotation' | 'ring_change', value: string) =>
    storage.write((store) => store(InstallationStore).put(name, value));
  await put('root_key_id', 'one');
  await followRotations(storage, keyring, { wrapped: '', keys: [] }, async () => [], clocks);
  const state = async () =>
    (await storage.read(InstallationReader).processes()).map((found) => JSON.parse(found.state) as ProcessState)[0];

  await put('ring_change', 'first');
  await vi.waitFor(() => expect(failures).toBeGreaterThan(1), 20_000);
  expect((await state())?.ringChange).toBeUndefined();
  await put('rotation', formatRotation({ id: 'two', to: 'one' }));
  await vi.waitFor(async () => expect((await state())?.rotation).toBe('two'), 20_000);
  const before = failures;
  await vi.waitFor(() => expect(failures).toBeGreaterThan(before), 20_000);
  expect((await state())?.holdsKey).toBeUndefined();
  canRead = true;
  await vi.waitFor(async () => expect((await state())?.holdsKey).toBe(true), 20_000);
});

test('service keys are loaded without the expired ones first, and deleted after a day that passed', async () => {
  const { storage, closing } = await openFolder();
  const keyring = { hasRootKey: () => true, closing: closing.signal } as unknown as Keyring;
  const key = (keyId: string, signsFromMs: number) => ({
    role: 'webhook-signer',
    keyId,
    publicKey: '',
    encoding: 'raw' as never,
    sealedKey: new Uint8Array(1),
    createdAtMs: signsFromMs,
    signsFromMs,
  });
  await storage.write(async (store) => {
    await store(InstallationStore).put('deployment_key', '00');
    await store(InstallationStore).insertServiceKey(key('old', 0));
    await store(InstallationStore).insertServiceKey(key('new', 1000));
  });
  const stored = async () => (await storage.read(InstallationReader).serviceKeys()).map(({ keyId }) => keyId);
  const nowMs = 1000 + DAY_MS;
  let elapsedMs = 0;
  const loads: string[][] = [];
  const load = async () => {
    loads.push(await stored());
    return byUse(await storage.read(InstallationReader).serviceKeys(), nowMs);
  };
  await followRotations(storage, keyring, { wrapped: '00', keys: [] }, load, {
    steady: () => nowMs,
    elapsed: () => elapsedMs,
  });
  expect(loads).toEqual([['new', 'old']]);
  expect(await stored()).toEqual(['new', 'old']);
  elapsedMs += DAY_MS;
  await vi.waitFor(async () => expect(await stored()).toEqual(['new']), 20_000);
});
