import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { copyTables } from '../../test/harness/databases.ts';
import { remark } from '../../test/harness/remark.ts';
import { openRootKey } from '../bootstrap.ts';
import { type Config, readConfig } from '../config/config.ts';
import { dataModel } from '../domains.ts';
import { openServiceKeys } from '../service-keys.ts';
import { openStorage } from '../storage/open.ts';
import { SqliteFile } from '../storage/sqlite-driver.ts';
import { type KeyRotationOptions, type RotatedServiceKey, rotateServiceKey } from './rotate-service-key.ts';

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
  copyTables(config.dataDir);
  const storage = await openStorage({ dataModel, ...config, nowMs: MADE_AT_MS, onIdleError: () => {} });
  const keyring = await openRootKey(storage, config.rootKey, 'inline');
  await openServiceKeys(storage, keyring, MADE_AT_MS);
  await keyring.close();
  await storage.close();
  db = new SqliteFile(join(config.dataDir, 'custos.db'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  db.close();
  rmSync(config.dataDir, { recursive: true, force: true });
});

const keys = (): Row[] =>
  db
    .prepare("SELECT * FROM service_key WHERE role = 'webhook-signer' ORDER BY signs_from_ms")
    .all() as unknown as Row[];
const ids = (): string[] => keys().map(({ key_id }) => key_id);

async function rotated(options: KeyRotationOptions): Promise<RotatedServiceKey> {
  const done = await rotateServiceKey(config, options);
  if (done === undefined) throw new Error('nobody agreed');
  return done;
}

/** A run that has stored its key and waits. */
async function begin(): Promise<{ readonly next: string; readonly done: Promise<RotatedServiceKey> }> {
  let done: Promise<RotatedServiceKey> | undefined;
  const line = await new Promise<string>((resolve, reject) => {
    done = rotated({ role: 'webhook-signer', isCompromised: true, say: resolve });
    // One that ends now has not waited.
    done.then(() => reject(new Error('it did not wait')), reject);
  });
  const says = /^key ([0-9a-f]{32}) is published; waiting 5 seconds until every process has it and signs with it$/;
  const [, next = ''] = says.exec(line) ?? [];
  expect(ids()).toContain(next);
  return { next, done: done as Promise<RotatedServiceKey> };
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
  const run = rotateServiceKey(config, {
    role: 'webhook-signer',
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
  const pending = await rotated({ role: 'webhook-signer', isCompromised: false, say });
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
  await remark(config, 'service_key');
  await vi.advanceTimersByTimeAsync(5000);
  expect((await done).removed).toEqual([old]);
  expect(ids()).toEqual([next, 'later']);
});

test('the last key is never destroyed', async () => {
  const [old = ''] = ids();
  const { next, done } = await begin();
  db.prepare('DELETE FROM service_key WHERE key_id = ?').run(next);
  const refused = expect(done).rejects.toThrow(`key ${next} was destroyed by another run with --compromised`);
  await vi.advanceTimersByTimeAsync(5000);
  await refused;
  expect(ids()).toEqual([old]);
});

test('nothing is changed unless it is agreed to', async () => {
  const before = ids();
  const confirm = vi.fn(async () => false);
  const run = { role: 'webhook-signer', isCompromised: true, say: vi.fn(), confirm };
  expect(await rotateServiceKey(config, run)).toBeUndefined();
  expect(confirm).toHaveBeenCalledWith({ role: 'webhook-signer', usedAfterMs: 5000, destroys: before });
  expect(ids()).toEqual(before);
});

const DAY_MS = 24 * 60 * 60 * 1000;
const normal = { role: 'webhook-signer', isCompromised: false, say: () => {} };

test('a clock that is behind what is stored makes no key, and a compromised one is replaced all the same', async () => {
  const before = ids();
  vi.setSystemTime(Date.now() - 3 * DAY_MS);
  const confirm = vi.fn(async () => true);
  const doubt = expect.stringMatching(/^the clock \(\S+\) is behind the newest thing that was stored \(\S+\)$/);
  await expect(rotateServiceKey(config, { ...normal, confirm })).rejects.toThrow(
    / is behind .*: set the clock first; /,
  );
  expect(confirm).not.toHaveBeenCalled();
  expect(ids()).toEqual(before);

  const done = rotateServiceKey(config, { ...normal, isCompromised: true, confirm });
  await vi.waitFor(() => expect(ids()).toHaveLength(2));
  await vi.advanceTimersByTimeAsync(5000);
  expect(await done).toMatchObject({ removed: before });
  expect(confirm).toHaveBeenCalledWith(expect.objectContaining({ doubt }));
});

test('a clock that falls behind after the question makes no key either', async () => {
  const before = ids();
  const confirm = async (): Promise<boolean> => {
    vi.setSystemTime(Date.now() - DAY_MS);
    return true;
  };
  await expect(rotateServiceKey(config, { ...normal, confirm })).rejects.toThrow(
    / is behind .*: set the clock first; /,
  );
  expect(ids()).toEqual(before);
});

test('a clock that is days ahead of what is stored is for a person to judge', async () => {
  const before = ids();
  vi.setSystemTime(Date.now() + 4 * DAY_MS);
  const confirm = vi.fn(async () => false);
  const run = { ...normal, confirm };
  expect(await rotateServiceKey(config, run)).toBeUndefined();
  const doubt = expect.stringMatching(
    /^the clock \(\S+\) is days ahead of the newest thing that the service stored \(\S+\)$/,
  );
  expect(confirm).toHaveBeenCalledWith(expect.objectContaining({ doubt, destroys: [] }));
  expect(ids()).toEqual(before);
  confirm.mockResolvedValue(true);
  expect(await rotateServiceKey(config, run)).toMatchObject({ signsFromMs: Date.now() + 15 * 60_000 });

  // It was right when the question was asked.
  vi.setSystemTime(Date.now() - 4 * DAY_MS + 60_000);
  db.prepare('DELETE FROM service_key WHERE key_id NOT IN (SELECT value FROM json_each(?))').run(
    JSON.stringify(before),
  );
  const jump = async (): Promise<boolean> => {
    vi.setSystemTime(Date.now() + 4 * DAY_MS);
    return true;
  };
  const other = { ...normal, confirm: jump };
  await expect(rotateServiceKey(config, other)).rejects.toThrow(
    / is days ahead of .*: run the command again; nothing was/,
  );
  expect(ids()).toEqual(before);
});

test('a running process of an older version is refused for every role but the one it knows', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += 1000;
    return nowMs;
  });
  vi.useRealTimers();
  const count = (role: string) => db.prepare('SELECT key_id FROM service_key WHERE role = ?').all(role).length;
  const state = (more: object = {}): string => JSON.stringify({ host: 'elsewhere', pid: 7, ...more });
  db.prepare("INSERT INTO deployment (name, value) VALUES ('process:older', ?)").run(state());
  const answers = (line: string): void => {
    if (!line.startsWith('waiting for running processes')) return;
    const { value } = db.prepare("SELECT value FROM deployment WHERE name = 'rotation'").get() as { value: string };
    const answer = state({ rotation: JSON.parse(value).id, holdsKey: true });
    db.prepare("UPDATE deployment SET value = ? WHERE name = 'process:older'").run(answer);
  };
  const run = { role: 'otp', isCompromised: false, say: answers };
  await expect(rotateServiceKey(config, run)).rejects.toThrow(
    /^process 7 on elsewhere has an older version: replace it/,
  );
  expect(count('otp')).toBe(1);
  await rotateServiceKey(config, { ...run, role: 'webhook-signer' });
  expect(count('webhook-signer')).toBe(2);

  // It was killed: nobody answers.
  db.prepare("UPDATE deployment SET value = ? WHERE name = 'process:older'").run(state());
  await rotateServiceKey(config, { ...run, say: () => {} });
  expect(count('otp')).toBe(2);
});
