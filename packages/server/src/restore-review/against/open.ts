import { closeSync, createReadStream, openSync, readFileSync, readSync } from 'node:fs';
import type { Keyring } from '@custos/keyring';
import { ageLines } from '../../backup/archive/age-keys.ts';
import { readArchive } from '../../backup/archive/read.ts';
import { errorText } from '../../lib/error-text.ts';
import { StartError } from '../../lib/start-error.ts';
import type { MarkedTable } from '../../storage/integrity/marked-table.ts';
import { unpackArchive } from './archive.ts';
import { openVerifier } from './marks.ts';
import { openPostgresUrl } from './postgres.ts';
import { type OtherDatabase, rowsThrough } from './rows.ts';
import type { Scratch } from './scratch.ts';
import { type OpenedDatabase, openSqliteFile } from './sqlite.ts';

/** What a database is compared with. */
export type Against =
  | { readonly kind: 'database'; readonly database: OtherDatabase }
  | { readonly kind: 'audit-export'; readonly file: string };

export interface AgainstOptions {
  /** A file, or the URL of a PostgreSQL database. */
  readonly place: string;
  /** Files with identities of age that open a backup. */
  readonly identities: readonly string[];
  readonly keyring: Keyring;
  readonly tables: ReadonlyMap<string, MarkedTable>;
  readonly scratch: Scratch;
  readonly say: (line: string) => void;
}

const SQLITE = 'SQLite format 3\0';
/** What `readArchive` tells apart. */
const BACKUP = /^(age-encryption\.org|-----BEGIN AGE)/;

/** Finds out what `--against` names by how it begins. */
export async function openAgainst(options: AgainstOptions): Promise<Against> {
  const { place } = options;
  if (/^postgres(ql)?:\/\//.test(place)) {
    return {
      kind: 'database',
      database: await asOther(options, 'the PostgreSQL database', await openPostgresUrl(place)),
    };
  }
  const begin = beginOf(place);
  if (begin.startsWith(SQLITE))
    return { kind: 'database', database: await asOther(options, place, openSqliteFile(place)) };
  if (BACKUP.test(begin)) return { kind: 'database', database: await openBackup(options) };
  if (/^\s*[[{]/.test(begin)) return { kind: 'audit-export', file: place };
  throw new StartError(
    `${place} is neither an SQLite database, nor a backup of Custos, nor lines of JSON with activities; a PostgreSQL database is named by its URL, postgres://…`,
  );
}

function beginOf(file: string): string {
  const bytes = Buffer.alloc(64);
  try {
    const descriptor = openSync(file, 'r');
    try {
      return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new StartError(`cannot read ${file}: ${errorText(error)}`);
  }
}

async function asOther(
  { keyring }: AgainstOptions,
  name: string,
  { query, columns, close }: OpenedDatabase,
): Promise<OtherDatabase> {
  const { verify, doubt } = await openVerifier(query, columns, keyring);
  return { ...rowsThrough(query, columns, verify), name, doubt, close };
}

async function openBackup(options: AgainstOptions): Promise<OtherDatabase> {
  const { place, identities: files, tables, scratch, say } = options;
  if (files.length === 0) {
    throw new StartError(
      `${place} is an encrypted backup: name the file with the identity that opens it, --identity FILE`,
    );
  }
  const identities = files.flatMap(identitiesIn);
  say(`reading the backup ${place}`);
  const parts = readArchive(createReadStream(place), identities);
  const { id, snapshotAtMs } = await unpackArchive(
    parts,
    scratch.database('backup'),
    (table) => tables.get(table)?.key ?? [],
  );
  const opened = openSqliteFile(scratch.fileNamed('backup'));
  return await asOther(options, `backup ${id} of ${new Date(snapshotAtMs).toISOString()}`, opened);
}

function identitiesIn(file: string): string[] {
  try {
    return ageLines(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new StartError(`cannot read the identity ${file}: ${errorText(error)}`);
  }
}
