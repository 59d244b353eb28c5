import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that were read whole and are not answered yet; what comes after them must not be answered before them. */
export class InFlight {
  readonly #requests = new WeakMap<Socket, Set<IncomingMessage>>();
  readonly #ending = new WeakSet<Socket>();

  add(request: IncomingMessage): void {
    const { socket } = request;
    const requests = this.#requests.get(socket) ?? new Set();
    this.#requests.set(socket, requests.add(request));
  }

  delete(request: IncomingMessage): void {
    const { socket } = request;
    const requests = this.#requests.get(socket);
    requests?.delete(request);
    if (requests?.size === 0 && this.#ending.has(socket)) socket.end();
  }

  endAfterAnswers(socket: Socket): boolean {
    const isAnswering = [...(this.#requests.get(socket) ?? [])].some((request) => request.complete);
    if (isAnswering) this.#ending.add(socket);
    return isAnswering;
  }
}
