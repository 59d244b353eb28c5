import { EventEmitter } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** How long a test waits for what should happen at once. */
const PATIENCE_MS = 15_000;

/** One request as it came over the wire. */
export interface Arrival {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were spelled. */
  readonly rawHeaders: readonly string[];
  readonly raw: Buffer;
  // Test code reads whatever a test expects.
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  readonly body: any;
  /** Of the event. */
  readonly eventId: string;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A status alone, a whole answer, a connection that breaks off, or none until `release`. */
export type Answer = number | Reply | 'drop' | 'hang';

/** One URL of a receiver, with a script of its own. */
export class Hook {
  readonly url: string;
  readonly arrivals: Arrival[] = [];
  /** What requests get that no script is left for. */
  otherwise: Answer = 200;
  /** How many requests have been without an answer at the same time, at most. */
  inFlightMax = 0;
  readonly #inFlight = new Set<ServerResponse>();
  readonly #hanging = new Set<ServerResponse>();
  readonly #script: Answer[] = [];
  readonly #events = new EventEmitter();
  #taken = 0;

  constructor(url: string) {
    this.url = url;
    this.#events.setMaxListeners(0);
  }

  /** What the next requests get, in this order. */
  answerNext(...answers: readonly Answer[]): void {
    this.#script.push(...answers);
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** The first request that no call has taken yet. */
  async next(): Promise<Arrival> {
    await this.count(this.#taken + 1);
    const arrival = this.arrivals[this.#taken] as Arrival;
    this.#taken += 1;
    return arrival;
  }

  /** The next so many. */
  async take(count: number): Promise<Arrival[]> {
    const taken: Arrival[] = [];
    while (taken.length < count) taken.push(await this.next());
    return taken;
  }

  /** Until there were so many in all. */
  async count(count: number): Promise<void> {
    await this.#until(() => this.arrivals.length >= count, `${count} requests at ${this.url}`);
  }

  async waitFor(predicate: (arrival: Arrival) => boolean): Promise<Arrival> {
    await this.#until(() => this.arrivals.some(predicate), `a certain request at ${this.url}`);
    return this.arrivals.find(predicate) as Arrival;
  }

  /** Until so many requests are being answered at this moment. */
  async inFlightCount(count: number): Promise<void> {
    await this.#until(() => this.#inFlight.size === count, `${count} requests in flight at ${this.url}`);
  }

  /** Gives this answer to all requests that hang. */
  release(answer: Exclude<Answer, 'hang'> = 200): void {
    for (const response of this.#hanging) {
      this.#hanging.delete(response);
      this.#give(response, answer);
    }
  }

  receive(request: IncomingMessage, raw: Buffer, response: ServerResponse): void {
    this.#inFlight.add(response);
    this.inFlightMax = Math.max(this.inFlightMax, this.#inFlight.size);
    response.once('close', () => {
      this.#inFlight.delete(response);
      this.#hanging.delete(response);
      this.#events.emit('change');
    });
    this.arrivals.push({
      method: request.method ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      raw,
      body: parse(raw),
      eventId: String(request.headers['x-service-event-id']),
    });
    this.#give(response, this.#script.shift() ?? this.otherwise);
    this.#events.emit('change');
  }

  #give(response: ServerResponse, answer: Answer): void {
    if (answer === 'hang') this.#hanging.add(response);
    else if (answer === 'drop') response.destroy();
    else if (typeof answer === 'number') response.writeHead(answer).end();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  async #until(isSo: () => boolean, what: string): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (!isSo()) return;
        end();
        resolve();
      };
      const patience = setTimeout(() => {
        end();
        reject(new Error(`waited in vain for ${what}; there were ${this.arrivals.length} requests`));
      }, PATIENCE_MS);
      const end = (): void => {
        clearTimeout(patience);
        this.#events.off('change', look);
      };
      this.#events.on('change', look);
    });
  }
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Receives webhooks on loopback. Whatever hangs breaks off with it. */
export class WebhookReceiver implements AsyncDisposable {
  readonly #server: Server;
  readonly #hooks = new Map<string, Hook>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<WebhookReceiver> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => {});
      request.on('end', () => receiver.#receive(request, Buffer.concat(chunks), response));
    });
    const receiver = new WebhookReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  /** A URL that nobody had before. */
  hook(): Hook {
    const path = `/hook-${this.#hooks.size + 1}`;
    const hook = new Hook(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`);
    this.#hooks.set(path, hook);
    return hook;
  }

  #receive(request: IncomingMessage, raw: Buffer, response: ServerResponse): void {
    const hook = this.#hooks.get(request.url ?? '');
    if (hook === undefined) response.writeHead(404).end();
    else hook.receive(request, raw, response);
  }

  /** Nobody listens any more; what arrives is refused by the system. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
