import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '../lib/limits.ts';

/** So many connections linger at once. The others are closed at once, as if there were no such thing. */
const LINGERING_MAX = 16;
const LINGER_MS = 1000;

/**
 * A connection that is closed while its client still sends is reset, and most clients then never read the answer. So after
 * a refusal the service says that nothing more comes from it, and for a moment reads and forgets what is still sent.
 */
export class Lingering {
  #count = 0;

  /** To be called before an answer is ended with which Node would close the connection; whether it will linger. */
  afterAnswer(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    // An answer that stands behind others has no socket yet.
    if (this.#count >= LINGERING_MAX || response.socket === null) return false;
    this.#count += 1;
    const { destroySoon } = socket;
    // This is how Node closes it; the server's connections may be open in one direction alone.
    socket.destroySoon = () => void socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#count -= 1;
    });
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > LIMITS.bodyBytes) return void socket.destroy();
      // One piece in each turn: nobody needs them soon.
      request.pause();
      setImmediate(() => request.resume());
    });
    request.once('end', () => destroySoon.call(socket));
    return true;
  }
}
