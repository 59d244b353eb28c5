import type { EventEmitter } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Chance, Row } from './support.ts';

/** What is wrong with a receiver. `unread` and `read` drop the connection before and after they have read the body. */
export type Trouble = 'none' | 'error' | 'hang' | 'unread' | 'read' | 'vanish' | 'slow' | 'busy' | 'garbage';

/** A request whose body was read, whatever became of it. */
export interface Arrival {
  readonly eventId: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  readonly body: Row;
  readonly isTaken: boolean;
}

/** They take whatever reaches them. */
const TAKING: readonly Trouble[] = ['none', 'slow', 'vanish'];
const SHARE = 0.2;
/**
 * Of events that are refused at random. The whole endpoint rests after each that is told to come later, and for ten
 * seconds behind one that hangs: that happens only where the test asks for it.
 */
const REFUSED_MAX: Readonly<Partial<Record<Trouble, number>>> = { hang: 0, busy: 3 };
const REFUSED_MAX_USUALLY = 12;
/** The connections that nobody accepts, and how long after the first one: less than until a second attempt. */
const VANISHES = 3;
const VANISHING_MS = 3000;
const GARBAGE = ['HTTP/2.0 what\r\n\r\n', '\0\x01\x02\x03', 'HTTP/1.1 20', '220 mail.example ESMTP\r\n', '\r\n{}\r\n'];

/**
 * A receiver of webhooks that does not take every attempt. It refuses an event once, so that nothing has to be tried
 * more than twice: what is published as the second delay is longer than a test should last.
 */
export class TroubledReceiver implements AsyncDisposable {
  readonly trouble: Trouble;
  readonly arrivals: Arrival[] = [];
  /** By event, the timestamp of the attempt that was refused. */
  readonly refused = new Map<string, string>();
  readonly hanging = new Set<ServerResponse>();
  isGood = false;
  readonly #chance: Chance;
  readonly #events: EventEmitter;
  readonly #server: Server;
  #vanished = 0;
  #vanishedAtMs = 0;
  #mustRefuse = false;

  private constructor(trouble: Trouble, chance: Chance, events: EventEmitter) {
    this.trouble = trouble;
    this.#chance = chance;
    this.#events = events;
    this.#server = createServer((request, response) => this.#receive(request, response));
    this.#server.on('connection', (socket) => this.#accept(socket));
  }

  /** Emits `arrival` for each request before anything is answered. */
  static async start(trouble: Trouble, chance: Chance, events: EventEmitter): Promise<TroubledReceiver> {
    const receiver = new TroubledReceiver(trouble, chance, events);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${this.trouble}`;
  }

  /** The next event that it has not refused before is refused; false for one that refuses none. */
  refuseNext(): boolean {
    this.#mustRefuse = !TAKING.includes(this.trouble);
    return this.#mustRefuse;
  }

  get hasRefused(): boolean {
    return !this.#mustRefuse;
  }

  answerHanging(): void {
    for (const response of this.hanging) response.writeHead(503).end();
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {});
    if (this.isGood || this.trouble !== 'vanish' || this.#vanished === VANISHES) return;
    if (this.#vanished === 0) this.#vanishedAtMs = performance.now();
    if (performance.now() - this.#vanishedAtMs > VANISHING_MS) return;
    this.#vanished += 1;
    socket.destroy();
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const eventId = String(request.headers['x-service-event-id']);
    this.#events.emit('arrival');
    const isRefused = this.#refuses(eventId, String(request.headers['x-service-timestamp']));
    if (isRefused && this.trouble === 'unread') {
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const note = (isTaken: boolean): void => {
        const raw = Buffer.concat(chunks);
        this.arrivals.push({ eventId, headers: request.headers, raw, body: JSON.parse(raw.toString('utf8')), isTaken });
      };
      if (isRefused) {
        note(false);
        this.#refuse(request.socket, response);
      } else if (this.trouble === 'slow' && !this.isGood && this.#chance.next() < SHARE) {
        // Whoever asked may be gone by then, and asks again.
        setTimeout(
          () => {
            note(!request.socket.destroyed);
            response.end();
          },
          this.#chance.between(100, 500),
        );
      } else {
        note(true);
        response.end();
      }
    });
  }

  /** One attempt of an event: a delivery that meets a closed connection is sent twice within the same attempt. */
  #refuses(eventId: string, timestamp: string): boolean {
    const before = this.refused.get(eventId);
    if (before !== undefined) return before === timestamp;
    if (this.isGood || TAKING.includes(this.trouble)) return false;
    const isChosen =
      this.#chance.next() < SHARE && this.refused.size < (REFUSED_MAX[this.trouble] ?? REFUSED_MAX_USUALLY);
    if (!isChosen && !this.#mustRefuse) return false;
    this.#mustRefuse = false;
    this.refused.set(eventId, timestamp);
    return true;
  }

  #refuse(socket: Socket, response: ServerResponse): void {
    switch (this.trouble) {
      case 'error':
        response.writeHead(503).end('no');
        break;
      case 'busy':
        response.writeHead(429, { 'Retry-After': '1' }).end();
        break;
      case 'hang':
        this.hanging.add(response);
        response.once('close', () => this.hanging.delete(response));
        break;
      case 'garbage':
        socket.end(this.#chance.pick(GARBAGE));
        break;
      default:
        socket.destroy();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Those of one test. */
export class Receivers implements AsyncDisposable {
  readonly #events: EventEmitter;
  readonly #started: TroubledReceiver[] = [];

  constructor(events: EventEmitter) {
    this.#events = events;
  }

  async start(trouble: Trouble, chance: Chance): Promise<TroubledReceiver> {
    const receiver = await TroubledReceiver.start(trouble, chance, this.#events);
    this.#started.push(receiver);
    return receiver;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#started.map((receiver) => receiver[Symbol.asyncDispose]()));
  }
}
