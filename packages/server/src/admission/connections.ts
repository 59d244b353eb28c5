import type { Socket } from 'node:net';
import { type Body, mostStalled } from './bodies.ts';
import { LineOutside } from './pace.ts';
import { type AdmissionObserver, type RefusalReason, Refused } from './refused.ts';

const STAGE = 'connection';
/** How long nobody is let in from an address that sent many requests in one piece. */
const SHUNNED_MS = 5000;
const SHUNNED_MESSAGE = 'this address sent too many requests without waiting for answers';
/** A connection that did nothing for so long makes room for one of the same client. */
const IDLE_MS = 2000;
/** The longest that a gate tells anybody to stay away. */
const COME_AGAIN_SECONDS_MAX = 16;
/** How many of the refused may come again in a millisecond, so that to refuse them once more costs little. */
const AGAIN_PER_MS = 0.2;

/** An open connection and what it is doing. */
export interface Connection {
  readonly client: string;
  readonly socket: Socket;
  readonly sinceMs: number;
  /** Requests begun and not answered. */
  requests: number;
  /** Those of them that are still arriving. */
  readonly bodies: Set<Body>;
  lastActiveMs: number;
  /** When its client was told to come again: what it sends next has not waited since before that. */
  comesAgainAtMs: number;
}

export interface ConnectionsSettings {
  readonly max: number;
  readonly nowMs: () => number;
  readonly observe: AdmissionObserver;
}

/** All open connections, by client. When they are too many, the client that has the most loses its most idle one. */
export class Connections {
  readonly #settings: ConnectionsSettings;
  readonly #open = new Map<Socket, Connection>();
  readonly #clients = new Map<string, Set<Connection>>();
  readonly #outside = new LineOutside();
  /** Clients that are refused, and until when. */
  readonly #shunned = new Map<string, number>();

  constructor(settings: ConnectionsSettings) {
    this.#settings = settings;
  }

  get count(): number {
    return this.#open.size;
  }

  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket);
  }

  ofClient(client: string): Iterable<Connection> {
    return this.#clients.get(client) ?? [];
  }

  countOf(client: string): number {
    return this.#clients.get(client)?.size ?? 0;
  }

  /** Closes what a client has open but not at work, and refuses its connections for a while: it was up to no good. */
  shun(client: string): void {
    const nowMs = this.#settings.nowMs();
    for (const [other, untilMs] of this.#shunned) if (untilMs <= nowMs) this.#shunned.delete(other);
    this.#shunned.set(client, nowMs + SHUNNED_MS);
    for (const connection of this.ofClient(client)) if (connection.requests === 0) connection.socket.destroy();
  }

  /** Throws Refused where there is no room and nobody has to make any. */
  add(socket: Socket, client: string): void {
    const nowMs = this.#settings.nowMs();
    if ((this.#shunned.get(client) ?? 0) > nowMs) throw this.#refusal('share', SHUNNED_MESSAGE);
    if (this.#open.size >= this.#settings.max) this.#makeRoom(client);
    const connection: Connection = {
      client,
      socket,
      sinceMs: nowMs,
      requests: 0,
      bodies: new Set(),
      lastActiveMs: nowMs,
      comesAgainAtMs: nowMs,
    };
    const siblings = this.#clients.get(client) ?? new Set();
    this.#clients.set(client, siblings.add(connection));
    this.#open.set(socket, connection);
    socket.once('close', () => this.#remove(connection));
  }

  /** Notes that its client did something. */
  touch(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.lastActiveMs = this.#settings.nowMs();
  }

  /** Notes that its client was told to come again after so long; what is longer than admission ever asks for counts as that. */
  comeAgain(socket: Socket, seconds: number): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.comesAgainAtMs = this.#settings.nowMs() + Math.min(seconds, COME_AGAIN_SECONDS_MAX) * 1000;
  }

  /** Notes that a request begins or ends. */
  note(socket: Socket, change: 1 | -1): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.requests += change;
    connection.lastActiveMs = this.#settings.nowMs();
  }

  #remove(connection: Connection): void {
    if (!this.#open.delete(connection.socket)) return;
    const siblings = this.#clients.get(connection.client);
    siblings?.delete(connection);
    if (siblings?.size === 0) this.#clients.delete(connection.client);
  }

  #makeRoom(client: string): void {
    const [largest, most] = [...this.#clients].reduce((one, other) => (other[1].size > one[1].size ? other : one));
    const isOwn = client === largest || (this.#clients.get(client)?.size ?? 0) >= most.size;
    const since = isOwn ? this.#settings.nowMs() - IDLE_MS : Number.POSITIVE_INFINITY;
    let idlest: Connection | undefined;
    for (const connection of most) {
      // One that works on a request that arrived whole stays: its client could not know what became of it.
      if (connection.requests > connection.bodies.size) continue;
      if (idlest === undefined || activeAt(connection) < activeAt(idlest)) idlest = connection;
    }
    if (idlest === undefined || activeAt(idlest) > since) throw this.#refusal();
    this.#settings.observe.refused(STAGE, 'share');
    this.#close(idlest);
  }

  #close(connection: Connection): void {
    this.#remove(connection);
    for (const body of connection.bodies) body.cut(this.#refusal());
    if (connection.requests === 0) connection.socket.destroy();
  }

  #refusal(reason: RefusalReason = 'busy', what = 'the service has too many connections'): Refused {
    this.#settings.observe.refused(STAGE, reason);
    const retryAfter = this.#outside.join(this.#settings.nowMs(), AGAIN_PER_MS);
    return new Refused(reason, what, retryAfter);
  }
}

const activeAt = ({ bodies, lastActiveMs }: Connection): number => mostStalled(bodies)?.lastProgressMs ?? lastActiveMs;
