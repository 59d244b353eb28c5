import type { Storage } from '../storage/storage.ts';
import { nameOf } from './against/compare.ts';
import { COMPARED, type ComparedKind, type ComparedTable, shownValue } from './against/compared.ts';
import { allRows, ownRows } from './against/rows.ts';

/** A credential or a rule that the restored database has. */
export interface InventoryEntry {
  readonly organizationId: string | undefined;
  readonly kind: ComparedKind;
  readonly what: string;
  readonly id: string;
  readonly name: string;
  readonly values: readonly { readonly what: string; readonly value: string }[];
  /** False where no service wrote it; undefined where marks are not required. */
  readonly isGenuine: boolean | undefined;
}

export interface Inventory {
  readonly entries: AsyncIterable<InventoryEntry>;
  /** How many there are of each kind of row, where they are too many to be listed. */
  readonly counts: ReadonlyMap<string, number>;
  readonly isListed: boolean;
}

/** Who can do something, and what limits it: what a person has to look through who has nothing newer to compare with. */
const LISTED: ReadonlySet<ComparedKind> = new Set(['quorum', 'people', 'credentials', 'rules', 'places']);
/** In all organizations: nobody reads through more. */
const LISTED_MAX = 1000;

const listed: readonly ComparedTable[] = COMPARED.filter(({ kind }) => LISTED.has(kind));

/** All credentials and rules; of very many only how many there are, unless `listsAll` is set or an organization is named. */
export async function takeInventory(
  storage: Pick<Storage, 'read' | 'integrity'>,
  nowMs: number,
  { organizationId, listsAll = false }: { readonly organizationId: string | undefined; readonly listsAll?: boolean },
): Promise<Inventory> {
  const counts = new Map<string, number>();
  let total = 0;
  for (const compared of listed) {
    let count = 0;
    for await (const _entry of entriesOf(storage, compared, nowMs, organizationId)) count += 1;
    if (count > 0) counts.set(compared.what, count);
    total += count;
  }
  const isListed = listsAll || organizationId !== undefined || total <= LISTED_MAX;
  return { counts, isListed, entries: isListed ? allEntries(storage, nowMs, organizationId) : none() };
}

async function* none(): AsyncGenerator<InventoryEntry> {}

async function* allEntries(
  storage: Pick<Storage, 'read' | 'integrity'>,
  nowMs: number,
  organizationId: string | undefined,
): AsyncGenerator<InventoryEntry> {
  for (const compared of listed) yield* entriesOf(storage, compared, nowMs, organizationId);
}

async function* entriesOf(
  storage: Pick<Storage, 'read' | 'integrity'>,
  compared: ComparedTable,
  nowMs: number,
  organizationId: string | undefined,
): AsyncGenerator<InventoryEntry> {
  const table = storage.integrity.tables.get(compared.table);
  if (table === undefined) throw new Error(`${compared.table} has no marks`);
  if (organizationId !== undefined && table.organization === undefined) return;
  for await (const { row, isGenuine } of allRows(ownRows(storage), table, { organizationId })) {
    if (compared.isOver?.(row, nowMs)) continue;
    yield {
      organizationId: table.organization === undefined ? undefined : String(row[table.organization]),
      kind: compared.kind,
      what: compared.what,
      id: table.key
        .filter((column) => column !== table.organization || table.key.length === 1)
        .map((column) => String(row[column]))
        .join('/'),
      name: nameOf(compared, row),
      values: compared.columns.flatMap((column) => {
        const value = shownValue(column, row[column.column]);
        return value === null ? [] : [{ what: column.called, value }];
      }),
      isGenuine,
    };
  }
}
