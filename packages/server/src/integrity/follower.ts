import { type Keyring, KeyringError } from '@custos/keyring';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import type { IntegrityState } from '../key-rotation/rotation.ts';
import type { Storage } from '../storage/storage.ts';
import { type LoadedIntegrity, loadIntegrity, recordInRing } from './load.ts';

const LOOK_EVERY_MS = 1000;
export const INTEGRITY_FACTS = ['integrity', 'integrity_rotation'] as const;

type Facts = ReadonlyMap<string, string>;

/** Loads the keys again whenever the database says something else of them than before. */
class Watch {
  readonly #storage: Storage;
  readonly #keyring: Keyring;
  #loaded: LoadedIntegrity;
  #seen: string | undefined;

  constructor(storage: Storage, keyring: Keyring, loaded: LoadedIntegrity) {
    this.#storage = storage;
    this.#keyring = keyring;
    this.#loaded = loaded;
  }

  get loaded(): LoadedIntegrity {
    return this.#loaded;
  }

  async look(facts: Facts): Promise<LoadedIntegrity> {
    const said = INTEGRITY_FACTS.map((name) => facts.get(name)).join('\n');
    if (said !== this.#seen) {
      this.#loaded = (await loadIntegrity(this.#storage, this.#keyring, this.#loaded)) ?? this.#loaded;
      this.#seen = said;
    }
    return this.#loaded;
  }
}

/** How a service goes on following what the database says of marks. */
export class IntegrityFollower {
  readonly #storage: Storage;
  readonly #keyring: Keyring;
  readonly #watch: Watch;
  readonly #warn: (line: string) => void;
  #recorded: string | undefined;
  #hasWarned = false;
  /** The last one, which is told once. */
  #failure: string | undefined;

  constructor(storage: Storage, keyring: Keyring, loaded: LoadedIntegrity, warn: (line: string) => void) {
    this.#storage = storage;
    this.#keyring = keyring;
    this.#watch = new Watch(storage, keyring, loaded);
    this.#warn = warn;
    if (loaded.isInRing) this.#recorded = loaded.current.keyId;
  }

  /** As the process tells others. */
  get state(): IntegrityState {
    const { current, marking, keys } = this.#watch.loaded;
    return {
      newest: keys.at(-1)?.keyId ?? current.keyId,
      marks: marking.keyId,
      since: current.keyId,
      isInRing: this.#recorded === current.keyId,
    };
  }

  /** Every row has a mark. */
  async require(): Promise<void> {
    await this.#record();
    this.#storage.integrity.require();
    await this.#putNote();
  }

  /** Where the ring or the database is away, the next call tries again. */
  async follow(facts: Facts): Promise<void> {
    try {
      await this.#follow(facts);
      this.#failure = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#failure) this.#warn(`cannot follow what the database says of integrity keys: ${message}`);
      this.#failure = message;
    }
  }

  async #follow(facts: Facts): Promise<void> {
    const { current } = await this.#watch.look(facts);
    if (!this.#storage.integrity.isRequired) return;
    if (this.#recorded !== current.keyId) await this.#record();
    // Taken away by somebody, or of before a backup: others are to know it.
    if (facts.get('integrity') !== current.notes.required) await this.#putNote();
  }

  /** A ring that cannot be written, as on a volume that is mounted to be read, leaves the note alone to say it. */
  async #record(): Promise<void> {
    const { keyId } = this.#watch.loaded.current;
    try {
      await recordInRing(this.#keyring, keyId);
      this.#recorded = keyId;
    } catch (error) {
      if (!(error instanceof KeyringError)) throw error;
      if (!this.#hasWarned)
        this.#warn(
          `the key ring cannot say that rows must be authenticated (${error.message}): until it does, only the database says so`,
        );
      this.#hasWarned = true;
    }
  }

  async #putNote(): Promise<void> {
    const { required } = this.#watch.loaded.current.notes;
    await this.#storage.write((store) => store(InstallationStore).put('integrity', required));
  }
}

/** Keeps the keys of a command that takes a while in step with the services, until its keyring is closed. */
export function watchBeside(storage: Storage, keyring: Keyring, loaded: LoadedIntegrity): void {
  const watch = new Watch(storage, keyring, loaded);
  const look = async (): Promise<void> => {
    await watch.look(await storage.read(InstallationReader).facts(INTEGRITY_FACTS));
  };
  let timer: NodeJS.Timeout | undefined;
  const lookAgain = (): void => {
    if (keyring.closing.aborted) return;
    // Where the database or the keyring is away, the next look tries again.
    timer = setTimeout(
      () =>
        void look()
          .catch(() => {})
          .finally(lookAgain),
      LOOK_EVERY_MS,
    ).unref();
  };
  keyring.closing.addEventListener('abort', () => clearTimeout(timer));
  lookAgain();
}
