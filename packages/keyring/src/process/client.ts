import type { Method } from '../calls/call.ts';
import { CallMethods } from '../calls/methods.ts';
import { checkArguments, transportOf } from '../calls/table.ts';
import { closed } from '../errors.ts';
import type { Keyring, KeyringLoad, RingState, SealedServiceKey } from '../keyring.ts';
import { KeyringProcess, type StartSettings } from './keyring-process.ts';
import { partsOf } from './parts.ts';

/** The keyring in a process of its own. */
export class ProcessKeyring extends CallMethods implements Keyring {
  readonly #process: KeyringProcess;

  private constructor(process: KeyringProcess) {
    super();
    this.#process = process;
  }

  static async start(settings: StartSettings): Promise<ProcessKeyring> {
    return new ProcessKeyring(await KeyringProcess.start(settings));
  }

  /** The id of the process, while there is one. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Resolves when the process is there and has its service keys; also when the keyring is closed. */
  ready(): Promise<void> {
    return this.#process.ready();
  }

  get rootKeyId(): string {
    return this.#process.ring.active;
  }

  hasRootKey(id: string): boolean {
    return this.#process.isUp && this.#process.ring.ids.includes(id);
  }

  get load(): KeyringLoad {
    return this.#process.load;
  }

  get closing(): AbortSignal {
    return this.#process.closing;
  }

  override ping(): Promise<void> {
    return this.#process.ping();
  }

  override async refreshRing(): Promise<RingState> {
    await this.#process.call('refreshRing', []);
    // A thread that has read another one said so before it answered.
    return this.#process.ring;
  }

  override loadServiceKeys(organizationKey: Uint8Array, keys: readonly SealedServiceKey[]): Promise<void> {
    return this.#process.loadServiceKeys(organizationKey, keys);
  }

  /** Sends the call to its threads, as the table says. */
  async perform(method: Method, args: readonly unknown[]): Promise<unknown> {
    if (this.closing.aborted) throw closed();
    const { isCheckedByClient, sharing } = transportOf(method);
    const sent = isCheckedByClient === true ? checkArguments(method, args) : args;
    if (sharing === undefined) return this.#process.call(method, sent);
    const parts = partsOf(sent, sharing, () => this.#process.idleThreads);
    if (parts.length === 1) return sharing.unpack((await this.#process.call(method, sent)) as Uint8Array);
    const answers = await Promise.all(parts.map((part) => this.#process.call(method, part)));
    return answers.flatMap((answer) => sharing.unpack(answer as Uint8Array));
  }

  /** Ends the process and waits for its end. */
  close(): Promise<void> {
    return this.#process.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
