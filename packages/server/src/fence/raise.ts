import { InstallationStore } from '../core/store/installation.ts';
import { randomId } from '../lib/ids.ts';
import type { Stores } from '../storage/stores.ts';
import { RestorationStore } from './store.ts';

interface RestoredBackup {
  readonly backupId: string;
  /** When the backup was made. */
  readonly snapshotAtMs: number;
  /** When it is restored, by the clock of the machine that does it. */
  readonly restoredAtMs: number;
  /** Whether every velocity window counts as full until it has passed the restore. */
  readonly exhaust: boolean;
}

/**
 * Raises the fence in a database that was restored from a backup, in the transaction that makes it complete; its integrity key
 * must be loaded. From then on only versions of the program that know the fence open the database.
 */
export async function raiseFence(
  store: Stores,
  { backupId, snapshotAtMs, restoredAtMs, exhaust }: RestoredBackup,
): Promise<void> {
  const before = (await store(RestorationStore).all()).at(-1)?.restoredAtMs ?? 0;
  const id = randomId();
  await store(RestorationStore).insert({
    id,
    backupId,
    snapshotAtMs,
    // A clock that is behind must not let in what was issued before the snapshot, and the newest restore is the last one.
    restoredAtMs: Math.max(restoredAtMs, snapshotAtMs, before + 1),
    exhaustsWindows: exhaust,
    acceptedAtMs: undefined,
    acceptedBy: undefined,
  });
  await store(InstallationStore).put('newest_restoration', id);
  await store(RestorationStore).refuseOlderPrograms();
}
