import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring } from '@custos/keyring';
import { expect, onTestFinished, test } from 'vitest';
import { fakeStores } from '../test/harness/fake-stores.ts';
import { openRootKey } from './bootstrap.ts';
import { InstallationReader } from './core/store/installation.ts';
import type { Storage } from './storage/storage.ts';

const OLD = '00'.repeat(16);

/** A ring with one key, and a database that answers with one of the ids after the other. */
async function ringAndRecord() {
  const folder = mkdtempSync(join(tmpdir(), 'custos-bootstrap-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const rootKey = `file:${join(folder, 'root.key')}`;
  const keyring = await createKeyring({ rootKey, create: true, mode: 'inline' });
  const { rootKeyId } = keyring;
  await keyring.close();
  const recording = (...ids: string[]) =>
    ({
      read: fakeStores([InstallationReader, { get: async () => (ids.length > 1 ? ids.shift() : ids[0]) }]),
    }) as unknown as Storage;
  return { rootKey, rootKeyId, recording };
}

test('a rotation that ends while the ring is opened does not stop a start', async () => {
  const { rootKey, rootKeyId, recording } = await ringAndRecord();
  await using keyring = await openRootKey(recording(OLD, rootKeyId), rootKey, 'inline');
  expect(keyring.rootKeyId).toBe(rootKeyId);
});

test('a ring without the key of the database is refused', async () => {
  const { rootKey, recording } = await ringAndRecord();
  await expect(openRootKey(recording(OLD), rootKey, 'inline')).rejects.toThrow(
    `the database is under root key ${OLD}, which ${rootKey} does not hold`,
  );
});
