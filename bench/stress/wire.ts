import { connect, type Socket } from 'node:net';

/** What came back; status 0 if the connection ended first. */
export interface Reply {
  readonly status: number;
  readonly retryAfterSeconds: number;
  readonly milliseconds: number;
  readonly errorCode: string | undefined;
}

const HEAD_END = Buffer.from('\r\n\r\n');
/** Bodies of errors are shorter; of others only the length is of interest. */
const BODY_KEPT_BYTES = 4096;

/** One keep-alive connection that writes finished requests, one after the other. An HTTP client would cost too much here. */
export class Wire {
  readonly #port: number;
  readonly #from: string;
  #socket: Socket | undefined;

  constructor(port: number, from = '127.0.0.1') {
    this.#port = port;
    this.#from = from;
  }

  /** Connects before anything is sent. */
  connected(): Promise<void> {
    const socket = this.#open();
    return new Promise((resolve) => {
      socket.once('connect', resolve);
      socket.once('close', () => {
        if (this.#socket === socket) this.#socket = undefined;
        resolve();
      });
    });
  }

  /** The time includes that of the connection, where one has to be made. */
  send(request: Buffer): Promise<Reply> {
    const sentAt = performance.now();
    const socket = this.#socket ?? this.#open();
    return new Promise((resolve) => {
      let kept: Buffer = Buffer.alloc(0);
      let receivedBytes = 0;
      const finish = (reply: Omit<Reply, 'milliseconds'>): void => {
        socket.removeAllListeners('data').removeAllListeners('close');
        resolve({ ...reply, milliseconds: performance.now() - sentAt });
      };
      socket.on('data', (chunk) => {
        receivedBytes += chunk.length;
        if (kept.length < BODY_KEPT_BYTES) kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
        const head = kept.indexOf(HEAD_END);
        if (head < 0) return;
        const text = kept.toString('latin1', 0, head);
        if (receivedBytes < head + 4 + numberIn(text, /content-length: (\d+)/i)) return;
        const isLast = /connection: close/i.test(text);
        const errorCode = /"errorCode":"(\w+)"/.exec(kept.toString('latin1', head, head + BODY_KEPT_BYTES))?.[1];
        const retryAfterSeconds = numberIn(text, /retry-after: (\d+)/i);
        finish({ status: Number(text.slice(9, 12)), retryAfterSeconds, errorCode });
        if (isLast) this.close();
      });
      socket.on('close', () => {
        this.#socket = undefined;
        finish({ status: 0, retryAfterSeconds: 1, errorCode: undefined });
      });
      socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress: this.#from, noDelay: true });
    socket.on('error', () => {});
    this.#socket = socket;
    return socket;
  }
}

export const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);

export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};
