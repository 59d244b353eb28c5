import type { Duplex } from 'node:stream';
import { deserialize } from 'node:v8';
import type { Method } from '../calls/call.ts';
import { transportOf } from '../calls/table.ts';
import { KeyringError } from '../errors.ts';
import type { RingState } from '../keyring.ts';
import type { Refusal } from './channel.ts';
import { encodeFrame, type Frame, FrameReader } from './frame.ts';
import { Outbox } from './outbox.ts';
import { ANSWER, ANSWER_BYTES_MAX, detached, errorOf, late, numberOf } from './protocol.ts';

/** The service's end of a pipe, which keeps a process alive or not. */
export interface Pipe extends Duplex {
  ref(): void;
  unref(): void;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: KeyringError) => void;
  /** The beat at which it is refused. */
  readonly lastBeat: number;
  /** Of the call as it was sent. */
  readonly bytes: number;
  /** How many signatures, accounts or secrets it is about. */
  readonly items: number;
}

/** Nobody waits for its answer any more, but the thread still has it to do. */
const REFUSED: Omit<Pending, 'bytes' | 'items'> = {
  resolve: () => {},
  reject: () => {},
  lastBeat: Number.POSITIVE_INFINITY,
};
/** No call has this id. */
const PING = encodeFrame(0, numberOf('ping'), []);

/** A thread of the keyring process as the service sees it: calls, and the answers to them. */
export class Line {
  readonly #pipe: Pipe;
  readonly #outbox: Outbox;
  readonly #pending = new Map<number, Pending>();
  readonly #ringChanged: (ring: RingState) => void;
  #pendingBytes = 0;
  #pendingItems = 0;
  #lastId = 0;
  #beats = 0;
  #isHeard = true;
  #silentBeats = 0;
  /** Why nothing more is answered. */
  #ended: KeyringError | undefined;

  constructor(pipe: Pipe, ringChanged: (ring: RingState) => void) {
    this.#pipe = pipe;
    this.#outbox = new Outbox(pipe);
    this.#ringChanged = ringChanged;
    const reader = new FrameReader(
      () => ANSWER_BYTES_MAX,
      (frame) => this.#settle(frame),
    );
    pipe.on('data', (chunk) => {
      this.#isHeard = true;
      try {
        reader.push(chunk);
      } catch {
        // No keyring says that: it ends with its line, and the next one is started.
        pipe.destroy();
      }
    });
    // What could not be sent is rejected by the process's end, which is why it could not be sent.
    pipe.on('error', () => {});
    pipe.unref();
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /** What the calls without an answer take up, here or on their way. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** What they are about: each counts once, or as often as its list is long. */
  get pendingItems(): number {
    return this.#pendingItems;
  }

  call(method: Method, args: readonly unknown[]): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#lastId += 1;
    const id = this.#lastId;
    let frame: Uint8Array;
    try {
      frame = encodeFrame(id, numberOf(method), args);
    } catch {
      const error = new KeyringError('INVALID_INPUT', 'an argument cannot be sent to the keyring process');
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      // An idle keyring does not keep its service alive, one with work does.
      if (this.#pending.size === 0) this.#pipe.ref();
      const lastBeat = this.#beats + transportOf(method).route.seconds;
      const items = itemsOf(args);
      this.#pending.set(id, { resolve, reject, lastBeat, bytes: frame.length, items });
      this.#pendingBytes += frame.length;
      this.#pendingItems += items;
      this.#outbox.send(frame);
    });
  }

  /**
   * Once a second: refuses calls that have taken too long and asks the thread whether it is there. Answers for how many
   * beats it has said nothing. Beats are counted, not time: while this process is stopped or busy itself there are none,
   * and what has come meanwhile is read before the next one.
   */
  beat(): number {
    this.#beats += 1;
    this.#silentBeats = this.#isHeard ? 0 : this.#silentBeats + 1;
    this.#isHeard = false;
    for (const [id, { lastBeat, reject, bytes, items }] of this.#pending) {
      if (lastBeat >= this.#beats) continue;
      reject(late());
      this.#pending.set(id, { ...REFUSED, bytes, items });
    }
    this.#pipe.write(PING);
    return this.#silentBeats;
  }

  /** Gives up a process that does not answer. */
  destroy(): void {
    this.#pipe.destroy();
  }

  /** The process has ended, or is to end. */
  end(error: KeyringError): void {
    this.#ended = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#pendingBytes = 0;
    this.#pendingItems = 0;
    this.#pipe.unref();
  }

  #settle({ id, tag, body }: Frame): void {
    if (body === undefined) throw new Error('an answer is too long');
    const value = detached(deserialize(body));
    // It may hold what was opened or lent, of which the caller now has the copy to wipe.
    body.fill(0);
    if (tag === ANSWER.ring) {
      this.#ringChanged(value as RingState);
      return;
    }
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    this.#pendingBytes -= pending.bytes;
    this.#pendingItems -= pending.items;
    if (this.#pending.size === 0) this.#pipe.unref();
    if (tag === ANSWER.value) pending.resolve(value);
    else pending.reject(errorOf(value as Refusal));
  }
}

const itemsOf = (args: readonly unknown[]): number =>
  args.reduce((most: number, argument) => (Array.isArray(argument) ? Math.max(most, argument.length) : most), 1);
