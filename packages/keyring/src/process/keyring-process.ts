import { dirname } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { Method } from '../calls/call.ts';
import { METHODS, transportOf } from '../calls/table.ts';
import { closed, KeyringError } from '../errors.ts';
import type { KeyringLoad, RingState, SealedServiceKey } from '../keyring.ts';
import type { LaunchedKeyring } from '../launch.ts';
import type { KeyringLoss, KeyringObserver } from '../observer.ts';
import { syncFolder, targetOf } from '../seal/private-file.ts';
import { parseRootKeySetting } from '../seal/root-key-setting.ts';
import type { ServedAddress } from '../socket/connect.ts';
import type { Notice, Order, Settings, Wake } from './channel.ts';
import type { KeyringChild } from './child.ts';
import { chooseLine, isBusy } from './choose-line.ts';
import { Line } from './line.ts';
import { detached, errorOf, gone } from './protocol.ts';
import { pipesOf, startKeyringProcess, startMsMax } from './start.ts';

/** Far more than a service lets in: a bound for what it asks of itself. */
const PENDING_MAX = 10_000;
/** Checked before a call, so that one of any size goes through where there is none. */
const PENDING_BYTES_MAX = 64 * 1024 * 1024;
const RESTART_DELAY_MS_MIN = 50;
const RESTART_DELAY_MS_MAX = 5_000;
/** A process that answered so often was in order: what ended it came from outside, and the next one starts at once. */
const STABLE_BEATS = 5;
/** Threads are asked whether they are there, and calls may take so many of these. */
const BEAT_MS = 1000;
/** After so long a process that refused the service keys is given them again. */
const SERVICE_KEYS_MS = 1000;
/** After so long a thread that could not be started, or did not take what the others have, is tried again. */
const WAKE_MS = 1000;
/** Lists are done in parts, so that no call holds a thread for more than a fraction of a second. */
const SILENT_BEATS_MAX = 5;
const CLOSE_MS_MAX = 5_000;
/** A keyring that serves on a socket may be starting too. */
const SERVED_WAIT_MS = 10_000;

export interface StartSettings extends Settings {
  readonly create: boolean;
  /** The keyring whose process it is to be, where that is a service of its own; the root key is its business then. */
  readonly served?: ServedAddress | undefined;
  /** Taken over at the first start, if it is still there. */
  readonly launched?: LaunchedKeyring | undefined;
  readonly observer?: KeyringObserver | undefined;
  /** For tests; a second when absent. */
  readonly beatMs?: number;
}
type ServiceKeys = readonly [organizationKey: Uint8Array, keys: readonly SealedServiceKey[]];

/** The process that holds the keys, which is started again whenever it ends, and the lines to its threads. */
export class KeyringProcess {
  #settings: StartSettings;
  #child: KeyringChild | undefined;
  /** One to each thread that has opened the ring: calls to all go to these. */
  #lines: readonly Line[] = [];
  /** Those of them that have the service keys and the ring as it is: the others are given them. */
  #serving: readonly Line[] = [];
  /** All that the process was started with, also those of threads that nobody has needed yet. */
  #started: readonly Line[] = [];
  #isWaking = false;
  /** Service keys are given to one thread after the other has joined, never beside it. */
  #keysTurn: Promise<unknown> = Promise.resolve();
  #isUp = false;
  #isStarting = true;
  readonly #closing = new AbortController();
  #ring: RingState = { active: '', ids: [] };
  #serviceKeys: ServiceKeys | undefined;
  #restartDelayMs = RESTART_DELAY_MS_MIN;
  #restartTimer: NodeJS.Timeout | undefined;
  #serviceKeysTimer: NodeJS.Timeout | undefined;
  #lacksServiceKeys = false;
  #beatTimer: NodeJS.Timeout | undefined;
  /** How often all threads of the process have answered. */
  #answeredBeats = 0;
  /** Those who wait for the process to be back. */
  #waiting: (() => void)[] = [];

  private constructor(settings: StartSettings) {
    this.#settings = settings;
  }

  static async start(settings: StartSettings): Promise<KeyringProcess> {
    const started = new KeyringProcess(settings);
    try {
      await started.#startChild();
      // A ring that is gone at a later start is a ring to wait for, never a reason for a new key.
      started.#settings = { ...settings, create: false, launched: undefined };
      if (started.#child === undefined) throw gone();
    } catch (error) {
      await started.close();
      throw error;
    }
    started.#isUp = true;
    started.#isStarting = false;
    started.#beatTimer = setInterval(() => started.#beat(), settings.beatMs ?? BEAT_MS).unref();
    return started;
  }

  /** The id of the process, while there is one. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the process is there and has its service keys; also when the keyring is closed. */
  ready(): Promise<void> {
    if (this.#isUp || this.closing.aborted) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Whether calls may be sent: the process is ready and has its service keys. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** As a thread has read it last. */
  get ring(): RingState {
    return this.#ring;
  }

  /** How many threads have nothing to do. */
  get idleThreads(): number {
    return this.#serving.filter(({ pendingCount }) => pendingCount === 0).length;
  }

  get load(): KeyringLoad {
    let calls = 0;
    let bytes = 0;
    for (const { pendingCount, pendingBytes } of this.#lines) {
      calls += pendingCount;
      bytes += pendingBytes;
    }
    return { calls, bytes };
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  call(method: Method, args: readonly unknown[]): Promise<unknown> {
    const changesRing = transportOf(method).route.to === 'ring';
    return changesRing ? this.#changeRing(method, args) : this.#callUp(method, args);
  }

  /** Also while no more calls may wait: that says much about the callers, and nothing about the process. */
  async ping(): Promise<void> {
    if (this.closing.aborted) throw closed();
    if (!this.#isUp) throw gone();
    if (this.#lacksServiceKeys)
      throw new KeyringError('UNAVAILABLE', 'the keyring process has not taken the service keys');
    await this.#callAll('ping', []);
  }

  /** Every later process gets them too. */
  async loadServiceKeys(...keys: ServiceKeys): Promise<void> {
    // A copy that no caller can change.
    const copy = cloned(keys);
    await this.#inTurn(async () => {
      await this.#callUp('loadServiceKeys', copy);
      this.#serviceKeys = copy;
    });
  }

  /** Ends the process and waits for its end. */
  async close(): Promise<void> {
    this.#isUp = false;
    this.#closing.abort();
    clearTimeout(this.#restartTimer);
    clearTimeout(this.#serviceKeysTimer);
    clearInterval(this.#beatTimer);
    this.#endLines(closed());
    this.#wakeWaiting();
    const child = this.#child;
    if (child === undefined) return;
    child.ref();
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    if (child.connected) child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS_MAX);
    await ended;
    clearTimeout(timer);
  }

  #callUp(method: Method, args: readonly unknown[]): Promise<unknown> {
    if (this.closing.aborted) return Promise.reject(closed());
    if (!this.#isUp) return Promise.reject(gone());
    return this.#send(method, args);
  }

  #send(method: Method, args: readonly unknown[]): Promise<unknown> {
    const [first] = this.#lines;
    if (first === undefined) return Promise.reject(gone());
    const { calls, bytes } = this.load;
    if (calls >= PENDING_MAX || bytes >= PENDING_BYTES_MAX)
      return Promise.reject(new KeyringError('UNAVAILABLE', 'the keyring has too much to do'));
    switch (transportOf(method).route.to) {
      case 'any': {
        const answered = chooseLine(first, this.#serving).call(method, args);
        if (isBusy(first)) this.#wake();
        return answered;
      }
      case 'first':
      case 'ring':
        return first.call(method, args);
      case 'all':
        return this.#callAll(method, args);
    }
  }

  /** Starts the other threads, once there is work for them. */
  #wake(): void {
    if (this.#isWaking || this.#lines.length === this.#started.length) return;
    this.#isWaking = true;
    this.#child?.send?.({ type: 'wake' } satisfies Wake, () => {});
  }

  /** From here on it hears what all hear; it serves when it has what they have. */
  async #join(child: KeyringChild, line: Line): Promise<void> {
    if (this.#child !== child) return;
    if (!this.#lines.includes(line)) this.#lines = [...this.#lines, line];
    try {
      await this.#inTurn(async () => {
        // It may have read what no other thread has yet.
        this.#follow(child, (await line.call('refreshRing', [])) as RingState);
        if (this.#serviceKeys !== undefined) await line.call('loadServiceKeys', this.#serviceKeys);
      });
      if (this.#child !== child) return;
      this.#serving = [...this.#serving, line];
      if (this.#serving.length === this.#started.length) this.#isWaking = false;
    } catch (error) {
      // What is closed refuses everything, and that is no news.
      if (this.#child !== child || this.closing.aborted) return;
      this.#settings.observer?.threadRefused(messageOf(error));
      setTimeout(() => void this.#join(child, line), WAKE_MS).unref();
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#keysTurn.then(work);
    this.#keysTurn = done.catch(() => {});
    return done;
  }

  /** The answer of the first thread, when all have answered and none has refused. */
  async #callAll(method: Method, args: readonly unknown[]): Promise<unknown> {
    const outcomes = await Promise.allSettled(this.#lines.map((line) => line.call(method, args)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    const [first] = outcomes as PromiseFulfilledResult<unknown>[];
    return first?.value;
  }

  /**
   * What is written is synchronized whatever happens next, also when the answer was lost: the ring may have been written
   * all the same. A thread that cannot read it now does so when it needs to.
   */
  async #changeRing(method: Method, args: readonly unknown[]): Promise<unknown> {
    try {
      return await this.#callUp(method, args);
    } finally {
      await this.#syncRing();
      await this.#callAll('refreshRing', []).catch(() => {});
    }
  }

  /** Settles when the process is ready, or has refused to start. */
  async #startChild(): Promise<void> {
    const { create, served } = this.#settings;
    const child = served === undefined ? this.#ownChild() : await this.#servedChild(served);
    this.#child = child;
    this.#answeredBeats = 0;
    const pipes = pipesOf(child);
    const lines = pipes.map((pipe): Line => new Line(pipe, (ring) => this.#follow(child, ring)));
    // Whoever waits for an answer hears of the end, even if nothing else keeps this process alive.
    for (const pipe of pipes) pipe.once('close', () => child.ref());
    let refusal: KeyringError | undefined;
    const limitMs = startMsMax(served === undefined ? this.#settings.rootKey : undefined);
    const timer = setTimeout(() => {
      refusal = new KeyringError('UNAVAILABLE', `the keyring process was not ready after ${limitMs / 1000} s`);
      child.kill('SIGKILL');
    }, limitMs);
    const order: Order = { create, methods: METHODS };
    try {
      const ring = await new Promise<RingState>((resolve, reject) => {
        // What keeps it from arriving is the end of the process, of which there are other news.
        child.send?.(order, () => {});
        child.on('message', (message: Notice) => {
          if (message.type === 'failed') refusal = errorOf(message.refusal);
          else if (message.type === 'ready') resolve(message.ring);
          else if (message.type === 'woken' || message.type === 'asleep') this.#hear(child, message);
        });
        const ended = (how: string): void => {
          reject(refusal ?? gone());
          this.#lose(child, 'ended', `the keyring process ended (${how})`);
        };
        child.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
        // A process that could not be started has no end.
        child.once('error', (error) => child.pid === undefined && ended(error.message));
      });
      this.#started = lines;
      this.#lines = lines.slice(0, 1);
      this.#serving = this.#lines;
      this.#isWaking = false;
      await this.#adopt(ring);
    } catch (error) {
      this.#giveUp(child, 'ended', 'the folder of the key ring cannot be synchronized');
      throw error;
    } finally {
      clearTimeout(timer);
    }
    child.unref();
    child.channel?.unref();
  }

  #ownChild(): KeyringChild {
    return this.#settings.launched?.take(this.#settings) ?? startKeyringProcess(this.#settings);
  }

  async #servedChild(served: ServedAddress): Promise<KeyringChild> {
    const { connectServed } = await import('../socket/connect.ts');
    const waitMs = this.#isStarting ? SERVED_WAIT_MS : 0;
    const child = await connectServed(served, this.#settings.threads, { waitMs, closing: this.closing });
    if (!this.closing.aborted) return child;
    child.kill();
    throw closed();
  }

  /** News of threads that were to be started. */
  #hear(child: KeyringChild, message: Extract<Notice, { type: 'woken' | 'asleep' }>): void {
    if (this.#child !== child) return;
    if (message.type === 'asleep') {
      this.#settings.observer?.threadRefused(message.message);
      setTimeout(() => {
        if (this.#child === child) this.#isWaking = false;
      }, WAKE_MS).unref();
      return;
    }
    const line = this.#started[message.thread];
    if (line !== undefined && !this.#lines.includes(line)) void this.#join(child, line);
  }

  /**
   * A process that was killed may have written it without saying so, and nothing may be under a key that a power cut
   * can undo.
   */
  async #adopt(ring: RingState): Promise<void> {
    const isKnown = this.#ring.active === '' ? !this.#settings.create : isSameRing(ring, this.#ring);
    if (!isKnown) await this.#syncRing();
    this.#ring = ring;
  }

  /** A process, or a thread of it, that says nothing is killed: what is called from it would wait for ever. */
  #beat(): void {
    const child = this.#child;
    if (child === undefined || this.#lines.length === 0) return;
    const silences = this.#lines.map((line) => line.beat());
    for (const silent of silences) if (silent === 1) this.#settings.observer?.pingLate();
    const longest = Math.max(...silences);
    if (longest === 0) this.#answeredBeats += 1;
    if (longest < SILENT_BEATS_MAX) return;
    this.#giveUp(child, 'silent', `the keyring process did not answer ${longest} times and was killed`);
  }

  /** Its end is not waited for: a process that the system cannot end must not keep the next one from its start. */
  #giveUp(child: KeyringChild, reason: KeyringLoss, message: string): void {
    child.kill('SIGKILL');
    const lines = this.#started;
    this.#lose(child, reason, message);
    for (const line of lines) line.destroy();
  }

  #lose(child: KeyringChild, reason: KeyringLoss, message: string): void {
    if (this.#child !== child) return;
    const wasUp = this.#isUp;
    this.#child = undefined;
    this.#isUp = false;
    this.#endLines(gone());
    this.#lines = [];
    this.#serving = [];
    this.#started = [];
    if (this.closing.aborted) return;
    if (this.#answeredBeats >= STABLE_BEATS) this.#restartDelayMs = RESTART_DELAY_MS_MIN;
    if (wasUp) this.#restartLater(reason, message);
  }

  /** Not before a first start has succeeded: until then whoever started it gets the reason. */
  #restartLater(reason: KeyringLoss, message: string): void {
    const delayMs = this.#restartDelayMs;
    this.#restartTimer = setTimeout(() => void this.#restart(), delayMs);
    this.#restartTimer.unref();
    this.#restartDelayMs = Math.min(2 * delayMs, RESTART_DELAY_MS_MAX);
    this.#settings.observer?.lost(reason, message, delayMs);
  }

  async #restart(): Promise<void> {
    let refusal: unknown;
    this.#lacksServiceKeys = false;
    clearTimeout(this.#serviceKeysTimer);
    try {
      await this.#startChild();
      if (this.#serviceKeys !== undefined) await this.#send('loadServiceKeys', this.#serviceKeys);
    } catch (error) {
      refusal = error;
    }
    if (this.closing.aborted) return;
    this.#isUp = this.#child !== undefined;
    if (!this.#isUp) return this.#restartLater('start-failed', messageOf(refusal));
    // Everything else still works.
    if (refusal !== undefined) this.#lackServiceKeys(refusal);
    this.#settings.observer?.restored();
    this.#wakeWaiting();
  }

  /** Until the process has them it does not count as ready; they are given to it again and again. */
  #lackServiceKeys(refusal: unknown): void {
    this.#settings.observer?.serviceKeysRefused(messageOf(refusal));
    const child = this.#child;
    this.#lacksServiceKeys = true;
    this.#serviceKeysTimer = setTimeout(async () => {
      if (child !== this.#child || this.closing.aborted || this.#serviceKeys === undefined) return;
      try {
        await this.#send('loadServiceKeys', this.#serviceKeys);
        if (child === this.#child) this.#lacksServiceKeys = false;
      } catch (error) {
        if (child === this.#child && !this.closing.aborted) this.#lackServiceKeys(error);
      }
    }, SERVICE_KEYS_MS).unref();
  }

  #wakeWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** A thread has found a changed ring, so that the others read it too. */
  #follow(child: KeyringChild, ring: RingState): void {
    if (child !== this.#child || isSameRing(ring, this.#ring)) return;
    this.#ring = ring;
    // What cannot be read is told to whoever calls next.
    this.#callAll('refreshRing', []).catch(() => {});
  }

  #endLines(error: KeyringError): void {
    for (const line of this.#lines) line.end(error);
  }

  /** The process may write the ring but not open its folder, which is synchronized here, or by the keyring that serves. */
  async #syncRing(): Promise<void> {
    if (this.#settings.served !== undefined) return;
    await syncFolder(dirname(targetOf(parseRootKeySetting(this.#settings.rootKey).ringPath)));
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isSameRing = (one: RingState, other: RingState): boolean => JSON.stringify(one) === JSON.stringify(other);

function cloned<T>(value: T): T {
  try {
    return detached(deserialize(serialize(value))) as T;
  } catch {
    throw new KeyringError('INVALID_INPUT', 'an argument cannot be sent to the keyring process');
  }
}
