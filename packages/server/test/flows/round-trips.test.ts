import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { createPostgresDatabase } from '../harness/databases.ts';

/** Stands between the service and PostgreSQL and counts how often the service waited for an answer before it went on. */
class Wire {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  trips = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(target: URL): Promise<Wire> {
    const server = createServer({ noDelay: true });
    const wire = new Wire(server);
    server.on('connection', (client) => {
      const database = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
      let hasAnswered = true;
      for (const socket of [client, database]) {
        wire.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => [client, database].forEach((each) => void each.destroy()));
      }
      client.on('data', (piece) => {
        if (hasAnswered) wire.trips += 1;
        hasAnswered = false;
        database.write(piece);
      });
      database.on('data', (piece) => {
        hasAnswered = true;
        client.write(piece);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return wire;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

describe('round trips to PostgreSQL', () => {
  const opened: AsyncDisposable[] = [];
  let wire: Wire;
  let app: TestApp;
  let client: TestClient;
  let user: TestClient;
  beforeAll(async () => {
    const database = await createPostgresDatabase();
    wire = await Wire.open(new URL(database.url));
    const url = new URL(database.url);
    url.host = `127.0.0.1:${wire.port}`;
    app = await openTestApp('postgres', { CUSTOS_DATABASE_URL: url.toString(), CUSTOS_DATABASE_POOL: '2' });
    opened.push(database, wire, app);
    client = await createSubOrganization(app.root, 'Counted');
    user = await createUser(client, 'User');
  });
  afterAll(async () => {
    for (const resource of opened.reverse()) await resource[Symbol.asyncDispose]();
  });

  /** The fewest of several tries: workers of the service ask for their own work now and then. */
  async function fewest(ask: (count: number) => Promise<unknown>): Promise<number> {
    const counts: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      const before = wire.trips;
      await ask(count);
      counts.push(wire.trips - before);
    }
    return Math.min(...counts);
  }

  test('a query of the caller alone takes one', async () => {
    expect(await fewest(() => client.query('whoami'))).toBe(1);
  });

  test('a rename takes five: the caller; the locks; the change; what is stored of it; the commit', async () => {
    const rename = (count: number) =>
      client.run('update_user_name', { userId: user.userId, userName: `Name ${count}` });
    expect(await fewest(rename)).toBe(5);
  });
});
