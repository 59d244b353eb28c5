import { lstatSync, mkdtempSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { SqliteFile } from '../storage/sqlite-driver.ts';
import { openArchive } from './archive-source.ts';
import type { Sample } from './checks/addresses.ts';
import { type Checked, checkAll } from './checks/check.ts';
import type { Finding } from './checks/finding.ts';
import { requireKnownSchema } from './place/fill.ts';
import type { ScratchPlace } from './place/place.ts';
import { PostgresPlace } from './place/postgres-place.ts';
import { explain, SqlitePlace } from './place/sqlite-place.ts';
import { openRing, ringInFolder } from './ring.ts';
import type { Say } from './say.ts';
import { type BackupSummary, summaryOf } from './summary.ts';

const PREFIX = 'custos-drill-';
/** One that was just made may not have its lock yet. */
const LEFT_OVER_MS = 60_000;

export interface DrillOptions {
  readonly file: string;
  readonly identities: readonly string[];
  /** Whether it is opened with the key ring that is inside, and not with that of this machine. */
  readonly withKeys: boolean;
  /** A PostgreSQL database to load it into; a folder of its own unless told. */
  readonly databaseUrl: string | undefined;
  readonly sample: Sample;
  readonly say: Say;
  readonly report: (finding: Finding) => void;
  /** Given a way to remove what was made so far, for whoever is interrupted. */
  readonly onPlace?: (remove: () => Promise<void>) => void;
}

export interface Drilled {
  readonly backup: BackupSummary;
  readonly checked: Checked;
}

/**
 * Restores a backup where nobody uses it, tries everything there, and removes it again. The database of the settings is not
 * looked at.
 */
export async function drillBackup(config: Config, options: DrillOptions): Promise<Drilled> {
  const archive = await openArchive(options.file, options.identities);
  try {
    requireKnownSchema(archive.header);
    let folder: DrillFolder | undefined;
    let place: ScratchPlace | undefined;
    const remove = async (): Promise<void> => {
      await place?.remove();
      folder?.remove();
    };
    // Before there is anything to remove: an interruption may come in between.
    options.onPlace?.(remove);
    folder = await DrillFolder.make();
    try {
      place = await makePlace(folder, options.databaseUrl);
      const { manifest, ring } = await place.fill(archive.header, archive.parts, {
        nowMs: Date.now(),
        say: options.say,
      });
      const opens = options.withKeys ? ringInFolder(folder.path, config, ring) : config;
      const storage = await place.open();
      const keyring = await openRing(storage, opens, manifest);
      try {
        const checked = await checkAll(storage, keyring, options);
        return { backup: await summaryOf(storage, archive.header, manifest), checked };
      } finally {
        await keyring.close();
      }
    } finally {
      await remove();
    }
  } finally {
    await archive.close();
  }
}

const makePlace = async (folder: DrillFolder, databaseUrl: string | undefined): Promise<ScratchPlace> =>
  databaseUrl === undefined ? new SqlitePlace(join(folder.path, 'custos.db')) : await PostgresPlace.make(databaseUrl);

/** A temporary folder with a lock, so that the next drill can tell what a killed one has left: it may hold a key ring. */
class DrillFolder {
  readonly path: string;
  readonly #lock: SqliteFile;

  private constructor(path: string, lock: SqliteFile) {
    this.path = path;
    this.#lock = lock;
  }

  static async make(): Promise<DrillFolder> {
    const { takeLock } = await import('../storage/sqlite.ts');
    const lockIn = (path: string): SqliteFile => takeLock(join(path, 'lock'));
    for (const left of leftOver()) {
      try {
        lockIn(left).close();
        rmSync(left, { recursive: true, force: true });
      } catch {
        // It is in use, or somebody else's.
      }
    }
    try {
      const path = mkdtempSync(join(tmpdir(), PREFIX));
      return new DrillFolder(path, lockIn(path));
    } catch (error) {
      throw explain(error, join(tmpdir(), PREFIX));
    }
  }

  remove(): void {
    this.#lock.close();
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Anybody may make a folder, or a link, of that name where temporary files are. */
const isOwnAndOld = (found: Stats | undefined): boolean =>
  found?.isDirectory() === true &&
  found.uid === (process.getuid?.() ?? found.uid) &&
  found.mtimeMs < Date.now() - LEFT_OVER_MS;

function leftOver(): string[] {
  try {
    const names = readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX));
    return names
      .map((name) => join(tmpdir(), name))
      .filter((path) => isOwnAndOld(lstatSync(path, { throwIfNoEntry: false })));
  } catch {
    return [];
  }
}
