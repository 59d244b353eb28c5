import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRootKey } from '../bootstrap.ts';
import { type Config, readConfig } from '../config/config.ts';
import { dataModel } from '../domains.ts';
import { openServiceKeys } from '../service-keys.ts';
import { openStorage } from '../storage/open.ts';
import { SqliteFile } from '../storage/sqlite-driver.ts';
import { type RotatedWebhookKey, rotateWebhookKey } from './rotate-webhook-key.ts';

// What `custos webhooks rotate-key` leaves in the database at each moment; its own test runs it beside a service.

// So that the fake timers below hold for it.
vi.mock('node:timers/promises', () => ({ setTimeout: (ms: number) => new Promise((done) => setTimeout(done, ms)) }));

const MADE_AT_MS = Date.now() - 60_000;

interface Row {
  readonly key_id: string;
  readonly signs_from_ms: number;
}

let config: Config;
let db: SqliteFile;

beforeEach(async () => {
  config = readConfig({ CUSTOS_DATA_DIR: mkdtempSync(join(tmpdir(), 'custos-rotate-')), CUSTOS_KEYRING: 'inline' });
  const storage = await openStorage({ dataModel, ...config, nowMs: MADE_AT_MS, onIdleError: () => {} });
  const keyring = await openRootKey(storage, config.rootKey, 'inline');
  await openServiceKeys(storage, keyring, MADE_AT_MS);
  await keyring.close();
  await storage.close();
  db = new SqliteFile(join(config.dataDir, 'custos.db'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});

afterEach(() => {
  vi.useRealTimers();
  db.close();
  rmSync(config.dataDir, { recursive: true, force: true });
});

const keys = (): Row[] =>
  db
    .prepare("SELECT * FROM service_key WHERE role = 'webhook-signer' ORDER BY signs_from_ms")
    .all() as unknown as Row[];
const ids = (): string[] => keys().map(({ key_id }) => key_id);

/** A run that has stored its key and waits. */
async function begin(): Promise<{ readonly next: string; readonly done: Promise<RotatedWebhookKey> }> {
  let done: Promise<RotatedWebhookKey> | undefined;
  const line = await new Promise<string>((resolve, reject) => {
    done = rotateWebhookKey(config, { isCompromised: true, say: resolve });
    // One that ends now has not waited.
    done.then(() => reject(new Error('it did not wait')), reject);
  });
  const says = /^key ([0-9a-f]{32}) is published; waiting 5 seconds until every process has it and signs with it$/;
  const [, next = ''] = says.exec(line) ?? [];
  expect(ids()).toContain(next);
  return { next, done: done as Promise<RotatedWebhookKey> };
}

test('a compromised key goes when every process has had time to publish the new one', async () => {
  const [old = ''] = ids();
  const { next, done } = await begin();
  const signsFromMs = Date.now() + 5000;
  expect(keys()).toMatchObject([{ key_id: old }, { key_id: next, signs_from_ms: signsFromMs }]);

  await vi.advanceTimersByTimeAsync(4999);
  expect(ids()).toEqual([old, next]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await done).toEqual({ keyId: next, signsFromMs, removed: [old] });
  expect(ids()).toEqual([next]);
});

test('a run that was killed while it waited leaves keys that the next one destroys', async () => {
  const [old = ''] = ids();
  const killed = new Error('killed');
  const run = rotateWebhookKey(config, {
    isCompromised: true,
    say: () => {
      throw killed;
    },
  });
  await expect(run).rejects.toBe(killed);
  const [, left = ''] = ids();
  expect(ids()).toEqual([old, left]);

  const { next, done } = await begin();
  expect(ids().sort()).toEqual([old, left, next].sort());
  await vi.advanceTimersByTimeAsync(5000);
  const { keyId, removed } = await done;
  expect(keyId).toBe(next);
  expect([...removed].sort()).toEqual([old, left].sort());
  expect(ids()).toEqual([next]);
});

test('a key that did not sign yet is not trusted either', async () => {
  const [old = ''] = ids();
  const say = vi.fn();
  const pending = await rotateWebhookKey(config, { isCompromised: false, say });
  expect(pending).toMatchObject({ signsFromMs: Date.now() + 15 * 60_000, removed: [] });
  expect(say).not.toHaveBeenCalled();
  const { next, done } = await begin();
  expect(ids()).toEqual([old, next, pending.keyId]);
  await vi.advanceTimersByTimeAsync(5000);
  expect([...(await done).removed].sort()).toEqual([old, pending.keyId].sort());
  expect(ids()).toEqual([next]);
});

test('the root key may be changed meanwhile', async () => {
  const [old = ''] = ids();
  const { next, done } = await begin();
  db.prepare("UPDATE deployment SET value = 'wrapped anew' WHERE name = 'deployment_key'").run();
  await vi.advanceTimersByTimeAsync(5000);
  expect((await done).removed).toEqual([old]);
  expect(ids()).toEqual([next]);
});

test('a key that was made meanwhile stays', async () => {
  const [old = ''] = ids();
  const { next, done } = await begin();
  const copied = 'public_key, encoding, sealed_key, created_at_ms';
  db.prepare(
    `INSERT INTO service_key (role, key_id, signs_from_ms, ${copied})
     SELECT role, 'later', signs_from_ms + 900000, ${copied} FROM service_key WHERE key_id = ?`,
  ).run(next);
  await vi.advanceTimersByTimeAsync(5000);
  expect((await done).removed).toEqual([old]);
  expect(ids()).toEqual([next, 'later']);
});

test('the last key is never destroyed', async () => {
  const [old = ''] = ids();
  const { next, done } = await begin();
  db.prepare('DELETE FROM service_key WHERE key_id = ?').run(next);
  const refused = expect(done).rejects.toThrow(`key ${next} was destroyed by another \`custos webhooks rotate-key`);
  await vi.advanceTimersByTimeAsync(5000);
  await refused;
  expect(ids()).toEqual([old]);
});
