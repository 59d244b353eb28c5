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
  const facts = new Map<string, string>();
  const recording = (...ids: string[]) =>
    ({
      read: fakeStores([
        InstallationReader,
        {
          get: async () => (ids.length > 1 ? ids.shift() : ids[0]),
          facts: async () => facts,
          createdAtMs: async () => Date.UTC(2026, 0, 1),
        },
      ]),
    }) as unknown as Storage;
  return { rootKey, rootKeyId, recording, facts };
}

test('a rotation that ends while the ring is opened does not stop a start', async () => {
  const { rootKey, rootKeyId, recording } = await ringAndRecord();
  await using keyring = await openRootKey(recording(OLD, rootKeyId), rootKey, 'inline');
  expect(keyring.rootKeyId).toBe(rootKeyId);
});

const LOOK = 'restore that key from a backup of the key ring (docs/guides/key-rotation.md#a-key-that-is-missing)';

test('a ring without the key of the database is refused: which key, since when, and where to look', async () => {
  const { rootKey, recording, facts } = await ringAndRecord();
  const refused = async (since: string): Promise<void> =>
    await expect(openRootKey(recording(OLD), rootKey, 'inline')).rejects.toThrow(
      `the database is under root key ${OLD}${since}, which ${rootKey} does not hold: ${LOOK}`,
    );
  // The first key is as old as the database.
  await refused(' since 2026-01-01T00:00:00.000Z');
  facts.set('retired_root_keys', '[]');
  await refused('');
  facts.set('root_key_times', JSON.stringify({ [OLD]: Date.UTC(2026, 10, 18) }));
  await refused(' since 2026-11-18T00:00:00.000Z');
  const gone = `${rootKey}.gone`;
  await expect(openRootKey(recording(OLD), gone, 'inline')).rejects.toThrow(
    `root.key.gone cannot be read (ENOENT) (the database is under root key ${OLD} since 2026-11-18T00:00:00.000Z: ${LOOK})`,
  );
});

test('a ring that holds the key as a retired one says how it comes back', async () => {
  const { rootKey, rootKeyId, recording } = await ringAndRecord();
  {
    await using keyring = await createKeyring({ rootKey });
    await keyring.addRootKey();
    await keyring.retireRootKey(rootKeyId);
  }
  await expect(openRootKey(recording(rootKeyId), rootKey, 'inline')).rejects.toThrow(
    new RegExp(`was retired in .*root.key at 20[^ ]+Z: \`custos keyring unretire ${rootKeyId}\` brings it back$`),
  );
});
