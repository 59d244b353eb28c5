import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { copyTables } from '../../test/harness/databases.ts';
import { remark } from '../../test/harness/remark.ts';
import { createFirstOrganization, openRootKey } from '../bootstrap.ts';
import { type Config, readConfig } from '../config/config.ts';
import { OrganizationStore } from '../core/store/organizations.ts';
import { SealedStore } from '../core/store/sealed.ts';
import { dataModel } from '../domains.ts';
import { openServiceKeys } from '../service-keys.ts';
import { openStorage } from '../storage/open.ts';
import { SqliteFile } from '../storage/sqlite-driver.ts';
import { rotateOrganizationKey } from './rotate-organization.ts';

// When the earlier key of an organization goes; its own test runs the command beside a service.

vi.mock('node:timers/promises', () => ({ setTimeout: async () => {} }));

const HOUR_MS = 60 * 60 * 1000;
let config: Config;
let db: SqliteFile;
let organizationId = '';

beforeEach(async () => {
  config = readConfig({ CUSTOS_DATA_DIR: mkdtempSync(join(tmpdir(), 'custos-rotate-')), CUSTOS_KEYRING: 'inline' });
  copyTables(config.dataDir);
  const nowMs = Date.now();
  const storage = await openStorage({ dataModel, ...config, nowMs, onIdleError: () => {} });
  const keyring = await openRootKey(storage, config.rootKey, 'inline');
  await openServiceKeys(storage, keyring, nowMs);
  const first = { organizationName: 'one', userName: 'one', apiKeyName: 'one', publicKey: `02${'11'.repeat(32)}` };
  const made = await createFirstOrganization(storage, keyring, first, nowMs);
  organizationId = made?.organizationId ?? '';
  db = new SqliteFile(join(config.dataDir, 'custos.db'));
  const holder = { organizationKey: wrappedKey(), organizationId, ownerId: made?.authProxyConfigId ?? '' };
  const { publicKey, sealedKey } = await keyring.createPrivateKey(holder, 'CURVE_P256', []);
  await keyring.close();
  await storage.close();
  db.prepare('UPDATE auth_proxy_config SET user_id = ?, public_key = ?, sealed_key = ?').run(
    made?.userId ?? '',
    Buffer.from(publicKey).toString('hex'),
    sealedKey,
  );
  await remark(config, 'auth_proxy_config');
});

afterEach(() => {
  vi.restoreAllMocks();
  db.close();
  rmSync(config.dataDir, { recursive: true, force: true });
});

const wrappedKey = (): Uint8Array =>
  (db.prepare('SELECT wrapped_key FROM organization').get() as { wrapped_key: Uint8Array }).wrapped_key;
const keys = (): number => wrappedKey().length / 94;
const sealed = (): Uint8Array =>
  (db.prepare('SELECT sealed_key FROM auth_proxy_config').get() as { sealed_key: Uint8Array }).sealed_key;
const putSealed = async (bytes: Uint8Array): Promise<void> => {
  db.prepare('UPDATE auth_proxy_config SET sealed_key = ?').run(bytes);
  await remark(config, 'auth_proxy_config');
};
const anHourPasses = (): void => {
  const name = `organization-key:${organizationId}`;
  db.prepare('UPDATE deployment SET value = ? WHERE name = ?').run(String(Date.now() - HOUR_MS), name);
};
const run = () => rotateOrganizationKey(config, { organizationId, say: () => {} });

test('the earlier key goes an hour after the last run that found something under it', async () => {
  const old = sealed();
  const lock = vi.spyOn(OrganizationStore.prototype, 'lock');
  expect(await run()).toMatchObject({ rewrapped: 1, finishesFromMs: expect.any(Number) });
  expect(sealed()).not.toEqual(old);
  expect(await run()).toMatchObject({ rewrapped: 0, finishesFromMs: expect.any(Number) });
  expect(keys()).toBe(2);

  // Somebody wrote the row back as it was.
  await putSealed(old);
  anHourPasses();
  const late = await run();
  expect(late.rewrapped).toBe(1);
  expect(late.finishesFromMs).toBeGreaterThan(Date.now() + HOUR_MS / 2);
  expect(keys()).toBe(2);

  anHourPasses();
  expect(await run()).toEqual({ rewrapped: 0 });
  expect(keys()).toBe(1);
  // The new key, two exchanges and the removal, each while nobody else writes to the organization.
  expect(lock.mock.calls).toEqual(new Array(4).fill([organizationId, 'exclusive']));
});

test('a row that could not be exchanged keeps the earlier key', async () => {
  const old = sealed();
  await run();
  await putSealed(old);
  anHourPasses();
  vi.spyOn(SealedStore.prototype, 'exchangeSealed').mockResolvedValueOnce(false);
  expect(await run()).toMatchObject({ rewrapped: 0, finishesFromMs: expect.any(Number) });
  expect(keys()).toBe(2);
  expect(sealed()).toEqual(old);
});

test('a key that was changed during the pass keeps its earlier one', async () => {
  await run();
  anHourPasses();
  const exchange = vi.spyOn(SealedStore.prototype, 'exchangeOrganizationKey').mockResolvedValueOnce(false);
  await expect(run()).rejects.toThrow(/was changed meanwhile: the earlier key stays, run the command again/);
  expect(exchange).toHaveBeenCalledTimes(1);
  expect(keys()).toBe(2);
});

const putFact = (name: string, value: string): void => {
  db.prepare('INSERT INTO deployment (name, value) VALUES (?, ?)').run(name, value);
};

test('an interrupted rotation of the root key is finished first', async () => {
  putFact('rotation', JSON.stringify({ id: 'one', to: 'another' }));
  await expect(run()).rejects.toThrow(
    /`custos keyring rotate` was interrupted: run it again first; nothing was changed/,
  );
  expect(keys()).toBe(1);
});

test('a process of an older version that was killed is forgotten, and one that runs is not', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += 1000;
    return nowMs;
  });
  putFact('process:older', JSON.stringify({ host: 'elsewhere', pid: 7 }));
  const answers = (line: string): void => {
    if (!line.startsWith('waiting for running processes')) return;
    const { value } = db.prepare("SELECT value FROM deployment WHERE name = 'rotation'").get() as { value: string };
    const state = { host: 'elsewhere', pid: 7, rotation: JSON.parse(value).id, holdsKey: true };
    db.prepare("UPDATE deployment SET value = ? WHERE name = 'process:older'").run(JSON.stringify(state));
  };
  await expect(rotateOrganizationKey(config, { organizationId, say: answers })).rejects.toThrow(
    /^process 7 on elsewhere has an older version: replace it first/,
  );
  expect(keys()).toBe(1);
  const rotation = db.prepare("SELECT value FROM deployment WHERE name = 'rotation'");
  expect(rotation.get()).toBeUndefined();

  expect(await run()).toMatchObject({ rewrapped: 1 });
  expect(rotation.get()).toBeUndefined();
});
