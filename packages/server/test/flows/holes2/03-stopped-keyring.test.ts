import { expect, test } from 'vitest';
import { newWallet, SealedWorld } from '../../faults/sealed-world.ts';
import {
  childrenOf,
  expectUnavailable,
  isAlive,
  stamped,
  statusOf,
  suspend,
  trySend,
  waitUntil,
} from '../../faults/support.ts';
import type { Answer } from '../../harness/client.ts';
import { TestServer } from '../../harness/server.ts';

const PATH = '/public/v1/submit/create_wallet';

/** The goals are 5 s and 10 s; the machine that runs the tests may have much else to do. */
const NOT_READY_MS_MAX = 10_000;
const RESTARTED_MS_MAX = 40_000;

interface Ready {
  readonly status: number;
  readonly body: { readonly status: string; readonly checks: object; readonly reasons?: Record<string, string> };
}

async function readyz(server: TestServer): Promise<Ready> {
  const response = await fetch(`${server.baseUrl}/readyz`);
  return { status: response.status, body: (await response.json()) as Ready['body'] };
}

test('a keyring process that is stopped makes the service not ready and is replaced', { timeout: 90_000 }, async () => {
  await using server = await TestServer.start({ env: { CUSTOS_LOG_LEVEL: 'warn' } });
  const world = await SealedWorld.make(server);
  const { root } = world;
  expect(await readyz(server)).toEqual({
    status: 200,
    body: {
      status: 'ready',
      checks: { database: true, migrations: true, keyring: true },
      integrity: { required: true, violations: 0 },
      fence: { up: false },
    },
  });
  const [keyring] = childrenOf(server.pid).filter(isAlive) as [number];
  const stoppedAtMs = performance.now();
  await suspend(keyring);

  const request = stamped(PATH, root.submitBody('create_wallet', newWallet('asked for while it hung')), root.key);
  const answer = trySend(server.baseUrl, request);
  let unready: Ready | undefined;
  await waitUntil(
    'the service is not ready',
    async () => {
      unready = await readyz(server);
      return unready.status === 503;
    },
    NOT_READY_MS_MAX,
  );
  const unreadyMs = performance.now() - stoppedAtMs;
  expect(unready?.body.checks).toEqual({ database: true, migrations: true, keyring: false });
  expect(unready?.body.reasons?.['keyring']).toMatch(/did not answer in time|no answer within|gone or still starting/);
  const metricsOf = async (): Promise<string> => (await fetch(`${server.baseUrl}/metrics`)).text();
  // What needs no key goes on.
  expect((await root.query('whoami')).status).toBe(200);
  expect(await statusOf(server.baseUrl, '/healthz')).toBe(200);
  const refused = (await answer) as Answer;
  expectUnavailable(refused);
  expect(refused.body.message).toMatch(/^the keyring is not available: /);

  await waitUntil('the keyring is back', async () => (await readyz(server)).status === 200, RESTARTED_MS_MAX);
  console.log(
    `not ready after ${Math.round(unreadyMs)} ms, back after ${Math.round(performance.now() - stoppedAtMs)} ms`,
  );
  expect(isAlive(keyring)).toBe(false);
  for (let time = 0; time < 2; time += 1) expect((await trySend(server.baseUrl, request))?.status).toBe(200);
  const { body } = await root.query('list_wallets');
  const names = body.wallets.map((wallet: { walletName: string }) => wallet.walletName);
  expect(names.filter((name: string) => name === 'asked for while it hung')).toHaveLength(1);
  await world.expectWorking();

  expect(server.output.stderr).toContain('"reason":"silent","message":"the keyring process did not answer');
  expect(server.output.stderr).toContain('keyring process started again');
  const metrics = await metricsOf();
  expect(metrics).toMatch(/^custos_keyring_pending 0$/m);
  expect(metrics).toMatch(/^custos_keyring_pending_bytes 0$/m);
  expect(metrics).toMatch(/^custos_keyring_restarts_total\{reason="silent"\} 1$/m);
  expect(metrics).toMatch(/^custos_keyring_up 1$/m);
  expect(metrics).toMatch(/^custos_readiness_failures_total\{check="keyring"\} [1-9]/m);
});
