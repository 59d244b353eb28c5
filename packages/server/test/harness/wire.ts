import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between the service and PostgreSQL and counts how often the service waited for an answer before it went on. */
export class Wire implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  trips = 0;
  /** Loses the next piece that goes this way, and with it the connection. */
  loses: 'request' | 'answer' | undefined;
  /** How often the service has connected. */
  connections = 0;
  /** So many more connections lead to the database; further ones wait for `letIn`. */
  room = Number.POSITIVE_INFINITY;
  readonly #waiting: (() => void)[] = [];

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
  }

  static async open(databaseUrl: string): Promise<Wire> {
    const target = new URL(databaseUrl);
    const server = createServer({ noDelay: true });
    const wire = new Wire(server, target);
    const lead = (client: Socket): void => {
      const database = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
      let hasAnswered = true;
      for (const socket of [client, database]) {
        wire.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => [client, database].forEach((each) => void each.destroy()));
      }
      const isLost = (way: 'request' | 'answer'): boolean => {
        if (wire.loses !== way) return false;
        wire.loses = undefined;
        client.destroy();
        database.destroy();
        return true;
      };
      client.on('data', (piece) => {
        if (isLost('request')) return;
        if (hasAnswered) wire.trips += 1;
        hasAnswered = false;
        database.write(piece);
      });
      database.on('data', (piece) => {
        if (isLost('answer')) return;
        hasAnswered = true;
        client.write(piece);
      });
    };
    server.on('connection', (client) => {
      wire.connections += 1;
      wire.room -= 1;
      if (wire.room >= 0) return lead(client);
      wire.#sockets.add(client);
      client.on('error', () => {});
      wire.#waiting.push(() => lead(client));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return wire;
  }

  /** The same database, by way of it. */
  get url(): string {
    const url = new URL(this.#target);
    url.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return url.toString();
  }

  /** Lets in those who wait, and everybody who comes. */
  letIn(): void {
    this.room = Number.POSITIVE_INFINITY;
    for (const lead of this.#waiting.splice(0)) lead();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
