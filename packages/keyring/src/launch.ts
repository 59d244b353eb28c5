import type { ChildProcess } from 'node:child_process';
import type { Settings } from './process/channel.ts';
import { pipesOf, startKeyringProcess, threadsOf } from './process/start.ts';
import type { KeyringLimits, TransferLimits } from './transfers/limits.ts';

/** A keyring process that was started ahead. It has no keys and opens nothing until a keyring takes it over. */
export class LaunchedKeyring {
  readonly #settings: Settings;
  #child: ChildProcess | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    const child = startKeyringProcess(settings);
    this.#child = child;
    // One that is gone when it is needed is started again, by whoever can then say why it cannot be.
    child.on('error', () => {});
    for (const pipe of pipesOf(child)) {
      pipe.on('error', () => {});
      pipe.unref();
    }
    child.unref();
    child.channel?.unref();
  }

  /** The process, once, if it is there and is the one that these settings ask for. */
  take(wanted: Settings): ChildProcess | undefined {
    const child = this.#child;
    if (textOf(wanted) !== textOf(this.#settings)) this.close();
    this.#child = undefined;
    if (child?.connected !== true || child.exitCode !== null || child.signalCode !== null || child.killed)
      return undefined;
    child.ref();
    child.channel?.ref();
    return child;
  }

  /** Ends the process unless it was taken over. */
  close(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }
}

const textOf = ({ rootKey, threads, exportLimits, importLimits, refusesAdministration = false }: Settings): string =>
  JSON.stringify([rootKey, threads, listOf(exportLimits), listOf(importLimits), refusesAdministration]);

const listOf = (limits: TransferLimits | undefined) => limits && [limits.perOrganization, limits.inAll];

/**
 * Starts a service's keyring process of this root key before it is needed. It loads its program meanwhile. What keeps it from
 * starting is said when a keyring is created.
 */
export function launchKeyring(rootKey: string, limits: KeyringLimits = {}): LaunchedKeyring | undefined {
  try {
    return new LaunchedKeyring({ rootKey, threads: threadsOf(), ...limits, refusesAdministration: true });
  } catch {
    return undefined;
  }
}
