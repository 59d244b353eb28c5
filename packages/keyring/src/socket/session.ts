import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { answerTo } from '../process/asked-transfers.ts';
import type { Notice, Order, SyncAnswer, Wake } from '../process/channel.ts';
import { startKeyringProcess, THREADS_MAX } from '../process/start.ts';
import { syncFolder, targetOf } from '../seal/private-file.ts';
import { parseRootKeySetting } from '../seal/root-key-setting.ts';
import type { TransferGate } from '../transfers/limits.ts';
import { messageBytes, readMessages } from './exchange.ts';

const CLOSE_MS_MAX = 5000;
/** More than a service that listens ever leaves unread. */
const UNREAD_BYTES_MAX = 64 * 1024;

/** What a service says first on a session's connection, when all lines are there. */
export interface OpenMessage {
  readonly type: 'open';
  readonly threads: number;
  readonly order: Order;
}

/** What the keyring says beside the notices of the process: that this one has ended, and how. */
export interface EndedMessage {
  readonly type: 'ended';
  readonly how: string;
}

export interface SessionParts {
  readonly rootKey: string;
  readonly transfers: TransferGate;
  /** The session has to be opened in so much time. */
  readonly openMs: number;
  /** Neither the session nor its process is there any more. */
  readonly ended: () => void;
}

/**
 * One service process and the keyring process that is its own. The lines are handed to that process as they are, so that
 * calls take no way around; this one passes on what is said about the process, and counts exports
 * and imports.
 */
export class Session {
  readonly #control: Socket;
  readonly #parts: SessionParts;
  readonly #lines = new Map<number, Socket>();
  readonly #timer: NodeJS.Timeout;
  /** Resolves when its process has ended too. */
  readonly over: Promise<void>;
  #resolveOver: () => void = () => {};
  #child: ChildProcess | undefined;
  #isOver = false;
  /** How many threads are still to be woken, once the first is there. */
  #asleep = 0;
  #isWaking = false;

  constructor(control: Socket, parts: SessionParts) {
    this.#control = control;
    this.#parts = parts;
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
    this.#timer = setTimeout(() => this.#end('no keyring process was asked for in time'), parts.openMs);
    control.once('close', () => this.close());
  }

  /** From now on it hears what the service says. */
  listen(): void {
    readMessages(
      this.#control,
      (message) => this.#hear(message as OpenMessage | Wake | null),
      () => this.#end('the keyring was sent what is no message'),
    );
  }

  /** Whether there was place for this line. */
  addLine(index: number, line: Socket): boolean {
    if (this.#isOver || this.#child !== undefined || index >= THREADS_MAX || this.#lines.has(index)) return false;
    this.#lines.set(index, line);
    line.once('close', () => this.#child === undefined && this.#end('a line was closed before the keyring was open'));
    return true;
  }

  /** Ends the process and every connection. */
  close(): void {
    if (!this.#stop()) return;
    this.#control.destroy();
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    if (child.connected) child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS_MAX);
    child.once('exit', () => clearTimeout(timer));
  }

  #hear(message: OpenMessage | Wake | null): void {
    if (this.#isOver) return;
    if (message?.type === 'open' && this.#child === undefined) this.#open(message);
    else if (message?.type === 'wake' && this.#child !== undefined) this.#wake(this.#child);
    else this.#end('the keyring was sent a message that it does not know');
  }

  /** One at a time, so that nobody fills this process with them. */
  #wake(child: ChildProcess): void {
    if (this.#isWaking || this.#asleep === 0) return;
    this.#isWaking = true;
    child.send({ type: 'wake' }, () => {});
  }

  #open({ threads, order }: OpenMessage): void {
    const { rootKey, transfers } = this.#parts;
    const lines = Array.from({ length: Number.isInteger(threads) ? Math.min(threads, THREADS_MAX) : 0 }, (_, index) =>
      this.#lines.get(index),
    );
    if (lines.length === 0 || lines.length !== this.#lines.size || lines.includes(undefined)) {
      this.#end('a session has a line for each of its threads');
      return;
    }
    clearTimeout(this.#timer);
    const settings = {
      rootKey,
      threads: lines.length,
      asksForTransfers: true,
      asksForSync: true,
      refusesAdministration: true,
    };
    let child: ChildProcess;
    try {
      child = startKeyringProcess(settings, lines as Socket[]);
    } catch {
      this.#end('the system starts no keyring process now');
      return;
    }
    this.#child = child;
    const { length } = lines;
    child.on('message', (notice: Notice) => this.#note(notice, length));
    // They are the process's from here on.
    for (const line of this.#lines.values()) line.destroy();
    this.#lines.clear();
    child.once('exit', (code, signal) => {
      this.#end(signal ?? `exit code ${code}`);
      this.#leave();
    });
    child.once('error', () => child.pid === undefined && this.#end('the system starts no keyring process now'));
    child.on('message', (notice: Notice) => void this.#passOn(child, notice, transfers));
    const create = order?.create === true;
    child.send({ create, methods: Array.isArray(order?.methods) ? order.methods : [] }, () => {});
  }

  /** What the process says about its threads. */
  #note({ type }: Notice, threads: number): void {
    if (type === 'ready') this.#asleep = threads - 1;
    if (type === 'woken') this.#asleep -= 1;
    if (type === 'asleep') this.#isWaking = false;
  }

  async #passOn(child: ChildProcess, notice: Notice, transfers: TransferGate): Promise<void> {
    if (notice.type === 'transfer') {
      const answer = await answerTo(transfers, notice);
      if (child.connected) child.send(answer, () => {});
      return;
    }
    try {
      // The process may have made the ring, or changed it, but may not open its folder.
      if (notice.type === 'ready' || notice.type === 'changed')
        await syncFolder(dirname(targetOf(parseRootKeySetting(this.#parts.rootKey).ringPath)));
    } catch {
      this.#end('the folder of the key ring cannot be synchronized');
      return;
    }
    if (this.#isOver) return;
    if (notice.type === 'changed') {
      if (child.connected) child.send({ type: 'synced' } satisfies SyncAnswer, () => {});
      return;
    }
    if (this.#control.writableLength > UNREAD_BYTES_MAX) this.close();
    else this.#control.write(messageBytes(notice));
  }

  /** Tells the service why. What is said last is sent first; a service that does not read it is not waited for. */
  #end(how: string): void {
    if (!this.#stop()) return;
    const control = this.#control;
    control.end(messageBytes({ type: 'ended', how } satisfies EndedMessage));
    setTimeout(() => control.destroy(), CLOSE_MS_MAX).unref();
    this.#child?.kill('SIGKILL');
  }

  /** False when it is over already. */
  #stop(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const line of this.#lines.values()) line.destroy();
    this.#lines.clear();
    const child = this.#child;
    // One that was not started does not end either.
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) this.#leave();
    return true;
  }

  #leave(): void {
    this.#parts.ended();
    this.#resolveOver();
  }
}
