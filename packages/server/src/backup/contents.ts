import { VERSION } from '../lib/version.ts';
import { ARCHIVE_FORMAT, type ArchivedRing, type ArchiveHeader, type WrittenPart } from './archive/parts.ts';
import { Needs } from './needs.ts';
import { snapshotTables } from './snapshot/open.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

export interface ContentOptions {
  readonly id: string;
  /** The key ring to put inside, once it is known which root keys the rows need. */
  readonly readRing?: ((rootKeyIds: readonly string[]) => Promise<ArchivedRing>) | undefined;
  /** Called with each batch of rows. */
  readonly onRows: (table: string, rows: number) => void;
}

/** What an archive of a snapshot has, in its order, read as it is taken. */
export async function* contentsOf(
  snapshot: Snapshot,
  { id, readRing, onRows }: ContentOptions,
): AsyncGenerator<WrittenPart, void, undefined> {
  const needs = new Needs();
  yield { part: 'header', header: headerOf(snapshot, id) };
  for (const table of snapshotTables()) {
    const columns = await snapshot.columnsOf(table);
    yield { part: 'table', name: table, columns };
    for await (const rows of snapshot.rows(table, columns)) {
      needs.add(table, columns, rows);
      yield { part: 'rows', rows };
      onRows(table, rows.length);
    }
  }
  const { change, ...facts } = needs.facts;
  if (readRing !== undefined) yield { part: 'keys', keys: await readRing(facts.rootKeyIds) };
  const position = snapshot.position ?? `change ${change}`;
  yield { part: 'end', facts: { ...facts, snapshotAtMs: snapshot.atMs, position } };
}

const headerOf = ({ kind, migrations }: Snapshot, id: string): ArchiveHeader => ({
  format: ARCHIVE_FORMAT,
  id,
  version: VERSION,
  madeAtMs: Date.now(),
  databaseKind: kind,
  migrations: migrations.map(({ name, compatibility }) => ({
    name,
    ...(typeof compatibility === 'string' && { compatibility }),
  })),
});
