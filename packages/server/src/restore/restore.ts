import { randomUUID } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ArchiveHeader, Manifest } from '../backup/archive/parts.ts';
import type { Config } from '../config/config.ts';
import { BACKUP, InstallationStore } from '../core/store/installation.ts';
import { raiseFence } from '../fence/raise.ts';
import { errorText } from '../lib/error-text.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';
import { openArchive, STANDARD_INPUT } from './archive-source.ts';
import type { Sample } from './checks/addresses.ts';
import { type Checked, checkAll } from './checks/check.ts';
import type { Finding } from './checks/finding.ts';
import { requireKnownSchema } from './place/fill.ts';
import type { ScratchPlace } from './place/place.ts';
import { installArchivedRing, openRing } from './ring.ts';
import type { Say } from './say.ts';
import { type BackupSummary, summaryOf } from './summary.ts';
import { PostgresTarget } from './target/postgres-target.ts';
import type { Described, StoredFact } from './target/present.ts';
import { SqliteTarget } from './target/sqlite-target.ts';
import type { At, Kept, Target } from './target/target.ts';

export interface RestoreOptions {
  /** The file of the backup; `-` for standard input. */
  readonly file: string;
  /** Files with identities of age. */
  readonly identities: readonly string[];
  /** Whether the key ring is taken from the backup, where this machine has none. */
  readonly withKeys: boolean;
  /** Whether what is replaced is removed afterwards. */
  readonly discard: boolean;
  /** Whether velocity windows count as full. */
  readonly exhaust: boolean;
  /** Whether something in the backup may be found wrong. */
  readonly acceptsFindings: boolean;
  readonly sample: Sample;
  readonly say: Say;
  readonly report: (finding: Finding) => void;
  /** Asked once everything was verified, before anything is changed; also where nothing is replaced. */
  readonly confirm: (plan: RestorePlan) => Promise<boolean>;
  /** Hears what is there, before anything is loaded; it may throw. */
  readonly onTarget?: (target: Pick<Target, 'name' | 'present'>) => void;
  /** Given a way to remove what was made so far, for whoever is interrupted. */
  readonly onPlace?: (remove: () => Promise<void>) => void;
  /** For tests. */
  readonly at?: At;
}

/** What is about to happen. */
export interface RestorePlan {
  /** The database, as the settings name it. */
  readonly target: string;
  readonly backup: BackupSummary;
  /** What is replaced; undefined where nothing is there. */
  readonly present: Described | undefined;
  /** The database that is there, and the backup, began with different organizations. */
  readonly isOther: boolean;
  readonly checked: Checked;
  readonly writesRing: string | undefined;
}

export interface Restored {
  /** As the settings name it. */
  readonly target: string;
  readonly backup: BackupSummary;
  readonly checked: Checked;
  readonly kept: Kept | undefined;
}

/**
 * Restores a backup into the database of the settings: loads it into a place of its own, verifies everything there, raises the
 * fence, and exchanges the two. Killed at any moment it leaves the database as it was, or as the backup has it
 * (docs/decisions/0062). Undefined when it was not confirmed.
 */
export async function restoreDatabase(config: Config, options: RestoreOptions): Promise<Restored | undefined> {
  const archive = await openArchive(options.file, options.identities);
  try {
    requireKnownSchema(archive.header);
    requireDataDir(config.dataDir);
    const target = await openTarget(config, options.say);
    try {
      return await restoreOver(target, { config, options, archive });
    } finally {
      await target.release();
    }
  } finally {
    await archive.close();
  }
}

async function openTarget({ databaseUrl, dataDir }: Config, say: Say): Promise<Target> {
  return databaseUrl === undefined ? await SqliteTarget.open(dataDir) : await PostgresTarget.open(databaseUrl, say);
}

function requireDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(`cannot use the data directory ${dataDir}: ${(error as Error).message}`);
  }
}

interface Parts {
  readonly config: Config;
  readonly options: RestoreOptions;
  readonly archive: Awaited<ReturnType<typeof openArchive>>;
}

async function restoreOver<P extends ScratchPlace>(target: Target<P>, parts: Parts): Promise<Restored | undefined> {
  const { options, archive, config } = parts;
  const { say, at = () => {} } = options;
  options.onTarget?.(target);
  await at('locked');
  const place = await target.makePlace();
  let takeRingAway: (() => void) | undefined;
  const undo = async (): Promise<void> => {
    takeRingAway?.();
    await place.remove();
  };
  options.onPlace?.(undo);
  let kept: Kept | undefined;
  let plan: RestorePlan | undefined;
  try {
    await at('header');
    const { manifest, ring } = await place.fill(archive.header, archive.parts, { nowMs: Date.now(), say });
    await at('filled');
    if (options.withKeys) takeRingAway = await installArchivedRing(config, ring);
    await at('ring');
    plan = await prepare(place, target, { ...parts, manifest, isNewRing: takeRingAway !== undefined });
    if (plan === undefined) return undefined;
    // From here on the database may be the one that needs it; a ring without a database does no harm.
    takeRingAway = undefined;
    say('exchanging the databases');
    kept = await target.swap(place, { discard: options.discard, at });
    await at('done');
  } finally {
    await undo().catch((error: unknown) => say(`what was loaded could not be removed: ${errorText(error)}`));
  }
  return { target: target.name, backup: plan.backup, checked: plan.checked, kept };
}

interface Loaded extends Parts {
  readonly manifest: Manifest;
  /** The key ring came with the backup. */
  readonly isNewRing: boolean;
}

/** Verifies what was loaded, asks, and makes of it what a service may open. Undefined when it was not confirmed. */
async function prepare(
  place: ScratchPlace,
  target: Target,
  { config, options, archive, manifest, isNewRing }: Loaded,
): Promise<RestorePlan | undefined> {
  const { at = () => {} } = options;
  const storage = await place.open();
  try {
    const keyring = await openRing(storage, config, manifest);
    try {
      const checked = await checkAll(storage, keyring, options);
      if (checked.findings > 0 && !options.acceptsFindings)
        throw new StartError(
          `${checked.findings} of what is in the backup ${checked.findings === 1 ? 'does' : 'do'} not verify: use another backup, or restore this one with --accept-findings; nothing was changed`,
        );
      await at('verified');
      const backup = await summaryOf(storage, archive.header, manifest);
      const { name, present } = target;
      const isOther = present !== undefined && present.organizationId !== backup.described.organizationId;
      const writesRing = isNewRing ? config.rootKey : undefined;
      const plan: RestorePlan = { target: name, backup, present, isOther, checked, writesRing };
      if (!(await options.confirm(plan))) return undefined;
      await at('confirmed');
      await complete(storage, archive.header, manifest, {
        exhaust: options.exhaust,
        backups: isOther ? [] : await target.backupsSince(manifest.snapshotAtMs),
        place: options.file === STANDARD_INPUT ? 'standard input of a restore' : resolve(options.file),
      });
      await at('fenced');
      return plan;
    } finally {
      await keyring.close();
    }
  } finally {
    await place.close();
  }
}

interface Completion {
  readonly exhaust: boolean;
  readonly backups: readonly StoredFact[];
  readonly place: string;
}

/** In one transaction: what a service finds that opens it. */
async function complete(
  storage: Storage,
  { id, version }: ArchiveHeader,
  { snapshotAtMs, rootKeyIds, integrityKeyIds, rows, hasKeys }: Manifest,
  { exhaust, backups, place }: Completion,
): Promise<void> {
  const restoredAtMs = Date.now();
  await storage.write(async (store) => {
    const installation = store(InstallationStore);
    // Somebody may restore it once more; the keys that it needs must stay. What is replaced knows more of it, and of later ones.
    const record = { takenAtMs: snapshotAtMs, rootKeyIds, place, integrityKeyIds, rows, version, hasKeys };
    await installation.putBackup({ id, ...record });
    for (const { name, value } of backups) await installation.carryBackup(name.slice(BACKUP.length), value);
    await installation.put('restored', randomUUID());
    await raiseFence(store, { backupId: id, snapshotAtMs, restoredAtMs, exhaust });
  });
}
