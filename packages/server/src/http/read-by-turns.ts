import type { Connection, Connections } from '../admission/connections.ts';
import { handleOf } from './handle.ts';

/** A client with so few connections is always read: its requests at once make no turn long. */
const FEW_CONNECTIONS = 64;
/** So many requests of one client are read in a turn of the event loop. */
const PER_TURN = 4;
/** A younger connection is always read: it may be the only one of somebody behind a busy address. */
const YOUNG_MS = 250;
/** So many connections are read again in a turn where those before had nothing to say. */
const READ_AGAIN_MAX = 4 * PER_TURN;
/** A line is read faster where it would otherwise take longer than this, as on a machine with much else to do. */
const HELD_MS = 5000;

/** The connections of a client that are not read, and since when. */
interface Line {
  readonly held: Map<Connection, number>;
  /** How many there were at most. */
  heldMost: number;
  /** How many are read again at the end of this turn. */
  size: number;
  /** How many of those who were read again had something to say. */
  requests: number;
}

/**
 * Node reads everything that has arrived before it does anything else. Thousands of requests of one client that arrive
 * together would be one turn of the event loop, a second long, in which nobody else is heard. When a client sends more
 * than belongs in a turn, its other connections are not read for now, and then some of them in each turn.
 */
export class ReadByTurns {
  readonly #connections: Connections;
  readonly #nowMs: () => number;
  /** Requests in this turn, by client. */
  readonly #inTurn = new Map<string, number>();
  readonly #lines = new Map<string, Line>();
  /** Connections that are read again in this turn. What they bring may have been there since they were not. */
  readonly #readAgain = new Map<Connection, number>();
  #isTurnEnding = false;
  #turnEndedAtMs = 0;

  constructor(connections: Connections, nowMs: () => number) {
    this.#connections = connections;
    this.#nowMs = nowMs;
  }

  /** To be called for each request; since when it waits to be read. */
  arrived(connection: Connection): number {
    const heldSinceMs = this.#readAgain.get(connection);
    const nowMs = this.#nowMs();
    if (heldSinceMs !== undefined) {
      this.#readAgain.delete(connection);
      const line = this.#lines.get(connection.client);
      if (line !== undefined) line.requests += 1;
      // Who was told to come again later, and did, was silent until then, and did not wait.
      const { comesAgainAtMs } = connection;
      return comesAgainAtMs > nowMs ? heldSinceMs : Math.max(heldSinceMs, comesAgainAtMs);
    }
    if (!isYoung(connection, nowMs)) this.#count(connection, nowMs);
    return nowMs;
  }

  #count(connection: Connection, nowMs: number): void {
    const { client } = connection;
    const count = (this.#inTurn.get(client) ?? 0) + 1;
    this.#inTurn.set(client, count);
    this.#endTurnLater();
    if (count === PER_TURN && this.#connections.countOf(client) > FEW_CONNECTIONS)
      this.#hold(client, connection, nowMs);
  }

  /** Reads no more of this client's connections, but those on which something is going on. */
  #hold(client: string, except: Connection, nowMs: number): void {
    const line = this.#lines.get(client) ?? {
      held: new Map<Connection, number>(),
      heldMost: 0,
      size: PER_TURN,
      requests: 0,
    };
    for (const connection of this.#connections.ofClient(client)) {
      // Nor those whose turn it is to be read: held once more they would wait twice, and only the second time would count.
      const isBusy = connection === except || connection.requests > 0 || this.#readAgain.has(connection);
      if (isBusy || line.held.has(connection) || isYoung(connection, nowMs)) continue;
      if (setReading(connection, 'readStop')) line.held.set(connection, nowMs);
    }
    line.heldMost = Math.max(line.heldMost, line.held.size);
    if (line.held.size > 0) this.#lines.set(client, line);
  }

  #endTurnLater(): void {
    if (this.#isTurnEnding) return;
    this.#isTurnEnding = true;
    // A turn begins with its first request.
    if (this.#lines.size === 0) this.#turnEndedAtMs = this.#nowMs();
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#isTurnEnding = false;
    this.#inTurn.clear();
    this.#readAgain.clear();
    const nowMs = this.#nowMs();
    const part = Math.min(1, (nowMs - this.#turnEndedAtMs) / HELD_MS);
    this.#turnEndedAtMs = nowMs;
    for (const [client, line] of this.#lines) {
      if (line.held.size === 0) this.#lines.delete(client);
      else this.#readSome(line, line.heldMost * part);
    }
    if (this.#lines.size > 0) this.#endTurnLater();
  }

  #readSome(line: Line, least: number): void {
    const { held, requests } = line;
    const size = Math.round((line.size * PER_TURN) / Math.max(1, requests));
    line.size = Math.max(PER_TURN, Math.min(READ_AGAIN_MAX, size));
    line.requests = 0;
    let room = Math.max(line.size, Math.ceil(least));
    for (const [connection, sinceMs] of held) {
      if (room === 0) return;
      held.delete(connection);
      if (!setReading(connection, 'readStart')) continue;
      this.#readAgain.set(connection, sinceMs);
      room -= 1;
    }
  }
}

const isYoung = ({ sinceMs }: Connection, nowMs: number): boolean => nowMs - sinceMs < YOUNG_MS;

/** Node has no other way to say this of a connection whose parser reads it directly. */
function setReading({ socket }: Connection, method: 'readStart' | 'readStop'): boolean {
  const handle = handleOf(socket);
  if (socket.destroyed || handle === undefined) return false;
  const set = (handle as Record<string, unknown>)[method];
  if (typeof set !== 'function') return false;
  set.call(handle);
  return true;
}
