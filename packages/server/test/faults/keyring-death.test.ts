import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Answer, createUser, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { TestServer } from '../harness/server.ts';
import { newWallet, SealedWorld } from './sealed-world.ts';
import {
  childrenOf,
  expectUnavailable,
  isAlive,
  type StampedBody,
  stamped,
  statusOf,
  trySend,
  waitUntil,
} from './support.ts';

const WRITERS = 8;
const KILLS = times(4);
const path = (operation: string) => `/public/v1/submit/${operation}`;

/** The keyring process of a service, which is its only child. */
function keyringOf(server: TestServer): number | undefined {
  const alive = childrenOf(server.pid).filter(isAlive);
  expect(alive.length).toBeLessThanOrEqual(1);
  return alive[0];
}

/** Kills the keyring process and keeps others from starting: without its ring none can. */
function takeKeyringAway(server: TestServer): () => void {
  const ring = join(server.dataDir, 'root.key');
  renameSync(ring, `${ring}.away`);
  process.kill(keyringOf(server) as number, 'SIGKILL');
  return () => renameSync(`${ring}.away`, ring);
}

async function readiness(server: TestServer) {
  const response = await fetch(`${server.baseUrl}/readyz`);
  const { checks } = (await response.json()) as { checks: unknown };
  return { status: response.status, retryAfter: response.headers.get('retry-after'), checks };
}

const walletRequest = (client: TestClient, name: string): StampedBody =>
  stamped(path('create_wallet'), client.submitBody('create_wallet', newWallet(name)), client.key);

async function walletNames(client: TestClient): Promise<string[]> {
  const { body } = await client.query('list_wallets');
  return body.wallets.map((wallet: { walletName: string }) => wallet.walletName).sort();
}

describe.each(DATABASES)('a keyring process that is killed, on %s', (database) => {
  test('what needs it answers 503 until it is back, and everything else goes on', { timeout: 120_000 }, async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const { root } = world;
    const other = await createUser(root, 'another root');
    expect(await readiness(server)).toMatchObject({ status: 200, checks: { keyring: true } });
    const before = await walletNames(root);
    const giveBack = takeKeyringAway(server);

    const request = walletRequest(root, 'asked for while it was away');
    expectUnavailable((await trySend(server.baseUrl, request)) as Answer);
    expectUnavailable(await world.sign(world.address));
    // Its body is sealed, because it may hold tokens.
    await expect(createUser(root, 'nobody')).rejects.toThrow('create_users: 503 ');
    const checks = { database: true, migrations: true, keyring: false };
    expect(await readiness(server)).toEqual({ status: 503, retryAfter: '1', checks });
    expect(await statusOf(server.baseUrl, '/healthz')).toBe(200);
    expect(await statusOf(server.baseUrl, '/public/v1/discovery/keys')).toBe(200);
    expect(await walletNames(root)).toEqual(before);
    await root.run('create_user_tag', { userTagName: 'made meanwhile', userIds: [] });
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, other.userId] });
    const proposed = await root.submit('create_wallet', newWallet('approved by two'));
    expect(proposed.body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    const { fingerprint, id: activityId } = proposed.body.activity;
    const approval = stamped(
      path('approve_activity'),
      other.submitBody('approve_activity', { fingerprint }),
      other.key,
    );
    expectUnavailable((await trySend(server.baseUrl, approval)) as Answer);
    const pending = await root.query('get_activity', { activityId });
    expect(pending.body.activity).toMatchObject({ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', votes: [{}] });

    giveBack();
    await waitUntil('the keyring is back', async () => (await statusOf(server.baseUrl, '/readyz')) === 200);
    const approved = (await trySend(server.baseUrl, approval)) as Answer;
    expect(approved.body.activity).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED', votes: [{}, {}] });
    expect((await trySend(server.baseUrl, approval))?.body.activity.votes).toHaveLength(2);
    expect(await walletNames(root)).toEqual([...before, 'approved by two'].sort());
    // The request that was refused was not stored, so that it now is a proposal like any other.
    const repeated = (await trySend(server.baseUrl, request)) as Answer;
    expect(repeated.body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(server.output.stderr).not.toContain('internal');
  });

  test('under load nothing acknowledged is lost, nothing runs twice', { timeout: times(120_000) }, async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const { root } = world;
    const before = await walletNames(root);
    const acknowledged: string[] = [];
    const surprises: string[] = [];
    let refused = 0;
    let isDone = false;
    const write = async (writer: number): Promise<void> => {
      for (let turn = 0; !isDone; turn += 1) {
        const name = `wallet ${writer}-${turn}`;
        const request = walletRequest(root, name);
        // The same bytes until they are acknowledged, and then once more.
        for (let answers = 0; answers < 2; ) {
          const answer = await trySend(server.baseUrl, request);
          if (answer?.status === 200) answers += 1;
          else if (answer?.status === 503) refused += 1;
          else surprises.push(JSON.stringify(answer?.body));
          if (surprises.length > 0) return;
        }
        acknowledged.push(name);
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const goal = acknowledged.length + WRITERS;
      await waitUntil('wallets are made again', () => acknowledged.length >= goal || surprises.length > 0);
      // Wallets whose keys were there already are acknowledged without it.
      await waitUntil('the keyring is back', () => keyringOf(server) !== undefined);
      process.kill(keyringOf(server) as number, 'SIGKILL');
    }
    const goal = acknowledged.length + WRITERS;
    await waitUntil('wallets are made again', () => acknowledged.length >= goal || surprises.length > 0);
    isDone = true;
    await Promise.all(writers);
    expect(surprises).toEqual([]);
    expect(refused).toBeGreaterThan(0);
    expect(await walletNames(root)).toEqual([...before, ...acknowledged].sort());
    // Imports and exports need the service keys, which each new process has been given.
    await world.expectWorking();
  });
});

test('the keyring process ends with its service, however that ends', async () => {
  for (const end of ['kill', 'stop'] as const) {
    await using server = await TestServer.start();
    const keyring = keyringOf(server) as number;
    expect(isAlive(keyring)).toBe(true);
    await server[end]();
    await waitUntil('the keyring process has ended', () => !isAlive(keyring));
  }
});

test('signals to the whole group do not end it before its service has finished', async () => {
  await using server = await TestServer.start();
  const keyring = keyringOf(server) as number;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(keyring, signal);
  const root = TestClient.root(server.credentials, server.baseUrl);
  await root.run('create_wallet', newWallet('after the signals'));
  expect(keyringOf(server)).toBe(keyring);
  expect(await server.stop()).toBe(0);
  expect(isAlive(keyring)).toBe(false);
});
