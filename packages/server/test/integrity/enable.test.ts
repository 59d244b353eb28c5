import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createKeyring } from '@custos/keyring';
import { expect, test } from 'vitest';
import { openRootKey } from '../../src/bootstrap.ts';
import type { Config } from '../../src/config/config.ts';
import { OrganizationReader } from '../../src/core/store/organizations.ts';
import { UserStore } from '../../src/domains/users/store/users.ts';
import { dataModel } from '../../src/domains.ts';
import { enableIntegrity } from '../../src/integrity/enable.ts';
import { describeViolation } from '../../src/integrity/open.ts';
import type { OrganizationId } from '../../src/lib/ids.ts';
import { randomId } from '../../src/lib/ids.ts';
import { openServiceKeys } from '../../src/service-keys.ts';
import { openStorage } from '../../src/storage/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { runCli, waitUntil } from '../faults/support.ts';
import { verifyMarks } from '../fixtures/integrity.ts';
import { KeyDeployment } from '../fixtures/key-deployment.ts';

// PostgreSQL with rows of an older version, and services that run beside the command.

const CLI = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));
const SECONDS = 120_000;
const USERS = 3000;

interface Service extends AsyncDisposable {
  readonly storage: Storage;
}

/** What of a service follows the command. */
async function runService(config: Config): Promise<Service> {
  const storage = await openStorage({ dataModel, ...config, nowMs: Date.now(), onIdleError: () => {} });
  const keyring = await openRootKey(storage, config.rootKey, 'inline');
  await openServiceKeys(storage, keyring, Date.now());
  return {
    storage,
    [Symbol.asyncDispose]: async () => {
      await keyring.close();
      await storage.close();
    },
  };
}

async function makeOlder(users = 0): Promise<KeyDeployment> {
  const one = await KeyDeployment.make('postgres', { ringBefore: true });
  if (users > 0)
    await one.write(`INSERT INTO app_user (organization_id, id, name, email_verified, phone_verified, revision, created_at_ms, updated_at_ms)
      SELECT organization.id, 'user-' || n, 'user ' || n, 0, 0, 1, 0, 0 FROM organization, generate_series(1, ${users}) AS n`);
  await one.forgetMarks();
  return one;
}

const environmentOf = ({ config }: KeyDeployment): Record<string, string> => ({
  CUSTOS_DATA_DIR: config.dataDir,
  CUSTOS_DATABASE_URL: config.databaseUrl ?? '',
  CUSTOS_KEYRING: 'inline',
  CUSTOS_ROOT_KEY: config.rootKey,
});

async function requiredBy(config: Config): Promise<string[]> {
  const keyring = await createKeyring({ rootKey: config.rootKey, mode: 'inline' });
  try {
    return await keyring.integrityRequired();
  } finally {
    await keyring.close();
  }
}

const quiet = { say: () => {}, report: () => {}, confirm: async () => true, drainMs: 0 };

async function expectClean(config: Config): Promise<void> {
  const bad: string[] = [];
  const verified = await verifyMarks(config, (violation) => bad.push(describeViolation(violation)));
  expect(bad).toEqual([]);
  expect(verified).toMatchObject({ unmarked: 0, isRequired: true });
}

const newUser = async ({ storage }: Service, organizationId: OrganizationId): Promise<void> => {
  const user = { id: randomId(), name: randomId(), email: undefined, phone: undefined };
  await storage.write(async (store) => {
    await store(OrganizationReader).get(organizationId);
    await store(UserStore).insert(organizationId, [user as never], Date.now());
  });
};

test('services that run follow, on this machine and on others', { timeout: SECONDS }, async () => {
  await using one = await makeOlder();
  const other = one.withCopyOfRing('other.key');
  await using here = await runService(one.config);
  await using there = await runService(other.config);
  const [{ id }] = (await one.read('SELECT id FROM organization')) as [{ id: OrganizationId }];
  const isActive = (): boolean[] => [here, there].map(({ storage }) => storage.integrity.isActive);
  // Beside processes of an older version marks say nothing yet, and nothing is marked.
  expect(isActive()).toEqual([false, false]);
  await newUser(here, id);
  expect(await one.read('SELECT 1 FROM app_user WHERE app_user_mac IS NOT NULL')).toEqual([]);
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      await newUser(here, id);
      await newUser(there, id);
    }
  })();
  const enabled = await enableIntegrity(one.config, { ...quiet, drainMs: 1000 });
  expect(enabled).toMatchObject({ bad: 0 });
  await waitUntil('both require marks', () => [here, there].every(({ storage }) => storage.integrity.isRequired));
  await waitUntil('both rings say so', async () => (await requiredBy(other.config)).length === 1);
  isOver = true;
  await writing;
  expect(await requiredBy(one.config)).toEqual(await requiredBy(other.config));
  await expectClean(one.config);
  // Whoever takes the note away changes nothing, and it is there again.
  await one.write("DELETE FROM deployment WHERE name = 'integrity'");
  await waitUntil('the note is back', async () => (await one.fact('integrity')) !== undefined);
  expect(isActive()).toEqual([true, true]);
});

test('a process of an older version that runs stops it, one that was killed does not', {
  timeout: SECONDS,
}, async () => {
  await using one = await makeOlder();
  await using _service = await runService(one.config);
  const state = { host: 'elsewhere', pid: 4711, knowsEarlierKeys: true };
  await one.putFact('process:older', JSON.stringify(state));
  let isOver = false;
  const answering = (async () => {
    while (!isOver) {
      const record = await one.fact('rotation');
      if (record !== undefined) {
        const { id } = JSON.parse(record) as { id: string };
        const answer = JSON.stringify({ ...state, rotation: id, holdsKey: true });
        await one.write("UPDATE deployment SET value = ? WHERE name = 'process:older'", [answer]);
      }
      await sleep(50);
    }
  })();
  await expect(enableIntegrity(one.config, quiet)).rejects.toThrow(/^process 4711 on elsewhere has an older version/);
  expect(await one.fact('integrity')).toBeUndefined();
  expect(await requiredBy(one.config)).toEqual([]);
  isOver = true;
  await answering;
  expect(await enableIntegrity(one.config, quiet)).toMatchObject({ bad: 0 });
  await expectClean(one.config);
});

test('a row whose mark does not fit is listed, and marks are not required', { timeout: SECONDS }, async () => {
  await using one = await makeOlder();
  await (await runService(one.config))[Symbol.asyncDispose]();
  await one.write("UPDATE api_key SET api_key_mac = '1.AAAAAAAAAAAAAAAAAAAAAA'");
  const reported: string[] = [];
  const report = (violation: Parameters<typeof describeViolation>[0]): void => void reported.push(violation.table);
  expect(await enableIntegrity(one.config, { ...quiet, report })).toMatchObject({ bad: 1 });
  expect(reported).toEqual(['api_key']);
  expect(await requiredBy(one.config)).toEqual([]);
  expect(await one.read("SELECT api_key_mac FROM api_key WHERE api_key_mac LIKE '1.AAAAAAAAAA%'")).toHaveLength(1);
  const outcome = await runCli(environmentOf(one), 'integrity', 'enable', '--yes');
  expect([outcome.code, outcome.stdout]).toEqual([1, expect.stringMatching(/^not marked by this service: api_key /)]);
  await one.write('UPDATE api_key SET api_key_mac = NULL');
  expect(await enableIntegrity(one.config, quiet)).toMatchObject({ bad: 0 });
  await expectClean(one.config);
});

test('killed at any moment, it is run again', { timeout: SECONDS }, async () => {
  await using one = await makeOlder(USERS);
  await (await runService(one.config))[Symbol.asyncDispose]();
  const moments: string[] = [];
  for (let killed = 0; killed < 6; killed += 1) {
    const child = spawn(process.execPath, [CLI, 'integrity', 'enable', '--yes'], {
      env: { PATH: process.env['PATH'] ?? '', ...environmentOf(one) },
      stdio: 'ignore',
    });
    const isReached = async (): Promise<boolean> => {
      const [row] = await one.read('SELECT count(*) AS n FROM app_user WHERE app_user_mac IS NOT NULL');
      return Number(row?.['n']) >= (killed * USERS) / 5 || child.exitCode !== null;
    };
    const isBegun = async (): Promise<boolean> =>
      (await one.fact('integrity')) !== undefined || child.exitCode !== null;
    await waitUntil('it is under way', killed === 0 ? isBegun : isReached);
    const gone = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await gone;
    moments.push((await one.fact('integrity'))?.split(' ')[0] ?? 'none');
  }
  console.log(`killed while ${moments.join(', ')}`);
  const { code, stderr } = await runCli(environmentOf(one), 'integrity', 'enable', '--yes');
  expect([code, stderr.replace(/[\s\S]*Back up/, 'Back up')]).toEqual([
    0,
    expect.stringMatching(/^Back up the key ring/),
  ]);
  await expectClean(one.config);
  const verified = await runCli(environmentOf(one), 'verify', '--json');
  expect([verified.code, JSON.parse(verified.stdout)]).toEqual([
    0,
    expect.objectContaining({ bad: 0, required: true }),
  ]);
  const status = await runCli(environmentOf(one), 'status');
  expect(status.stdout).toMatch(/\nintegrity {3}stored rows must be authenticated \(integrity key [0-9a-f]{32}\)\n/);
  // What somebody inserts after that is found, by the command too.
  await one.write("UPDATE app_user SET name = 'thief' WHERE id = 'user-7'");
  const found = await runCli(environmentOf(one), 'verify');
  expect([found.code, found.stdout]).toEqual([
    1,
    expect.stringMatching(/^not as a service wrote it: app_user user-7 of organization /),
  ]);
});

test('a ring from before it is told by the note, and a first machine that was not is told by the command', {
  timeout: SECONDS,
}, async () => {
  await using one = await makeOlder();
  await (await runService(one.config))[Symbol.asyncDispose]();
  await enableIntegrity(one.config, quiet);
  const [id] = await requiredBy(one.config);
  copyFileSync(`${one.ringPath}.before`, one.ringPath);
  expect(await enableIntegrity(one.config, quiet)).toMatchObject({ keyId: id, marked: 0, bad: 0 });
  expect(await requiredBy(one.config)).toEqual([id]);
});

test('of deliveries those are marked that may still be sent', { timeout: SECONDS }, async () => {
  await using one = await makeOlder();
  await (await runService(one.config))[Symbol.asyncDispose]();
  const [{ id }] = (await one.read('SELECT id FROM organization')) as [{ id: string }];
  const states = ['pending', 'failed', 'dead', 'delivered'];
  for (const state of states) {
    await one.write(`INSERT INTO webhook_event (organization_id, id, event_type, about_id, body, body_length, kept_since_ms, created_at_ms)
      VALUES ('${id}', 'event-${state}', 'ACTIVITY_UPDATES', '${id}', '{}', 2, 0, 0)`);
    await one.write(`INSERT INTO webhook_delivery (organization_id, id, endpoint_id, event_id, state, failures, attempts,
        next_attempt_at_ms, round_started_at_ms, created_at_ms, updated_at_ms)
      VALUES ('${id}', 'delivery-${state}', 'endpoint', 'event-${state}', '${state}', 0, '[]', 0, 0, 0, 0)`);
  }
  expect(await enableIntegrity(one.config, quiet)).toMatchObject({ bad: 0 });
  const marked = async (table: string): Promise<unknown[]> =>
    (await one.read(`SELECT id FROM ${table} WHERE ${table}_mac IS NOT NULL ORDER BY id`)).map((row) => row['id']);
  expect(await marked('webhook_delivery')).toEqual(['delivery-dead', 'delivery-failed', 'delivery-pending']);
  expect(await marked('webhook_event')).toEqual(['event-dead', 'event-failed', 'event-pending']);
  await expectClean(one.config);
  // Such a row is found as soon as it says that it waits, and an event as soon as a delivery of it does.
  await one.write("UPDATE webhook_delivery SET state = 'pending' WHERE id = 'delivery-delivered'");
  const bad: string[] = [];
  await verifyMarks(one.config, ({ table, row }) => bad.push(`${table} ${row}`));
  expect(bad.sort()).toEqual(['webhook_delivery delivery-delivered', 'webhook_event event-delivered']);
});
