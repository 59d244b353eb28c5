import type { Socket } from 'node:net';

/** So many requests of one connection are taken in a turn of the event loop. Browsers and SDKs send one at a time. */
const PER_TURN = 8;

/**
 * A client may send thousands of requests in one piece without waiting for answers, and Node hands all of them over in one
 * turn of the event loop, whatever else waits. Nobody who means well does so.
 */
export class Pipelining {
  readonly #abused: (socket: Socket) => void;
  readonly #inTurn = new Map<Socket, number>();

  /** `abused` hears of a connection that does it, while the rest of what it sent is still being handed over. */
  constructor(abused: (socket: Socket) => void) {
    this.#abused = abused;
  }

  /** To be called for each request; false if it is one too many, and so is all that comes after it. */
  accepts(socket: Socket): boolean {
    if (this.#inTurn.size === 0) setImmediate(() => this.#inTurn.clear());
    const count = (this.#inTurn.get(socket) ?? 0) + 1;
    this.#inTurn.set(socket, count);
    if (count === PER_TURN + 1) this.#abused(socket);
    return count <= PER_TURN;
  }
}
