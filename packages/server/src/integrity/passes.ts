import { type ComparedSet, type MarkedRow, MarkedRowReader, MarkedRowStore } from '../core/store/marked-rows.ts';
import { dataModel } from '../domains.ts';
import { writeBeside } from '../keyring-admin/beside.ts';
import type { Violation } from '../storage/integrity/integrity.ts';
import type { MarkedTable } from '../storage/integrity/marked-table.ts';
import type { RowSet } from '../storage/integrity/sets.ts';
import type { Storage } from '../storage/storage.ts';

const PAGE = 500;
/** So many rows are marked in one transaction. */
const MARKED_TOGETHER = 1000;
/** Of `LARGE` ones. */
const PAGE_OF_LARGE = 16;
/** A set that is being changed is looked at again. */
const ATTEMPTS_MAX = 5;

/** Tables of rows that may have megabytes. */
export const LARGE: ReadonlySet<string> = new Set(
  dataModel.tables
    .filter(
      ({ isLarge, set, sealed = [] }) =>
        isLarge === true || set?.isLarge === true || sealed.some((bytes) => bytes.isLarge),
    )
    .map(({ name }) => name as string),
);

export interface Verified {
  readonly rows: number;
  /** Rows without a mark, where none is required yet. */
  readonly unmarked: number;
  /** Rows and sets that were reported. */
  readonly bad: number;
  readonly isRequired: boolean;
}

type Report = (violation: Violation) => void;

const sizeOf = ({ name }: MarkedTable): number => (LARGE.has(name) ? PAGE_OF_LARGE : PAGE);

/** All rows of a table, in the order of their keys, a page at a time. */
async function* pagesOf(storage: Storage, table: MarkedTable, isUnmarked = false): AsyncGenerator<Page> {
  const size = sizeOf(table);
  for (let after: MarkedRow['key'] | undefined; ; ) {
    const rows = await storage.read(MarkedRowReader).page(table, { after, isUnmarked }, size);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield { rows, range: { after, upTo: last.key } };
    after = last.key;
  }
}

interface Page {
  readonly rows: readonly MarkedRow[];
  readonly range: { readonly after: MarkedRow['key'] | undefined; readonly upTo: MarkedRow['key'] };
}

/** A set is right where the owner's row says what there is; one of which it says nothing yet, while marks are not required. */
const isRight = ({ integrity }: Storage, { held, found }: ComparedSet): boolean =>
  held === undefined || found === undefined ? !integrity.isRequired : held === found;

const verdict = ({ integrity }: Storage, table: MarkedTable, { row, mark }: MarkedRow): boolean | undefined =>
  integrity.verify(table, row, table.columns, mark);

const violationOf = ({ integrity }: Storage, table: MarkedTable, { row, mark }: MarkedRow): Violation =>
  integrity.violationOf(table, row, table.columns, mark);

/** Verifies every mark and every set, beside a running service; changes nothing. */
export async function verifyRows(storage: Storage, report: Report): Promise<Verified> {
  const { integrity } = storage;
  let rows = 0;
  let unmarked = 0;
  let bad = 0;
  const tell = (violation: Violation): void => {
    bad += 1;
    report(violation);
  };
  for (const table of integrity.tables.values()) {
    for (const row of await storage.read(MarkedRowReader).cutOff(table))
      tell({ ...violationOf(storage, table, row), because: 'damaged' });
    for await (const page of pagesOf(storage, table)) {
      const genuine: MarkedRow[] = [];
      for (const row of page.rows) {
        rows += 1;
        const isGenuine = verdict(storage, table, row);
        if (isGenuine === false) tell(violationOf(storage, table, row));
        else if (isGenuine === undefined) unmarked += 1;
        else genuine.push(row);
      }
      for (const { owner, sets } of await storage.read(MarkedRowReader).sets(table, genuine)) {
        if (sets.every((set) => isRight(storage, set))) continue;
        for (const { part } of await wrongSets(storage, table, owner))
          tell({ ...violationOf(storage, table, owner), because: 'set', ...(part !== undefined && { set: part }) });
      }
    }
  }
  return { rows, unmarked, bad, isRequired: integrity.isRequired };
}

/** Once more: what belongs to a row may have been changed while it was read. */
async function wrongSets(storage: Storage, table: MarkedTable, { key }: MarkedRow): Promise<readonly RowSet[]> {
  const reader = storage.read(MarkedRowReader);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const before = await reader.row(table, key);
    // A row that is gone has nothing that anybody could use.
    if (before === undefined) return [];
    const [found] = await reader.sets(table, [before]);
    const after = await reader.row(table, key);
    if (before.mark !== after?.mark) continue;
    return (found?.sets ?? []).filter((set) => !isRight(storage, set)).map(({ set }) => set);
  }
  return [];
}

export interface Marking {
  /** Hears of rows whose mark is wrong: these are left as they are. */
  readonly report: Report;
  /** Hears how far it is, once it takes more than a moment. */
  readonly say: (line: string) => void;
  /** Some tables alone; all unless told. */
  readonly tables?: readonly string[];
}

export interface MarkedRows {
  readonly marked: number;
  readonly bad: number;
}

const SAY_EVERY_MS = 5000;
const SAY_AFTER_MS = 1000;

/**
 * Marks all rows that have no mark, a few at a time and each few in a transaction that holds them; then gives rows
 * that others belong to the digests of these, whatever they said before. It can end at any moment and begin again.
 * Never to be called once marks are required: it would mark what somebody else has written.
 */
export async function markRows(storage: Storage, { report, say, tables }: Marking): Promise<MarkedRows> {
  const { integrity } = storage;
  if (integrity.isRequired) throw new Error('rows are marked only until marks are required');
  const chosen = [...integrity.tables.values()].filter(({ name }) => tables?.includes(name) ?? true);
  let marked = 0;
  let seen = 0;
  let bad = 0;
  let saysAtMs = performance.now() + SAY_AFTER_MS;
  const progress = (table: MarkedTable): void => {
    if (performance.now() < saysAtMs) return;
    saysAtMs = performance.now() + SAY_EVERY_MS;
    say(`authenticating stored rows: ${seen} read, ${marked} marked, now in ${table.name}`);
  };
  const check = (table: MarkedTable, row: MarkedRow): void => {
    if (verdict(storage, table, row) !== false) return;
    bad += 1;
    report(violationOf(storage, table, row));
  };
  const pass = async (table: MarkedTable, pages: AsyncIterable<Page>): Promise<void> => {
    // Pages are marked together where they are small: each commit waits for the disk.
    let waiting: { range: Page['range']; rows: number } | undefined;
    const mark = async (): Promise<void> => {
      if (waiting === undefined) return;
      const { range } = waiting;
      marked += await writeBeside(storage, (store) => store(MarkedRowStore).markAll(table, range, sizeOf(table)));
      waiting = undefined;
    };
    for await (const { rows, range } of pages) {
      for (const row of rows) check(table, row);
      if (rows.some((row) => row.mark === null)) {
        const after = waiting === undefined ? range.after : waiting.range.after;
        waiting = { range: { after, upTo: range.upTo }, rows: (waiting?.rows ?? 0) + rows.length };
      }
      if (waiting !== undefined && waiting.rows >= MARKED_TOGETHER) await mark();
      seen += rows.length;
      progress(table);
    }
    await mark();
  };
  for (const table of chosen) await pass(table, pagesOf(storage, table));
  // What a process wrote behind us that had begun before it knew that rows get marks.
  if (storage.kind === 'postgres') for (const table of chosen) await pass(table, pagesOf(storage, table, true));
  for (const table of chosen.filter(({ name }) => integrity.sets.under.has(name))) {
    for await (const { rows, range } of pagesOf(storage, table)) {
      const owners = await storage.read(MarkedRowReader).sets(table, rows);
      if (owners.some(({ sets }) => sets.some(({ held, found }) => held !== found)))
        await writeBeside(storage, (store) => store(MarkedRowStore).mendSets(table, range));
      progress(table);
    }
  }
  return { marked, bad };
}
