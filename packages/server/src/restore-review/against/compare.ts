import type { MarkedTable } from '../../storage/integrity/marked-table.ts';
import type { Row } from '../../storage/integrity/row.ts';
import type { ActivityIndex } from './activity-index.ts';
import { COMPARED, type ComparedTable, isSameValue, shownValue } from './compared.ts';
import type { Change, ChangedValue, Difference, DifferenceSpool } from './difference.ts';
import { allRows, type Rows, type RowWish, type StoredRow } from './rows.ts';

export interface Comparison {
  readonly here: Rows;
  readonly there: Rows;
  readonly tables: ReadonlyMap<string, MarkedTable>;
  readonly activities: ActivityIndex;
  readonly spool: DifferenceSpool;
  readonly nowMs: number;
  /** With its sub-organizations: a restore is accepted for them together. */
  readonly organizationId?: string | undefined;
  readonly say: (line: string) => void;
}

/**
 * Finds what two databases have otherwise, table by table. Both are read in the order of their keys at the same time, so that
 * nothing but two pages is in memory. Answers with the tables that the other one lacks.
 */
export async function compareDatabases(comparison: Comparison): Promise<readonly string[]> {
  const { there, tables, organizationId, say } = comparison;
  const lacking: string[] = [];
  for (const compared of COMPARED) {
    const table = tables.get(compared.table);
    if (table === undefined) throw new Error(`${compared.table} has no marks`);
    if (organizationId !== undefined && table.organization === undefined) continue;
    if ((await there.page(table, {}, 1)) === undefined) {
      lacking.push(compared.what);
      continue;
    }
    say(`comparing ${compared.table}`);
    await compareTable(comparison, compared, table);
  }
  return lacking;
}

async function compareTable(
  { here, there, activities, spool, nowMs, organizationId }: Comparison,
  compared: ComparedTable,
  table: MarkedTable,
): Promise<void> {
  const wish: RowWish = { treeId: organizationId };
  const [ours, theirs] = [allRows(here, table, wish), allRows(there, table, wish)];
  let [one, other] = [await nextOf(ours), await nextOf(theirs)];
  while (one !== undefined || other !== undefined) {
    const order = one === undefined ? 1 : other === undefined ? -1 : orderOf(table, one.row, other.row);
    const found = differenceBetween(
      compared,
      order <= 0 ? one?.row : undefined,
      order >= 0 ? other?.row : undefined,
      nowMs,
    );
    if (found !== undefined) {
      const row = (other !== undefined && order >= 0 ? other : one) as StoredRow;
      spool.add(described(compared, table, row, found, activities));
    }
    if (order <= 0) one = await nextOf(ours);
    if (order >= 0) other = await nextOf(theirs);
  }
}

const nextOf = async (rows: AsyncGenerator<StoredRow>): Promise<StoredRow | undefined> => {
  const { value, done } = await rows.next();
  return done ? undefined : value;
};

/** As both databases order text: by its bytes. */
function orderOf({ key }: MarkedTable, one: Row, other: Row): number {
  for (const column of key) {
    const order = Buffer.compare(Buffer.from(String(one[column])), Buffer.from(String(other[column])));
    if (order !== 0) return order;
  }
  return 0;
}

interface Found {
  readonly change: Change;
  readonly values: readonly ChangedValue[];
}

/** What is otherwise about one row; a row that means nothing any more is as good as none. */
function differenceBetween(
  compared: ComparedTable,
  ours: Row | undefined,
  theirs: Row | undefined,
  nowMs: number,
): Found | undefined {
  const here = ours !== undefined && compared.isOver?.(ours, nowMs) ? undefined : ours;
  const there = theirs !== undefined && compared.isOver?.(theirs, nowMs) ? undefined : theirs;
  const only = here === undefined ? there : there === undefined ? here : undefined;
  if (only !== undefined) {
    const isThere = here === undefined;
    const values = compared.columns.flatMap((column): ChangedValue[] => {
      const shown = shownValue(column, only[column.column]);
      if (shown === null) return [];
      return [{ what: column.called, here: isThere ? null : shown, there: isThere ? shown : null }];
    });
    return { change: isThere ? 'added' : 'removed', values };
  }
  if (here === undefined || there === undefined) return undefined;
  const values = compared.columns.flatMap((column): ChangedValue[] => {
    const [value, other] = [here[column.column], there[column.column]];
    // An older version has no such column.
    if (other === undefined || isSameValue(value, other)) return [];
    return [{ what: column.called, here: shownValue(column, value), there: shownValue(column, other) }];
  });
  return values.length === 0 ? undefined : { change: 'changed', values };
}

const OWNERS = ['user_id', 'wallet_id', 'private_key_id'];

function described(
  compared: ComparedTable,
  table: MarkedTable,
  { row, isGenuine }: StoredRow,
  { change, values }: Found,
  activities: ActivityIndex,
): Difference {
  const organizationId = table.organization === undefined ? undefined : String(row[table.organization]);
  const ids = table.key.filter((column) => column !== table.organization || table.key.length === 1);
  const id = ids.map((column) => String(row[column])).join('/');
  const atMs = change === 'removed' ? undefined : numberOf(row['updated_at_ms'] ?? row['created_at_ms']);
  // What belongs to a user or a wallet comes and goes with it.
  const calls = [...ids, ...compared.names, ...OWNERS].map((column) => String(row[column] ?? ''));
  const activity =
    organizationId === undefined
      ? undefined
      : activities.find(
          organizationId,
          calls.filter((call) => call !== '' && call !== organizationId),
          atMs,
          compared.activities,
        );
  return {
    organizationId,
    kind: compared.kind,
    change,
    what: compared.what,
    id,
    name: nameOf(compared, row),
    values,
    atMs: activity?.atMs ?? atMs,
    activity,
    isGenuine,
  };
}

/** What a person calls a row. */
export const nameOf = ({ names }: ComparedTable, row: Row): string =>
  names
    .flatMap((name) => (row[name] === null || row[name] === undefined || row[name] === '' ? [] : [String(row[name])]))
    .join(', ');

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
