import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { dataModel } from '../../domains.ts';
import { StartError } from '../../lib/start-error.ts';
import { type AppliedMigration, compareSchema, MIGRATION_NAMES } from '../../storage/migrate.ts';
import type { Snapshot } from './snapshot.ts';

/** All tables of this program, in the order in which they are kept. */
export const snapshotTables = (): string[] => ['schema_migration', ...dataModel.tables.map(({ name }) => name)];

export async function openSnapshot({ databaseUrl, dataDir }: Config): Promise<Snapshot> {
  const snapshot = await openOf(databaseUrl, dataDir);
  try {
    requireSchema(snapshot.migrations);
    return snapshot;
  } catch (error) {
    await snapshot.close();
    throw error;
  }
}

async function openOf(databaseUrl: string | undefined, dataDir: string): Promise<Snapshot> {
  if (databaseUrl !== undefined) {
    const { openPostgresSnapshot } = await import('./postgres.ts');
    return await openPostgresSnapshot(databaseUrl);
  }
  const { openSqliteSnapshot } = await import('./sqlite.ts');
  return openSqliteSnapshot(join(dataDir, 'custos.db'));
}

/** What a newer version added would be left out, also where older ones may go on beside it. */
function requireSchema(applied: readonly AppliedMigration[]): void {
  const { missing } = compareSchema(applied);
  if (missing.length > 0)
    throw new StartError('the database is of an older version: start this version of the service first');
  const unknown = applied.filter(({ name }) => !MIGRATION_NAMES.includes(name));
  if (unknown.length === 0) return;
  throw new StartError(
    `the database is of a newer version than this program (it has ${unknown.map(({ name }) => name).join(', ')}): back it up with that version`,
  );
}
