import type { ChildProcess } from 'node:child_process';
import { dirname } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { closed, KeyringError } from '../errors.ts';
import type { RingState, SealedServiceKey } from '../keyring.ts';
import { syncFolder } from '../seal/private-file.ts';
import { parseRootKeySetting } from '../seal/root-key-setting.ts';
import { Line } from './line.ts';
import { detached, errorOf, gone, type Method, type Notice, ROUTES, type Settings } from './protocol.ts';
import { pipesOf, startKeyringProcess } from './start.ts';

const PENDING_MAX = 10_000;
const RESTART_DELAY_MS_MIN = 50;
const RESTART_DELAY_MS_MAX = 5_000;
/** A process that ran so long did not fail at its start, so that the next one may start at once. */
const STABLE_MS = 10_000;
/** A passphrase is stretched for each key and thread. */
const START_MS_MAX = 120_000;
const CLOSE_MS_MAX = 5_000;

export type StartSettings = Omit<Settings, 'methods'>;
type ServiceKeys = readonly [organizationKey: Uint8Array, keys: readonly SealedServiceKey[]];

/** The process that holds the keys, which is started again whenever it ends, and the lines to its threads. */
export class KeyringProcess {
  #settings: StartSettings;
  #child: ChildProcess | undefined;
  /** One to each thread of the process. */
  #lines: readonly Line[] = [];
  #isUp = false;
  readonly #closing = new AbortController();
  #ring: RingState = { active: '', ids: [] };
  #serviceKeys: ServiceKeys | undefined;
  #restartDelayMs = RESTART_DELAY_MS_MIN;
  #restartTimer: NodeJS.Timeout | undefined;
  /** Those who wait for the process to be back. */
  #waiting: (() => void)[] = [];

  private constructor(settings: StartSettings) {
    this.#settings = settings;
  }

  static async start(settings: StartSettings): Promise<KeyringProcess> {
    const started = new KeyringProcess(settings);
    try {
      await started.#startChild();
      if (settings.create) await started.#syncRing();
      // A ring that is gone at a later start is a ring to wait for, never a reason for a new key.
      started.#settings = { ...settings, create: false };
      if (started.#child === undefined) throw gone();
    } catch (error) {
      await started.close();
      throw error;
    }
    started.#isUp = true;
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
    return this.#lines.filter(({ pendingCount }) => pendingCount === 0).length;
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  async call<T>(method: Method, ...args: readonly unknown[]): Promise<T> {
    if (this.closing.aborted) throw closed();
    if (!this.#isUp) throw gone();
    return (await this.#send(method, args)) as T;
  }

  /** Every later process gets them too. */
  async loadServiceKeys(...keys: ServiceKeys): Promise<void> {
    // A copy that no caller can change.
    const copy = cloned(keys);
    await this.call('loadServiceKeys', ...copy);
    this.#serviceKeys = copy;
  }

  /** Ends the process and waits for its end. */
  async close(): Promise<void> {
    this.#isUp = false;
    this.#closing.abort();
    clearTimeout(this.#restartTimer);
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

  async #send(method: Method, args: readonly unknown[]): Promise<unknown> {
    const [first] = this.#lines;
    if (first === undefined) throw gone();
    if (this.#pendingCount >= PENDING_MAX) throw new KeyringError('UNAVAILABLE', 'the keyring has too much to do');
    switch (ROUTES[method]) {
      case 'any':
        return this.#idlest(first).call(method, args);
      case 'first':
        return first.call(method, args);
      case 'all':
        return this.#callAll(method, args);
    }
  }

  /** The thread with the fewest calls; of equal ones the first, whose caches are the warmest. */
  #idlest(first: Line): Line {
    return this.#lines.reduce((best, line) => (line.pendingCount < best.pendingCount ? line : best), first);
  }

  /** The answer of the first thread, when all have answered and none has refused. */
  async #callAll(method: Method, args: readonly unknown[]): Promise<unknown> {
    const outcomes = await Promise.allSettled(this.#lines.map((line) => line.call(method, args)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    const [first] = outcomes as PromiseFulfilledResult<unknown>[];
    return first?.value;
  }

  /** What is written is synchronized whatever happens next. A thread that cannot read it now does so when it needs to. */
  async changeRing<T>(method: 'addRootKey' | 'removeRootKey', ...args: readonly unknown[]): Promise<T> {
    const changed = await this.call<T>(method, ...args);
    await this.#syncRing();
    await this.#callAll('refreshRing', []).catch(() => {});
    return changed;
  }

  get #pendingCount(): number {
    return this.#lines.reduce((sum, { pendingCount }) => sum + pendingCount, 0);
  }

  /** Settles when the process is ready, or has refused to start. */
  async #startChild(): Promise<void> {
    const child = startKeyringProcess(this.#settings);
    this.#child = child;
    const startedAtMs = performance.now();
    const pipes = pipesOf(child);
    const lines = pipes.map((pipe): Line => new Line(pipe, (ring) => this.#follow(lines, ring)));
    this.#lines = lines;
    // Whoever waits for an answer hears of the end, even if nothing else keeps this process alive.
    for (const pipe of pipes) pipe.once('close', () => child.ref());
    const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
    try {
      await new Promise<void>((resolve, reject) => {
        let refusal: KeyringError | undefined;
        child.on('message', (message: Notice) => {
          if (message.type === 'failed') {
            refusal = errorOf(message.refusal);
            return;
          }
          this.#ring = message.ring;
          resolve();
        });
        const ended = (): void => {
          reject(refusal ?? gone());
          this.#childEnded(child, performance.now() - startedAtMs);
        };
        child.once('exit', ended);
        // A process that could not be started has no end.
        child.once('error', () => child.pid === undefined && ended());
      });
    } finally {
      clearTimeout(timer);
    }
    child.unref();
    child.channel?.unref();
  }

  #childEnded(child: ChildProcess, lifetimeMs: number): void {
    if (this.#child !== child) return;
    const wasUp = this.#isUp;
    this.#child = undefined;
    this.#isUp = false;
    this.#endLines(gone());
    this.#lines = [];
    if (this.closing.aborted) return;
    if (lifetimeMs > STABLE_MS) this.#restartDelayMs = RESTART_DELAY_MS_MIN;
    if (wasUp) this.#restartLater();
  }

  /** Not before a first start has succeeded: until then whoever started it gets the reason. */
  #restartLater(): void {
    this.#restartTimer = setTimeout(() => void this.#restart(), this.#restartDelayMs);
    this.#restartTimer.unref();
    this.#restartDelayMs = Math.min(2 * this.#restartDelayMs, RESTART_DELAY_MS_MAX);
  }

  async #restart(): Promise<void> {
    try {
      await this.#startChild();
      if (this.#serviceKeys !== undefined) await this.#send('loadServiceKeys', this.#serviceKeys);
    } catch {
      // The process is gone again; or it refused its service keys, and everything else still works.
    }
    if (this.closing.aborted) return;
    this.#isUp = this.#child !== undefined;
    if (this.#isUp) this.#wakeWaiting();
    else this.#restartLater();
  }

  #wakeWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** A thread has found a changed ring, so that the others read it too. */
  #follow(lines: readonly Line[], ring: RingState): void {
    if (lines !== this.#lines || isSameRing(ring, this.#ring)) return;
    this.#ring = ring;
    // What cannot be read is told to whoever calls next.
    this.#callAll('refreshRing', []).catch(() => {});
  }

  #endLines(error: KeyringError): void {
    for (const line of this.#lines) line.end(error);
  }

  /** The process may write the ring but not open its folder, which is synchronized here. */
  #syncRing(): Promise<void> {
    return syncFolder(dirname(parseRootKeySetting(this.#settings.rootKey).ringPath));
  }
}

const isSameRing = (one: RingState, other: RingState): boolean => JSON.stringify(one) === JSON.stringify(other);

function cloned<T>(value: T): T {
  try {
    return detached(deserialize(serialize(value))) as T;
  } catch {
    throw new KeyringError('INVALID_INPUT', 'an argument cannot be sent to the keyring process');
  }
}
