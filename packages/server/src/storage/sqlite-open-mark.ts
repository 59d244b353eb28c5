import { realpathSync, statSync } from 'node:fs';
import { StartError } from '../lib/start-error.ts';
import { SqliteFile, sqliteErrorName } from './sqlite-driver.ts';

// What was committed last is in the log beside a database file. A copy of the file alone, from beside a running service, opens
// well, and every row in it is genuine: nothing in the rows tells that the newest are missing. So the file itself says while it
// has a log, in a number of its header that SQLite keeps for its users (docs/decisions/0062).

/** The file is whole without a log. */
const WHOLE = 0;
/** It has a log, which is not empty. */
const OPEN = 1;
/** It was found without its log, and nobody has accepted that. */
const LACKING = 2;

const DAMAGES_MAX = 20;

/**
 * As the file itself has it, without what is in its log. SQLite reads it: to open the file past SQLite and close it again would
 * release the locks that this process has on it.
 */
function markOf(file: string): number {
  try {
    using header = new SqliteFile(file, { isImmutable: true });
    return seenBy(header);
  } catch {
    // What is not there lacks nothing; what cannot be read is explained by whoever opens it.
    return WHOLE;
  }
}

/** Whether a database file was open when it was copied, and its log was not copied with it. */
export function lacksLog(file: string): boolean {
  if (markOf(file) === LACKING) return true;
  // A service that ends takes its mark away before it removes its log.
  return markOf(file) === OPEN && hasNoLog(file) && markOf(file) === OPEN;
}

/** SQLite keeps the log beside the file itself, not beside a link to it. */
const hasNoLog = (file: string): boolean =>
  (statSync(`${realpathSync(file)}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0;

/**
 * To be called once the name of the log is durable. The mark is in the file itself then, and in the log, which stays: SQLite
 * writes it anew from its beginning and does not shorten it.
 */
export function markOpen(writer: SqliteFile): void {
  put(writer, OPEN);
  writer.exec('PRAGMA wal_checkpoint(PASSIVE)');
}

/**
 * The log is about to be emptied or removed. What counts is the mark as SQLite reads it, log included: beside a reader the one
 * in the file may be older, and the newer one would be moved there. A file that lacks its log goes on saying so.
 */
export function markWhole(writer: SqliteFile): void {
  if (seenBy(writer) === OPEN) put(writer, WHOLE);
}

/** Whoever opens the file makes a log for it: from then on nothing else would tell that there was another. */
export function markLacking(writer: SqliteFile): void {
  put(writer, LACKING);
  writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** From now on the file counts as whole. Nobody else may have it open. */
export function acceptWithoutLog(file: string): void {
  using writer = new SqliteFile(file);
  put(writer, WHOLE);
  writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/**
 * Where the pages of a file do not fit together, in SQLite's words: rows and indexes that are read by different ways then say
 * different things. A file that was copied while its log was moved into it has pages of before and after.
 */
export function damageOf(file: string): string[] {
  try {
    using reader = new SqliteFile(file, { isReadOnly: true });
    const lines = reader.prepare(`PRAGMA integrity_check(${DAMAGES_MAX})`).all();
    return lines.map((line) => String(line['integrity_check'])).filter((line) => line !== 'ok');
  } catch (error) {
    if (sqliteErrorName(error) !== 'other') throw error;
    return [(error as Error).message];
  }
}

const seenBy = (db: SqliteFile): number => Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? WHOLE);

function put(writer: SqliteFile, mark: number): void {
  writer.exec(`PRAGMA user_version = ${mark}`);
}

export const withoutLog = (file: string): StartError =>
  new StartError(
    `the database ${file} was copied from beside a running service without its log (${file}-wal): what was committed last is missing, and nobody can tell what that is. Copy the folder as a whole, or restore a backup (\`custos restore\`). If there is nothing else, \`custos verify --accept-lost-log\` checks what is there and lets the service start with it. A file that sqlite3 made with .backup or VACUUM INTO says the same and lacks nothing (docs/guides/disaster-recovery.md#a-copy-without-its-log)`,
  );
