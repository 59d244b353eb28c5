import { sql } from 'kysely';
import type { ArchivedRing, ArchiveHeader, ArchivePart, ArchiveRow, Manifest } from '../../backup/archive/parts.ts';
import { PROCESS } from '../../core/store/installation.ts';
import { LIMITS } from '../../lib/limits.ts';
import { printable } from '../../lib/printable.ts';
import { StartError } from '../../lib/start-error.ts';
import { columnsOf } from '../../storage/integrity/columns.ts';
import { compareSchema, MIGRATION_NAMES, migrateUnused } from '../../storage/migrate.ts';
import type { Say } from '../say.ts';
import type { RawTables } from './raw-tables.ts';

/** The schema of the first version that made backups. */
const EARLIEST = '0028-integrity';
const MIGRATIONS = 'schema_migration';
/** What a process writes about itself, and how one kind of database numbers changes. */
const OF_A_PROCESS = [PROCESS, 'probe:'];
const OF_SQLITE: readonly string[] = ['change_number', 'feed_eras'];
const SAY_EVERY_MS = 5000;

/** What an archive says of itself at its end, once all of it was read and verified. */
export interface Filled {
  readonly manifest: Manifest;
  readonly ring: ArchivedRing | undefined;
}

/** Before anything is written: what a newer version made cannot be written here without losing some of it. */
export function requireKnownSchema({ version, migrations }: ArchiveHeader): void {
  const by = `version ${printable(version)}`;
  const unknown = migrations.map(({ name }) => name).filter((name) => !MIGRATION_NAMES.includes(name));
  if (unknown.length > 0) {
    throw new StartError(
      `the backup was made by ${by}, which is newer than this program: it has ${unknown.map((name) => printable(name)).join(', ')}. Restore it with that version or a newer one; nothing was changed`,
    );
  }
  const upTo = MIGRATION_NAMES.slice(0, MIGRATION_NAMES.indexOf(EARLIEST) + 1);
  const { missing } = compareSchema(migrations, upTo);
  if (missing.length > 0)
    throw new StartError(`the backup is of no version that makes backups: it lacks ${missing.join(', ')}`);
}

/**
 * Fills tables from an archive: made as they were when it was taken, filled, and then migrated. The parts are those behind the
 * header.
 */
export async function fill(
  tables: RawTables,
  header: ArchiveHeader,
  parts: AsyncIterable<ArchivePart>,
  { nowMs, say }: { readonly nowMs: number; readonly say: Say },
): Promise<Filled> {
  const { db, kind } = tables;
  await migrateUnused(
    db,
    kind,
    nowMs,
    header.migrations.map(({ name }) => name),
  );
  const columns = await columnsByTable(tables);
  await tables.still();
  // Migrations put some rows there, and the archive has its own.
  for (const table of columns.keys()) if (table !== MIGRATIONS) await emptyTable(tables, table);
  const filling = new Filling(tables, columns, header, say);
  for await (const part of parts) await filling.take(part);
  const filled = await filling.end();
  requirePast(filled.manifest, nowMs);
  await tables.settle();
  await migrateUnused(db, kind, nowMs);
  return filled;
}

/**
 * Whoever restores refuses what was issued before the restore, by this clock or that of the backup. Where the former is behind,
 * what ran before would run again; where the latter was ahead, nothing would be accepted until then.
 */
function requirePast({ snapshotAtMs }: Manifest, nowMs: number): void {
  if (snapshotAtMs <= nowMs + LIMITS.liveAfterMs) return;
  throw new StartError(
    `the backup says that it was made at ${new Date(snapshotAtMs).toISOString()}, and the clock of this machine says ${new Date(nowMs).toISOString()}: set the clock if it is behind, or use another backup; nothing was changed`,
  );
}

interface FilledTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** As the archive has them: with those that somebody added, which are left out. */
  readonly given: readonly string[];
}

class Filling {
  readonly #tables: RawTables;
  readonly #columns: ReadonlyMap<string, readonly string[]>;
  readonly #header: ArchiveHeader;
  readonly #say: Say;
  /** By table, how many rows came in. */
  readonly #rows = new Map<string, number>();
  #table: FilledTable = { name: '', columns: [], given: [] };
  #ring: ArchivedRing | undefined;
  #manifest: Manifest | undefined;
  #read = 0;
  #saysAtMs = performance.now() + SAY_EVERY_MS;

  constructor(tables: RawTables, columns: ReadonlyMap<string, readonly string[]>, header: ArchiveHeader, say: Say) {
    this.#tables = tables;
    this.#columns = columns;
    this.#header = header;
    this.#say = say;
  }

  async take(part: ArchivePart): Promise<void> {
    if (part.part === 'table') await this.#begin(part.name, part.columns);
    else if (part.part === 'rows') await this.#insert(part.rows);
    else if (part.part === 'keys') this.#ring = part.keys;
    else if (part.part === 'end') this.#manifest = part.manifest;
  }

  async #begin(name: string, given: readonly string[]): Promise<void> {
    const expected = this.#columns.get(name) ?? [];
    const columns = given.filter((column) => expected.includes(column));
    const isWhole = columns.length === expected.length && new Set(columns).size === columns.length;
    if (!isWhole || columns.length === 0)
      throw new StartError(
        `the backup has a table ${printable(name)} that is not as version ${printable(this.#header.version)} has it: it was not made by Custos, or somebody had changed the database. Nothing was changed`,
      );
    if (name === MIGRATIONS) await emptyTable(this.#tables, name);
    // A service goes on beside such a column, and backups are made: a row that means something by it does not verify without it.
    const added = given.filter((column) => !expected.includes(column)).map((column) => printable(column));
    if (added.length > 0)
      this.#say(`the table ${name} has columns that Custos does not know, which are left out: ${added.join(', ')}`);
    this.#table = { name, columns, given };
    this.#rows.set(name, 0);
  }

  async #insert(rows: readonly ArchiveRow[]): Promise<void> {
    const { name, columns, given } = this.#table;
    const known = given.length === columns.length ? rows : rows.map((row) => withoutAdded(row, this.#table));
    const wanted = name === 'deployment' ? this.#factsOf(columns, known) : known;
    await this.#tables.insert(name, columns, wanted);
    this.#rows.set(name, (this.#rows.get(name) ?? 0) + wanted.length);
    this.#read += rows.length;
    if (performance.now() < this.#saysAtMs) return;
    this.#saysAtMs = performance.now() + SAY_EVERY_MS;
    this.#say(`loading: ${this.#read} rows, now ${name}`);
  }

  /** No process runs on what is restored, and each kind of database numbers changes in its own way. */
  #factsOf(columns: readonly string[], rows: readonly ArchiveRow[]): readonly ArchiveRow[] {
    const at = columns.indexOf('name');
    const isForeign = this.#header.databaseKind !== this.#tables.kind;
    return rows.filter((row) => {
      const name = String(row[at]);
      return !OF_A_PROCESS.some((prefix) => name.startsWith(prefix)) && !(isForeign && OF_SQLITE.includes(name));
    });
  }

  async end(): Promise<Filled> {
    // Whoever reads archives has verified that there is an end, and that what it says is so.
    const manifest = this.#manifest as Manifest;
    const missing = [...this.#columns.keys()].filter((name) => name !== MIGRATIONS && !this.#rows.has(name));
    if (missing.length > 0)
      throw new StartError(`the backup lacks the tables ${missing.join(', ')}: it was not made by Custos`);
    for (const [name, expected] of this.#rows) {
      const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM ${sql.table(name)}`.execute(
        this.#tables.db,
      );
      const count = Number(rows[0]?.count);
      if (count !== expected)
        throw new StartError(`the table ${name} holds ${count} rows instead of ${expected}: nothing was changed`);
    }
    return { manifest, ring: this.#ring };
  }
}

const withoutAdded = (row: ArchiveRow, { columns, given }: FilledTable): ArchiveRow =>
  row.filter((_value, index) => columns.includes(given[index] as string));

async function columnsByTable({ db, kind }: RawTables): Promise<ReadonlyMap<string, readonly string[]>> {
  const byTable = new Map<string, string[]>();
  for (const { table, column } of await columnsOf(db, kind)) {
    const known = byTable.get(table);
    if (known === undefined) byTable.set(table, [column]);
    else known.push(column);
  }
  return byTable;
}

async function emptyTable({ db }: RawTables, name: string): Promise<void> {
  await sql`DELETE FROM ${sql.table(name)}`.execute(db);
}
