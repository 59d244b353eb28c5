import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { ask, open, replyOn, requestOf, until, whoami } from '../fixtures/raw-requests.ts';

const MIB = 1024 * 1024;

/** Of a request that may be as large as any. */
const LARGE_HEAD = `POST /public/v1/submit/sign_transaction HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${2 * MIB}\r\n`;

/** A body of which `sent` bytes arrive and then nothing. */
async function stalled(app: TestApp, from: string, sent: number): Promise<Socket> {
  const socket = await open(app, from);
  socket.write(`${LARGE_HEAD}\r\n`);
  socket.write(Buffer.alloc(sent, 0x20));
  // Only a connection that is read notices its end.
  return socket.resume();
}

describe('admission', () => {
  test('stalled bodies of one address take no more than the room for bodies, and another address is served', async () => {
    await using app = await openTestApp('sqlite', { CUSTOS_ADMIT_BODY_MIB: '4' });
    const { bodies } = app.app.admission;
    expect((await ask(app, '127.0.0.1', whoami(app.root))).status).toBe(200);
    const sockets = await Promise.all(Array.from({ length: 8 }, () => stalled(app, '127.0.0.1', MIB)));
    const closed = sockets.map((socket) => once(socket, 'close'));
    // Some of them are told so, or cut: all eight do not fit.
    await Promise.race(closed);
    expect(bodies.bytes).toBeLessThanOrEqual(4 * MIB + 64 * 1024);
    expect((await ask(app, '127.0.0.2', whoami(app.root))).status).toBe(200);
    expect((await ask(app, '127.0.0.1', whoami(app.root))).status).toBe(200);
    // More than half of the room is taken, so those that pause for a second go too.
    await until(() => bodies.bytes < 3 * MIB);
    for (const socket of sockets) socket.destroy();
    await until(() => bodies.bytes === 0 && bodies.arriving === 0);
  });

  test('bodies of requests behind one that waits are let go with their connection', async () => {
    await using app = await openTestApp('sqlite', { CUSTOS_ADMIT_REQUESTS: '2' });
    const { bodies, gates, connections } = app.app.admission;
    const { organizationId } = app.root;
    const turns = [1, 2].map(() => gates.tenants.enter([organizationId, organizationId], performance.now()));
    const head = 'POST /nothing HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 50000\r\n\r\n';
    const sockets = await Promise.all(Array.from({ length: 5 }, () => open(app, '127.0.0.1')));
    for (const socket of sockets) socket.write(whoami(app.root) + head + 'x'.repeat(50_000));
    await until(() => gates.tenants.waiting === 5 && bodies.bytes > 5 * 50_000 && bodies.arriving === 0);
    for (const socket of sockets) socket.resetAndDestroy();
    await until(() => connections.count === 0);
    expect([bodies.bytes, gates.tenants.waiting]).toEqual([0, 0]);
    for (const turn of turns) if ('end' in turn) turn.end();
  });

  test('an address that sends many requests in one piece is shut out for a while, and others are not', async () => {
    await using app = await openTestApp('sqlite');
    const few = await open(app, '127.0.0.1');
    const all = new Promise<void>((resolve) => {
      let text = '';
      few.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        if (text.split('HTTP/1.1 200').length === 4) resolve();
      });
    });
    few.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(3));
    await all;
    const [socket, idle, other] = [
      await open(app, '127.0.0.1'),
      await open(app, '127.0.0.1'),
      await open(app, '127.0.0.2'),
    ];
    const ended = [few, socket, idle].map((each) => once(each.on('error', () => {}).resume(), 'close'));
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1000));
    await Promise.all(ended);
    const refused = await replyOn(await open(app, '127.0.0.1'));
    expect(refused.status).toBe(429);
    expect(refused.text).toContain('without waiting for answers');
    expect(other.destroyed).toBe(false);
    expect((await ask(app, '127.0.0.2', whoami(app.root))).status).toBe(200);
    other.destroy();
  });

  test('a full house closes the most idle connection of the address that has the most', async () => {
    await using app = await openTestApp('sqlite', { CUSTOS_ADMIT_CONNECTIONS: '4' });
    const crowd = [];
    for (let count = 0; count < 4; count += 1) crowd.push((await open(app, '127.0.0.1')).resume());
    await until(() => app.app.admission.connections.count === 4);
    const closed = once(crowd[0] as Socket, 'close');
    expect((await ask(app, '127.0.0.2', whoami(app.root))).status).toBe(200);
    await closed;
    expect(crowd.filter(({ destroyed }) => destroyed)).toHaveLength(1);
    // One more of the same address finds no idle one yet, and is told so at once.
    await until(() => app.app.admission.connections.count === 3);
    const last = await open(app, '127.0.0.1');
    await until(() => app.app.admission.connections.count === 4);
    const refused = await open(app, '127.0.0.1');
    const reply = await replyOn(refused);
    expect(reply.status).toBe(503);
    expect(reply.retryAfter).toBeGreaterThanOrEqual(1);
    expect(reply.text).toContain('"errorCode":"UNAVAILABLE"');
    for (const socket of [...crowd, last, refused]) socket.destroy();
  });
});

describe('a body for which there is no room', () => {
  /** A service that has no room for two megabytes more of this address. */
  async function openCrowded(): Promise<TestApp> {
    const app = await openTestApp('sqlite', { CUSTOS_ADMIT_BODY_MIB: '2' });
    const crowd = await stalled(app, '127.0.0.1', MIB / 4);
    await until(() => app.app.admission.bodies.bytes > MIB / 4);
    const dispose = async (): Promise<void> => {
      crowd.destroy();
      await app[Symbol.asyncDispose]();
    };
    return { ...app, [Symbol.asyncDispose]: dispose };
  }

  /** A connection whose client reads only when it is told to, and the service's end of it. */
  async function openDeaf(app: TestApp): Promise<[Socket, Socket]> {
    const { port } = app.server.server.address() as AddressInfo;
    const accepted = once(app.server.server, 'connection') as Promise<[Socket]>;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).pause();
    socket.on('error', () => {});
    await once(socket, 'connect');
    return [socket, (await accepted)[0]];
  }

  test('is refused so that a client which reads after it has sent everything reads it', async () => {
    await using app = await openCrowded();
    expect((await ask(app, '127.0.0.1', whoami(app.root))).status).toBe(200);
    const [socket, ourEnd] = await openDeaf(app);
    const said = once(ourEnd, 'finish');
    socket.write(LARGE_HEAD);
    socket.write('\r\n');
    await said;
    const piece = Buffer.alloc(MIB / 16, 0x20);
    for (let sent = 0; sent < 2 * MIB; sent += piece.length) {
      const error = await new Promise((resolve) => socket.write(piece, resolve));
      expect(error ?? undefined).toBeUndefined();
    }
    const reply = await replyOn(socket.resume());
    expect(reply.status).toBe(503);
    expect(reply.text).toContain('"errorCode":"UNAVAILABLE"');
    socket.destroy();
    const fetched = await fetch(`${app.baseUrl}/public/v1/submit/sign_transaction`, {
      method: 'POST',
      body: 'x'.repeat(2 * MIB),
    });
    expect(fetched.status).toBe(503);
    expect(await fetched.json()).toMatchObject({ errorCode: 'UNAVAILABLE' });
  });

  test('is waited for on few connections and for a moment, and nothing behind it is served', async () => {
    await using app = await openCrowded();
    const ends: [Socket, Socket][] = [];
    for (let count = 0; count < 17; count += 1) ends.push(await openDeaf(app));
    const closed = ends.map(([, ourEnd]) => once(ourEnd, 'close'));
    for (const [socket] of ends) socket.write(`${LARGE_HEAD}\r\n`);
    await Promise.race(closed);
    await until(() => ends.every(([, ourEnd]) => ourEnd.writableFinished));
    expect(ends.filter(([, ourEnd]) => !ourEnd.destroyed)).toHaveLength(16);
    await Promise.all(closed);
    for (const [socket] of ends) socket.destroy();

    const [socket, ourEnd] = await openDeaf(app);
    const over = once(ourEnd, 'close');
    const rename = app.root.submitBody('update_user_name', { userId: app.root.userId, userName: 'Behind' });
    socket.write(
      `${LARGE_HEAD}\r\n${' '.repeat(2 * MIB)}${requestOf(app.root, '/public/v1/submit/update_user_name', rename)}`,
    );
    expect((await replyOn(socket.resume())).status).toBe(503);
    await over;
    const { body } = await app.root.query('get_user', { userId: app.root.userId });
    expect(body.user.userName).toBe('Root');
  });

  test('is not asked for', async () => {
    await using app = await openCrowded();
    const asksFirst = 'expect: 100-continue';
    const served = await ask(app, '127.0.0.1', whoami(app.root, asksFirst));
    expect(served.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    const refused = await ask(app, '127.0.0.1', `${LARGE_HEAD}${asksFirst}\r\n\r\n`);
    expect(refused.status).toBe(503);
    expect(refused.text).toMatch(/connection: close/i);
  });
});

describe.each(DATABASES)('turns on %s', (database) => {
  test('one tenant alone may use everything, and gets 503 beyond it; another enters at once', async () => {
    await using app = await openTestApp(database, { CUSTOS_ADMIT_REQUESTS: '2', CUSTOS_ADMIT_WAIT_MS: '200' });
    const busy = await createSubOrganization(app.root, 'Busy');
    const other = await createSubOrganization(app.root, 'Other');
    const { tenants } = app.app.admission.gates;
    const tree = app.root.organizationId;
    const turns = [1, 2].map(() => tenants.enter([tree, busy.organizationId], performance.now()));
    expect(tenants.running).toBe(2);
    const asked = performance.now();
    const reply = await ask(app, '127.0.0.1', whoami(busy));
    expect(performance.now() - asked).toBeLessThan(5000);
    expect(reply.status).toBe(503);
    expect(reply.retryAfter).toBeGreaterThanOrEqual(1);
    expect((await ask(app, '127.0.0.1', whoami(other))).status).toBe(200);
    for (const turn of turns) if ('end' in turn) turn.end();
    expect((await ask(app, '127.0.0.1', whoami(busy))).status).toBe(200);
    expect((await app.app.observe.metrics.metrics()).toString()).toContain(
      'custos_admission_refused_total{stage="tenant",reason="busy"} 1',
    );
  });

  test('what waits for its turn is not begun for a client that left', async () => {
    await using app = await openTestApp(database, { CUSTOS_ADMIT_REQUESTS: '1' });
    const rename = (userName: string): string =>
      requestOf(
        app.root,
        '/public/v1/submit/update_user_name',
        app.root.submitBody('update_user_name', { userId: app.root.userId, userName }),
      );
    expect((await ask(app, '127.0.0.1', rename('Honest'))).status).toBe(200);
    const { tenants } = app.app.admission.gates;
    const turn = tenants.enter([app.root.organizationId, app.root.organizationId], performance.now());
    const gone = await open(app, '127.0.0.1');
    gone.write(rename('Gone'));
    await until(() => tenants.waiting === 1);
    gone.destroy();
    await until(() => tenants.waiting === 0);
    if ('end' in turn) turn.end();
    const user = await app.root.query('get_user', { userId: app.root.userId });
    expect(user.body.user.userName).toBe('Honest');
    expect((await app.app.observe.metrics.metrics()).toString()).toContain(
      'custos_admission_dropped_total{stage="tenant"} 1',
    );
  });
});
