import { describe, expect, test } from 'vitest';
import type { Gate } from '../../../src/admission/gate.ts';
import { clientOf } from '../../../src/domains/sign-up-proxy/request-limit.ts';
import { openTestApp } from '../../harness/app.ts';
import { createSubOrganization } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { ProxyWorld } from '../fixtures/proxy.ts';
import { ask, open, replyOn, requestOf, until, whoami } from '../fixtures/raw-requests.ts';

/** Takes all slots of a gate for a class, as so many of its requests would. */
function hold(gate: Gate, path: readonly string[], slots: number): () => void {
  const turns = Array.from({ length: slots }, () => gate.enter(path, performance.now()));
  return () => {
    for (const turn of turns) if ('end' in turn) turn.end();
  };
}

const FEW = { CUSTOS_ADMIT_REQUESTS: '2', CUSTOS_ADMIT_WAIT_MS: '100' };

describe('shares of clients', () => {
  test('behind a trusted proxy they go by the address that it forwards', async () => {
    await using app = await openTestApp('sqlite', { ...FEW, CUSTOS_TRUSTED_PROXIES: '127.0.0.1/32' });
    const { clients } = app.app.admission.gates;
    const from = (peer: string, address: string) =>
      ask(app, peer, whoami(app.root, `x-forwarded-for: ${address}`)).then(({ status }) => status);
    expect(await from('127.0.0.1', '203.0.113.7')).toBe(200);

    const release = hold(clients, ['203.0.113.7'], 2);
    expect(await from('127.0.0.1', '203.0.113.7')).toBe(503);
    expect(await from('127.0.0.1', '198.51.100.9')).toBe(200);
    // What a client claims before the proxy adds its address counts for nothing.
    expect(await from('127.0.0.1', '198.51.100.9, 203.0.113.7')).toBe(503);
    release();
    expect(await from('127.0.0.1', '203.0.113.7')).toBe(200);

    // Nobody else may say who they are.
    const releasePeer = hold(clients, ['127.0.0.2'], 2);
    expect(await from('127.0.0.2', '198.51.100.9')).toBe(503);
    releasePeer();
    expect(await from('127.0.0.2', '198.51.100.9')).toBe(200);
  });

  test('all addresses of an IPv6 network of 64 bits have one share', async () => {
    await using app = await openTestApp('sqlite', { ...FEW, CUSTOS_TRUSTED_PROXIES: '127.0.0.1/32' });
    const from = (address: string) =>
      ask(app, '127.0.0.1', whoami(app.root, `x-forwarded-for: ${address}`)).then(({ status }) => status);
    const network = clientOf('2001:db8:1:2::1') ?? '';
    expect(await from('2001:db8:1:2::1')).toBe(200);
    const release = hold(app.app.admission.gates.clients, [network], 2);
    expect(await from('2001:db8:1:2:ffff::9')).toBe(503);
    expect(await from('2001:db8:1:3::1')).toBe(200);
    release();
    expect(await from('2001:db8:1:2:ffff::9')).toBe(200);
  });
});

test('who has most of the line while others wait gets 429, and the others do not', async () => {
  await using app = await openTestApp('sqlite', { CUSTOS_ADMIT_REQUESTS: '1', CUSTOS_ADMIT_WAIT_MS: '750' });
  const [greedy, modest] = [
    await createSubOrganization(app.root, 'Greedy'),
    await createSubOrganization(app.root, 'Modest'),
  ];
  const { tenants } = app.app.admission.gates;
  const tree = app.root.organizationId;
  expect((await ask(app, '127.0.0.1', whoami(greedy))).status).toBe(200);
  const releases = [greedy, modest].map(({ organizationId }) => hold(tenants, [tree, organizationId], 1));
  expect(tenants.running).toBe(2);
  const many = [1, 2, 3].map(() => ask(app, '127.0.0.1', whoami(greedy)));
  await until(() => tenants.waiting === 3);
  const one = ask(app, '127.0.0.1', whoami(modest));
  await until(() => tenants.waiting === 4);
  for (const { status, retryAfter, text } of await Promise.all(many)) {
    expect(status).toBe(429);
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(text).toContain('"errorCode":"RATE_LIMIT_EXCEEDED"');
    expect(text).toContain('others wait for the service, and too many requests of yours wait already');
  }
  expect((await one).status).toBe(503);
  for (const release of releases) release();
  expect((await ask(app, '127.0.0.1', whoami(greedy))).status).toBe(200);
  expect((await app.app.observe.metrics.metrics()).toString()).toContain(
    'custos_admission_refused_total{stage="tenant",reason="share"} 3',
  );
});

test('requests that wait for chain nodes take no turn of those who do not', async () => {
  await using app = await openTestApp('sqlite', FEW);
  const { root } = app;
  const { outside, tenants } = app.app.admission.gates;
  const body = { organizationId: root.organizationId, address: `0x${'1'.repeat(40)}`, caip2: 'eip155:1' };
  const balances = requestOf(root, '/public/v1/query/get_wallet_address_balances', JSON.stringify(body));
  // There are at least 32 slots for them.
  const release = hold(outside, [root.organizationId, root.organizationId], 32);
  expect((await ask(app, '127.0.0.1', balances)).status).toBe(503);
  expect((await ask(app, '127.0.0.1', whoami(root))).status).toBe(200);
  release();
  // No chain is configured here.
  expect((await ask(app, '127.0.0.1', balances)).status).toBe(400);

  const releaseOwn = hold(tenants, [root.organizationId, root.organizationId], 2);
  expect((await ask(app, '127.0.0.1', whoami(root))).status).toBe(503);
  expect((await ask(app, '127.0.0.1', balances)).status).toBe(400);
  releaseOwn();
});

test('few large requests run at once, and small ones do not wait for them', async () => {
  await using app = await openTestApp('sqlite', FEW);
  const { root } = app;
  const { large } = app.app.admission.gates;
  const filled = (bytes: number) => {
    const body = { organizationId: root.organizationId, unknown: 'x'.repeat(bytes) };
    return requestOf(root, '/public/v1/query/list_policies', JSON.stringify(body));
  };
  const submit = requestOf(
    root,
    '/public/v1/submit/sign_raw_payload',
    JSON.stringify({
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
      timestampMs: String(Date.now()),
      organizationId: root.organizationId,
      parameters: { unknown: 'x'.repeat(300 * 1024) },
    }),
  );
  // It is let in and then refused for what it lacks.
  expect((await ask(app, '127.0.0.1', submit)).status).toBe(400);
  const release = hold(large, [root.organizationId, root.organizationId], 1);
  expect((await ask(app, '127.0.0.1', submit)).status).toBe(503);
  expect((await ask(app, '127.0.0.1', filled(1024))).status).toBe(200);
  release();
  expect((await ask(app, '127.0.0.1', submit)).status).toBe(400);
});

test('calls of the sign-up proxy have a share of their own, and say when to come again', async () => {
  await using world = await ProxyWorld.open('sqlite', FEW);
  const { app, root, proxy, service } = world;
  const { tenants } = app.admission.gates;
  expect((await proxy.call('wallet_kit_config')).status).toBe(200);

  const release = hold(tenants, [root.organizationId, 'sign-up proxy'], 2);
  const refused = await proxy.call('wallet_kit_config');
  expect([refused.status, refused.body.errorCode]).toEqual([503, 'UNAVAILABLE']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(refused.headers.get('access-control-expose-headers')).toBe('Retry-After');
  expect((await ask(service, '127.0.0.1', whoami(root))).status).toBe(200);
  release();

  // The other way round, too.
  const releaseOwn = hold(tenants, [root.organizationId, root.organizationId], 2);
  expect((await ask(service, '127.0.0.1', whoami(root))).status).toBe(503);
  expect((await proxy.call('wallet_kit_config')).status).toBe(200);
  releaseOwn();

  // Before its configuration is known a call counts for its address.
  const releaseClient = hold(app.admission.gates.clients, ['127.0.0.1'], 2);
  expect((await proxy.call('wallet_kit_config')).status).toBe(503);
  releaseClient();
  expect((await proxy.call('wallet_kit_config')).status).toBe(200);
});

describe.each(DATABASES)('a client that leaves on %s', (database) => {
  /** How many transactions can run at once: one, or as many as the connections for writes of the tests' pool. */
  const atOnce = database === 'sqlite' ? 1 : 5;

  test('while its request waits for the database leaves nothing behind', async () => {
    await using app = await openTestApp(database);
    const { storage, admission } = app.app;
    const rename = (userName: string): string =>
      requestOf(
        app.root,
        '/public/v1/submit/update_user_name',
        app.root.submitBody('update_user_name', { userId: app.root.userId, userName }),
      );
    const activities = async (): Promise<number> => (await app.root.query('list_activities')).body.activities.length;
    expect((await ask(app, '127.0.0.2', rename('Honest'))).status).toBe(200);
    const before = await activities();

    let holding = 0;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held = Array.from({ length: atOnce }, () =>
      storage.write(async () => {
        holding += 1;
        await released;
      }),
    );
    await until(() => holding === atOnce);
    const [gone, patient] = [await open(app, '127.0.0.2'), await open(app, '127.0.0.2')];
    const waiting = (): number => storage.load.find(({ pool }) => pool === 'write')?.waiting ?? 0;
    gone.write(rename('Gone'));
    await until(() => waiting() === 1);
    const reply = replyOn(patient);
    patient.write(rename('Patient'));
    await until(() => waiting() === 2);
    expect(await app.app.observe.metrics.metrics()).toContain('custos_database_waiting{pool="write"} 2');
    const connections = admission.connections.count;
    gone.destroy();
    await until(() => admission.connections.count < connections);
    release();
    await Promise.all(held);
    expect((await reply).status).toBe(200);
    patient.destroy();
    await until(() => admission.gates.tenants.running === 0);

    const { body } = await app.root.query('get_user', { userId: app.root.userId });
    expect(body.user.userName).toBe('Patient');
    expect(await activities()).toBe(before + 1);
  });
});
