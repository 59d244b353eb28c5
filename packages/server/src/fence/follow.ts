import { InstallationReader } from '../core/store/installation.ts';
import { isViolation } from '../storage/integrity/apart.ts';
import type { Storage } from '../storage/storage.ts';
import { RestorationReader } from './store.ts';

/** Looks that a record which is not genuine is left alone for: each one reports it. */
const DOUBTED_LOOKS = 30;

/**
 * Follows what the database says of restores: first before anybody is served. A record that no service wrote holds everything,
 * and one that is gone is reported and counts on.
 */
export class FenceFollower {
  readonly #storage: Storage;
  #candidates = '';
  #accepted: ReadonlySet<string> = new Set();
  #passes = 0;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** To be called every second. */
  async follow(): Promise<void> {
    const { read, fence, integrity } = this.#storage;
    if (fence.doubt === 'not-genuine') {
      this.#passes = (this.#passes + 1) % DOUBTED_LOOKS;
      if (this.#passes > 0) return;
    }
    const restorations = read(RestorationReader);
    const missing = (row: string) =>
      integrity.refuse({ table: 'restoration', organizationId: undefined, row, because: 'set' });
    try {
      const all = await restorations.all();
      // A process that has seen a record knows it is gone. One that starts finds the other traces (the threat model names them).
      if (fence.doubt !== undefined) {
        const newest = await read(InstallationReader).get('newest_restoration');
        if (newest !== undefined && all.every(({ id }) => id !== newest)) throw missing(newest);
        if (all.length === 0 && (await restorations.wasRestored())) throw missing('any');
      }
      const open = all.filter(({ acceptedAtMs }) => acceptedAtMs === undefined).at(-1);
      const accepted = open === undefined ? new Set<string>() : await this.#acceptedFor(open.id);
      for (const id of fence.load(all, accepted)) missing(id);
    } catch (error) {
      if (!isViolation(error)) throw error;
      fence.distrust();
    }
  }

  /** Rows are read whole, and verified, when there are others than before. */
  async #acceptedFor(restorationId: string): Promise<ReadonlySet<string>> {
    const restorations = this.#storage.read(RestorationReader);
    const candidates = [restorationId, ...(await restorations.candidatesFor(restorationId))].join(' ');
    if (candidates !== this.#candidates) {
      this.#accepted = new Set(await restorations.acceptedFor(restorationId));
      this.#candidates = candidates;
    }
    return this.#accepted;
  }
}
