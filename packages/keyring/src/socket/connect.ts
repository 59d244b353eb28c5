import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyringError } from '../errors.ts';
import type { Notice, Order, Wake } from '../process/channel.ts';
import type { KeyringChild } from '../process/child.ts';
import { messageBytes, readExactly, readMessages } from './exchange.ts';
import * as handshake from './handshake.ts';
import { readLinkKey } from './link-key.ts';
import { absent, lookAtSocket, unusable } from './place.ts';
import type { EndedMessage, OpenMessage } from './session.ts';

const HANDSHAKE_MS_MAX = 5000;
/** How long it waits between two attempts: up to twice as long, so that many services do not come all at once. */
const TRY_AGAIN_MS = 100;

/** Where a keyring serves, and the key that it and its services hold. */
export interface ServedAddress {
  readonly path: string;
  readonly keyFile: string;
}

/**
 * A keyring process of a keyring that runs as a service of its own, with a line to each of its threads. Both sides have
 * proven that they hold the key. A keyring that is still starting, ending or full is waited for.
 */
export async function connectServed(
  address: ServedAddress,
  threads: number,
  { waitMs = 0, closing }: { readonly waitMs?: number; readonly closing?: AbortSignal } = {},
): Promise<KeyringChild> {
  const key = await readLinkKey(address.keyFile);
  const untilMs = performance.now() + waitMs;
  try {
    for (;;) {
      try {
        return await openSession(address.path, key, threads, closing);
      } catch (error) {
        const passes = error instanceof KeyringError && error.code === 'UNAVAILABLE';
        if (!passes || performance.now() >= untilMs || closing?.aborted === true) throw error;
      }
      await sleep(TRY_AGAIN_MS * (1 + Math.random()));
    }
  } finally {
    key.fill(0);
  }
}

/** One that is closed meanwhile is given up at once, and keeps nobody waiting for a keyring that says nothing. */
async function openSession(
  path: string,
  key: Uint8Array,
  threads: number,
  closing: AbortSignal | undefined,
): Promise<KeyringChild> {
  const opened: Socket[] = [];
  let isGivenUp = false;
  const giveUp = (): void => {
    isGivenUp = true;
    for (const socket of opened) socket.destroy();
  };
  const open = (claim: handshake.Claim) =>
    join(path, key, claim, (socket) => {
      opened.push(socket);
      if (isGivenUp) socket.destroy();
    });
  closing?.addEventListener('abort', giveUp);
  try {
    const { socket: control, session } = await open(handshake.claimSession());
    const lines = await Promise.all(
      Array.from({ length: threads }, (_, index) => open({ kind: handshake.CONNECTION.line, session, index })),
    );
    return new ServedProcess(
      control,
      lines.map(({ socket }) => socket),
    );
  } catch (error) {
    giveUp();
    throw error;
  } finally {
    closing?.removeEventListener('abort', giveUp);
  }
}

/** Looks at the socket each time: what is there may be another one than before. */
async function join(path: string, key: Uint8Array, claim: handshake.Claim, opened: (socket: Socket) => void) {
  await lookAtSocket(path);
  const socket = await connected(path);
  opened(socket);
  try {
    const greeting = await readExactly(socket, handshake.GREETING_BYTES, HANDSHAKE_MS_MAX);
    if (greeting === undefined) throw new KeyringError('UNAVAILABLE', `the keyring at ${path} says nothing`);
    const keyringNonce = handshake.readGreeting(greeting);
    if (keyringNonce === undefined) throw unusable(path, 'leads to something that is no keyring of this version');
    const { bytes, nonce } = handshake.makeClaim(key, claim, keyringNonce);
    socket.write(bytes);
    const reply = await readExactly(socket, handshake.REPLY_BYTES, HANDSHAKE_MS_MAX);
    if (reply === undefined) throw new KeyringError('UNAVAILABLE', `the keyring at ${path} does not answer`);
    const outcome = handshake.checkReply(key, reply, claim, keyringNonce, nonce);
    if ('refused' in outcome) throw refusalOf(path, outcome.refused);
    return { socket, session: outcome.session };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      // From here on an error is followed by the end, which everybody hears of.
      socket.removeAllListeners('error').on('error', () => {});
      resolve(socket);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(
        code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'EAGAIN'
          ? absent(path)
          : unusable(path, `cannot be connected to (${code}): this user needs the group of the socket`),
      ),
    );
  });
}

function refusalOf(path: string, answered: handshake.Answered): KeyringError {
  switch (answered) {
    case handshake.ANSWERED.full:
      return new KeyringError('UNAVAILABLE', `the keyring at ${path} has as many services as it takes`);
    case handshake.ANSWERED.noSession:
      return new KeyringError('UNAVAILABLE', `the keyring at ${path} has ended the session`);
    default:
      return unusable(path, 'leads to a keyring with another key file: both must hold the same one');
  }
}

const isOver = ({ destroyed, readableEnded }: Socket): boolean => destroyed || readableEnded;

/** The process behind the socket, as the one who keeps it running knows a process that it started itself. */
class ServedProcess extends EventEmitter implements KeyringChild {
  readonly stdio: readonly (Socket | null)[];
  readonly #control: Socket;
  readonly #lines: readonly Socket[];
  #isOver = false;

  constructor(control: Socket, lines: readonly Socket[]) {
    super();
    this.#control = control;
    this.#lines = lines;
    this.stdio = [null, null, null, null, ...lines];
    control.once('close', () => this.#end('the keyring closed the connection'));
    readMessages(
      control,
      (message) => {
        const notice = message as Notice | EndedMessage | null;
        if (notice?.type === 'ended') this.#end(String(notice.how));
        else this.emit('message', notice);
      },
      () => this.#end('the keyring sent what is no message'),
    );
    // Nobody hears any more of one that closed before the others were there.
    if ([control, ...lines].some(isOver)) this.#end('the keyring closed a connection');
  }

  get connected(): boolean {
    return !this.#isOver;
  }

  send(message: Order | Wake): boolean {
    const sent: OpenMessage | Wake =
      'type' in message ? message : { type: 'open', threads: this.#lines.length, order: message };
    return this.#control.write(messageBytes(sent));
  }

  /** Ends the session, and with it the process. */
  disconnect(): void {
    this.#end('the session was ended');
  }

  kill(): boolean {
    this.disconnect();
    return true;
  }

  ref(): void {
    this.#control.ref();
  }

  unref(): void {
    this.#control.unref();
  }

  /** Later, as the end of a process is never heard of at once. */
  #end(how: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#control.destroy();
    setImmediate(() => {
      for (const line of this.#lines) line.destroy();
      this.emit('exit', null, how);
    });
  }
}
