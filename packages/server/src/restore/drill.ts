import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { openArchive } from './archive-source.ts';
import type { Sample } from './checks/addresses.ts';
import { type Checked, checkAll } from './checks/check.ts';
import type { Finding } from './checks/finding.ts';
import { requireKnownSchema } from './place/fill.ts';
import type { ScratchPlace } from './place/place.ts';
import { PostgresPlace } from './place/postgres-place.ts';
import { SqlitePlace } from './place/sqlite-place.ts';
import { openRing, ringInFolder } from './ring.ts';
import type { Say } from './say.ts';
import { type BackupSummary, summaryOf } from './summary.ts';
import { TemporaryFolder } from './temporary-folder.ts';

const PREFIX = 'custos-drill-';

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
    let folder: TemporaryFolder | undefined;
    let place: ScratchPlace | undefined;
    const remove = async (): Promise<void> => {
      await place?.remove();
      folder?.remove();
    };
    // Before there is anything to remove: an interruption may come in between.
    options.onPlace?.(remove);
    folder = await TemporaryFolder.make(PREFIX);
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

const makePlace = async (folder: TemporaryFolder, databaseUrl: string | undefined): Promise<ScratchPlace> =>
  databaseUrl === undefined ? new SqlitePlace(join(folder.path, 'custos.db')) : await PostgresPlace.make(databaseUrl);
