import { randomBytes } from 'node:crypto';
import { link, lstat, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { KeyringError } from '../errors.ts';
import { createKeyring } from '../index.ts';
import { type Log, logToStandardError, RefusalLog } from '../log.ts';
import { errorCode } from '../seal/private-file.ts';
import { Ceilings } from '../transfers/ceiling.ts';
import type { KeyringLimits } from '../transfers/limits.ts';
import { readExactly } from './exchange.ts';
import * as handshake from './handshake.ts';
import { readLinkKey } from './link-key.ts';
import { checkSocketPath, prepareFolder, unusable } from './place.ts';
import { Session } from './session.ts';

// The keyring as a service of its own: `custos keyring serve` (docs/decisions/0059).

/** Each has a process. */
const SESSIONS_MAX = 16;
/** Connections that have not proven anything yet, and those that were refused and are not closed. */
const STRANGERS_MAX = 64;
const HANDSHAKE_MS_MAX = 5000;
const OPEN_MS_MAX = 10_000;
/** Behind the name of an abandoned socket while it is looked at: a point and hexadecimal digits. */
const ASIDE_RANDOM_BYTES = 3;
const ASIDE_BYTES = 1 + 2 * ASIDE_RANDOM_BYTES;
/** Nobody but the group of the folder connects. */
const SOCKET_UMASK = 0o117;
/** What the log says of each. */
const REFUSALS = {
  [handshake.ANSWERED.wrongKey]: 'no proof of the key',
  [handshake.ANSWERED.full]: 'as many services as it takes',
  [handshake.ANSWERED.noSession]: 'a line without its session',
} as const;

export interface ServedKeyringOptions extends KeyringLimits {
  readonly path: string;
  /** Of the key that the services hold too. */
  readonly keyFile: string;
  readonly rootKey: string;
  /** How many services it takes at the same time. */
  readonly sessionsMax?: number | undefined;
  readonly log?: Log;
  /** For tests. */
  readonly handshakeMs?: number;
}

export class KeyringServer {
  readonly #options: ServedKeyringOptions;
  readonly #key: Uint8Array;
  readonly transfers: Ceilings;
  readonly #log: Log;
  readonly #refusals: RefusalLog;
  readonly #errors: RefusalLog;
  readonly #server: Server;
  /** All that are open here; lines are given away. */
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Map<string, Session>();
  readonly #strangers = new Set<Socket>();
  #isClosing = false;

  private constructor(options: ServedKeyringOptions, key: Uint8Array) {
    this.#options = options;
    this.#key = key;
    this.#log = options.log ?? logToStandardError;
    this.#refusals = new RefusalLog(this.#log);
    this.#errors = new RefusalLog(this.#log);
    this.transfers = new Ceilings(options, { log: this.#log });
    this.#server = createServer({ allowHalfOpen: false }, (socket) => this.#receive(socket));
    // One connection that the system has nothing left for must not end those that there are.
    this.#server.on('error', (error) => {
      if (this.#server.listening) this.#errors.note('connections not accepted', { reason: errorCode(error) });
    });
  }

  static async listen(options: ServedKeyringOptions): Promise<KeyringServer> {
    checkSocketPath(options.path, ASIDE_BYTES);
    const key = await readLinkKey(options.keyFile);
    await prepareFolder(options.path);
    const server = new KeyringServer(options, key);
    await server.#listen();
    return server;
  }

  /** How many services have a session, or a process that has not ended yet. */
  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Waits for the processes of its sessions, and for no peer. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const sessions = [...this.#sessions.values()];
    for (const session of sessions) session.close();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([closed, ...sessions.map(({ over }) => over)]);
    this.#key.fill(0);
  }

  async #listen(): Promise<void> {
    const { path } = this.#options;
    try {
      await this.#bind();
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') throw unusable(path, `cannot be listened on (${errorCode(error)})`);
      // Whoever can make it die must not have the exports of a new minute for it.
      if (await removeAbandoned(path)) this.transfers.waitForWindow();
      await this.#bind().catch((again: unknown) => {
        throw errorCode(again) === 'EADDRINUSE'
          ? taken(path)
          : unusable(path, `cannot be listened on (${errorCode(again)})`);
      });
    }
  }

  #bind(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      // The socket is made before `listen` returns.
      const before = process.umask(SOCKET_UMASK);
      try {
        this.#server.listen(this.#options.path, () => {
          this.#server.off('error', reject);
          resolve();
        });
      } finally {
        process.umask(before);
      }
    });
  }

  #receive(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.#strangers.size >= STRANGERS_MAX) {
      this.#noteRefusal('too many without a proof');
      socket.destroy();
      return;
    }
    this.#strangers.add(socket);
    // Also one that was refused and does not close its side.
    const timer = setTimeout(() => socket.destroy(), this.#handshakeMs);
    const leave = (): void => {
      clearTimeout(timer);
      this.#strangers.delete(socket);
    };
    socket.once('close', leave);
    void this.#shakeHands(socket).then(
      (isKnown) => isKnown && leave(),
      () => socket.destroy(),
    );
  }

  get #handshakeMs(): number {
    return this.#options.handshakeMs ?? HANDSHAKE_MS_MAX;
  }

  /** Whether the connection is part of a session now. */
  async #shakeHands(socket: Socket): Promise<boolean> {
    const { bytes: greeting, nonce } = handshake.greet();
    socket.write(greeting);
    const bytes = await readExactly(socket, handshake.CLAIM_BYTES, this.#handshakeMs);
    if (bytes === undefined) {
      this.#noteRefusal('no proof in time');
      socket.destroy();
      return false;
    }
    if (this.#isClosing) return false;
    const claim = handshake.checkClaim(this.#key, bytes, nonce);
    // Nobody has anything to say before the reply.
    if (claim === undefined || socket.readableLength > 0) return this.#refuse(socket, handshake.ANSWERED.wrongKey);
    if (claim.kind === handshake.CONNECTION.line) {
      const session = this.#sessions.get(claim.session.toString('hex'));
      if (session?.addLine(claim.index, socket) !== true) return this.#refuse(socket, handshake.ANSWERED.noSession);
      socket.write(handshake.accept(this.#key, claim, claim.session, nonce));
      return true;
    }
    const sessionsMax = this.#options.sessionsMax ?? SESSIONS_MAX;
    if (this.#sessions.size >= sessionsMax) return this.#refuse(socket, handshake.ANSWERED.full);
    const id = handshake.newSession();
    const session = new Session(socket, {
      rootKey: this.#options.rootKey,
      transfers: this.transfers,
      openMs: OPEN_MS_MAX,
      ended: () => this.#sessions.delete(id.toString('hex')),
    });
    this.#sessions.set(id.toString('hex'), session);
    socket.write(handshake.accept(this.#key, claim, id, nonce));
    session.listen();
    return true;
  }

  #refuse(socket: Socket, answered: keyof typeof REFUSALS): false {
    this.#noteRefusal(REFUSALS[answered]);
    socket.end(handshake.refuse(answered));
    socket.resume();
    return false;
  }

  #noteRefusal(reason: string): void {
    if (!this.#isClosing) this.#refusals.note('connections refused', { reason });
  }
}

/** Says at the start what a service would hear when it opens the ring. A ring that is missing is made by the first one. */
export async function checkRing(rootKey: string): Promise<'held' | 'missing'> {
  try {
    const keyring = await createKeyring({ rootKey, mode: 'process', threads: 1, refusesAdministration: true });
    await keyring.close();
    return 'held';
  } catch (error) {
    if (error instanceof KeyringError && error.code === 'ROOT_KEY_MISSING') return 'missing';
    throw error;
  }
}

/**
 * A keyring that was killed leaves its socket behind. It is moved away before it is removed: of two that find it, one
 * moves it, and a socket that somebody listens on goes back. Answers whether there was one.
 */
async function removeAbandoned(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return false;
  if (!found.isSocket()) throw unusable(path, 'is there already, and no socket');
  if (found.uid !== process.getuid?.()) throw unusable(path, `belongs to another user (${found.uid})`);
  if (await isListenedOn(path)) throw taken(path);
  const aside = `${path}.${randomBytes(ASIDE_RANDOM_BYTES).toString('hex')}`;
  await rename(path, aside).catch(() => undefined);
  try {
    if (!(await isListenedOn(aside))) return true;
    await link(aside, path).catch(() => undefined);
    throw taken(path);
  } finally {
    await rm(aside, { force: true });
  }
}

/** Any other error may come from one that is busy, and is no reason to take its place. */
function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(errorCode(error))));
  });
}

const taken = (path: string): KeyringError => unusable(path, 'has a keyring that listens already');
