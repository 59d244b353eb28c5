import { readFileSync } from 'node:fs';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { ArchivedRing, ArchiveHeader, ArchiveValue, Manifest } from '../../src/backup/archive/parts.ts';
import { readArchive } from '../../src/backup/archive/read.ts';
import { snapshotTables } from '../../src/backup/snapshot/open.ts';
import { openTables } from '../faults/support.ts';

export interface AgeKeys {
  readonly identity: string;
  readonly recipient: string;
}

export async function newAgeKeys(): Promise<AgeKeys> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

type ReadRow = Record<string, ArchiveValue>;

export interface ReadArchive {
  readonly header: ArchiveHeader;
  readonly manifest: Manifest;
  readonly keys: ArchivedRing | undefined;
  readonly tables: ReadonlyMap<string, ReadRow[]>;
  /** Of the table `deployment`. */
  fact(name: string): string | undefined;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** All of an archive; an error where it is not whole. */
export async function openArchive(source: string | Uint8Array, { identity }: AgeKeys): Promise<ReadArchive> {
  const bytes = typeof source === 'string' ? readFileSync(source) : source;
  const tables = new Map<string, ReadRow[]>();
  let header: ArchiveHeader | undefined;
  let keys: ArchivedRing | undefined;
  let manifest: Manifest | undefined;
  let rows: ReadRow[] = [];
  let columns: readonly string[] = [];
  for await (const part of readArchive(once(bytes), [identity])) {
    if (part.part === 'header') header = part.header;
    if (part.part === 'keys') keys = part.keys;
    if (part.part === 'end') manifest = part.manifest;
    if (part.part === 'table') {
      columns = part.columns;
      rows = [];
      tables.set(part.name, rows);
    }
    if (part.part === 'rows')
      for (const row of part.rows)
        rows.push(Object.fromEntries(columns.map((column, index) => [column, row[index] as ArchiveValue])));
  }
  if (header === undefined || manifest === undefined) throw new Error('the archive has no header or no end');
  const fact = (name: string) =>
    tables.get('deployment')?.find((row) => row.name === name)?.value as string | undefined;
  return { header, manifest, keys, tables, fact };
}

/** What the database holds now, in an order of its own, and beside it what an archive holds in that order. */
export async function compareWith(
  archive: ReadArchive,
  place: { readonly dataDir: string; readonly databaseUrl: string | undefined },
): Promise<{ readonly stored: unknown; readonly archived: unknown }> {
  await using tables = await openTables(place.dataDir, place.databaseUrl);
  const names = snapshotTables();
  const stored = await tables.read(...names.map((name) => `SELECT * FROM ${name}`));
  return {
    stored: names.map((name, index) => [name, sorted(stored[index] ?? [])]),
    archived: names.map((name) => [name, sorted(archive.tables.get(name) ?? [])]),
  };
}

const sorted = (rows: readonly object[]): string[] =>
  rows
    .map((row) =>
      JSON.stringify(
        Object.entries(row)
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([name, value]) => [name, comparable(value)]),
      ),
    )
    .sort();

/** PostgreSQL's driver gives large integers as texts here. */
function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
}
