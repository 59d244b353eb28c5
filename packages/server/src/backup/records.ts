import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { type BackupRecord, InstallationReader, InstallationStore, readBackupRow } from '../core/store/installation.ts';
import { openBeside, writeBeside } from '../keyring-admin/beside.ts';
import { connectPostgres, explain } from '../keyring-admin/postgres-session.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import { pinnedSearchPath } from '../storage/postgres/search-path.ts';
import { newestFirst } from './newest.ts';

const RECORDS = "SELECT name, value FROM deployment WHERE name > 'backup:' AND name < 'backup;' ORDER BY name";

interface Row {
  readonly name: string;
  readonly value: string;
}

/**
 * The backups that a database knows of, newest first. Of all commands this one takes no lock and waits for nobody: it is also
 * asked while a backup is made, and by who only wants to know how things are.
 */
export async function readBackups({ databaseUrl, dataDir }: Config): Promise<BackupRecord[]> {
  const rows =
    databaseUrl === undefined ? await sqliteRecords(join(dataDir, 'custos.db')) : await postgresRecords(databaseUrl);
  return newestFirst(rows.map(({ name, value }) => readBackupRow(name, value)));
}

/** Ends the record of a backup that nobody will restore: what it alone needed may go. */
export async function forgetBackup(config: Config, id: string): Promise<BackupRecord> {
  const storage = await openBeside(config, 'backup forget');
  try {
    const records = await storage.read(InstallationReader).backups();
    const found = records.find((record) => record.id === id);
    if (found === undefined) {
      const known = records.length === 0 ? 'none is recorded' : '`custos backup list` shows those that are';
      throw new StartError(`no backup ${printable(id)} is recorded: ${known}; nothing was changed`);
    }
    await writeBeside(storage, (store) => store(InstallationStore).removeBackup(id));
    return found;
  } finally {
    await storage.close();
  }
}

async function sqliteRecords(file: string): Promise<Row[]> {
  if (!existsSync(file)) throw new StartError(`${file} holds no Custos service: start the service first`);
  const { SqliteFile } = await import('../storage/sqlite-driver.ts');
  try {
    using db = new SqliteFile(file, { isReadOnly: true });
    return db.prepare(RECORDS).all() as unknown as Row[];
  } catch (error) {
    throw new StartError(`cannot use the database ${file}: ${(error as Error).message}`);
  }
}

async function postgresRecords(url: string): Promise<Row[]> {
  const client = await connectPostgres(url);
  try {
    const searchPath = await pinnedSearchPath(client, url);
    if (searchPath !== undefined) await client.query(`SET search_path TO ${searchPath}`);
    return (await client.query(RECORDS)).rows;
  } catch (error) {
    throw explain(error);
  } finally {
    await client.end().catch(() => {});
  }
}
