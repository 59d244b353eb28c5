import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keyring } from '@custos/keyring';
import { expect, onTestFinished, test, vi } from 'vitest';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import { dataModel } from '../domains.ts';
import { openSqlite } from '../storage/sqlite.ts';
import { followRotations } from './follow.ts';
import { formatRotation, type ProcessState } from './rotation.ts';

test('a process shows that it has seen a rotation before it has read the ring, and says what it holds after', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'custos-follow-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const storage = await openSqlite({
    dataModel,
    file: join(folder, 'custos.db'),
    lockFile: join(folder, 'lock'),
    nowMs: 0,
  });
  onTestFinished(() => storage.close());
  const closing = new AbortController();
  onTestFinished(() => closing.abort());

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
  await followRotations(storage, keyring, { wrapped: '', keys: [] }, async () => []);
  const states = async () =>
    (await storage.read(InstallationReader).processes()).map(({ state }) => JSON.parse(state) as ProcessState);

  await storage.write((store) => store(InstallationStore).put('rotation', formatRotation({ id: 'one', to: 'new' })));
  const self = { host: hostname(), pid: process.pid };
  await vi.waitFor(async () => expect(await states()).toEqual([{ ...self, rotation: 'one' }]), 20_000);
  await vi.waitFor(() => {
    finishReading();
    expect(active).toBe('new');
  }, 20_000);
  await vi.waitFor(async () => expect(await states()).toEqual([{ ...self, rotation: 'one', holdsKey: true }]), 20_000);
});
