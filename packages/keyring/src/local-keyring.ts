import type { Method } from './calls/call.ts';
import { CallMethods } from './calls/methods.ts';
import { type Checked, checkArguments } from './calls/table.ts';
import type { Keyring, KeyringCalls, KeyringLoad, RingState } from './keyring.ts';
import * as functions from './local/functions.ts';
import { Keys } from './local/keys.ts';
import { type RandomBytes, systemRandom } from './seal/envelope.ts';
import { RootKeyRing } from './seal/root-key.ts';
import { Ceilings } from './transfers/ceiling.ts';
import type { TransferGate } from './transfers/limits.ts';

/** Every call has a function that takes what its check answers with. */
const FUNCTIONS: {
  readonly [M in Method]: (keys: Keys, ...args: Checked<M>) => ReturnType<KeyringCalls[M]>;
} = functions;

/** The keyring inside the calling process. */
export class LocalKeyring extends CallMethods implements Keyring {
  readonly #keys: Keys;

  constructor(ring: RootKeyRing, random: RandomBytes, transfers: TransferGate = new Ceilings()) {
    super();
    this.#keys = new Keys(ring, random, transfers);
  }

  static async open(rootKey: string, create: boolean, transfers?: TransferGate): Promise<LocalKeyring> {
    return new LocalKeyring(await RootKeyRing.open(rootKey, create, systemRandom), systemRandom, transfers);
  }

  get rootKeyId(): string {
    return this.#keys.ring.activeId;
  }

  get ringState(): RingState {
    return this.#keys.ring.state;
  }

  /** What is asked of it is done at once, or waits for nothing but this process. */
  get load(): KeyringLoad {
    return { calls: 0, bytes: 0 };
  }

  get closing(): AbortSignal {
    return this.#keys.closing;
  }

  hasRootKey(id: string): boolean {
    return this.#keys.ring.has(id);
  }

  /** Reads the ring again if its file has changed. */
  followRing(): Promise<void> {
    return this.#keys.ring.follow();
  }

  /** Checked before anything else happens, so that no function sees an argument that is not what it has to be. */
  async perform<M extends Method>(method: M, args: readonly unknown[]): Promise<unknown> {
    this.#keys.checkOpen();
    return FUNCTIONS[method](this.#keys, ...checkArguments(method, args));
  }

  async close(): Promise<void> {
    this.#keys.wipe();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
