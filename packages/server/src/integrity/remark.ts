import { setTimeout as sleep } from 'node:timers/promises';
import { type MarkedRow, MarkedRowReader, type RowKey } from '../core/store/marked-rows.ts';
import { type Remarked, RemarkedRowReader, RemarkedRowStore } from '../core/store/remarked-rows.ts';
import { writeBeside } from '../keyring-admin/beside.ts';
import type { Violation } from '../storage/integrity/integrity.ts';
import type { MarkedTable } from '../storage/integrity/marked-table.ts';
import type { Storage } from '../storage/storage.ts';
import { LARGE } from './passes.ts';

/** Small, so that nobody waits long for rows that are held, or on the embedded database for a turn to write. */
const PAGE = 200;
const PAGE_OF_SETS = 50;
/** So many rows a statement looks at. */
const LOOKED_AT = 20_000;
/** Of rows that may have megabytes. */
const PAGE_OF_LARGE = 16;
/** The embedded database has one writer at a time, and the service is to have its turns. */
const PAUSE_MS = 5;
const SAY_AFTER_MS = 1000;
const SAY_EVERY_MS = 5000;
/** Rows that keep their earlier mark although every process marks with the new key are somebody else's. */
const PASSES_MAX = 10;

export interface Remarking {
  /** Hears of each row or set that does not verify: these keep their earlier mark. */
  readonly report: (violation: Violation) => void;
  /** Hears how far it is, once it takes more than a moment. */
  readonly say: (line: string) => void;
}

export interface RemarkedRows {
  readonly marked: number;
  readonly bad: number;
}

/**
 * Marks everything with the key that rows are marked with by now, in small steps beside running services, until nothing has an
 * earlier mark. It can end at any moment and begin again.
 */
export async function remarkRows(storage: Storage, { report, say }: Remarking): Promise<RemarkedRows> {
  const { integrity } = storage;
  const tables = [...integrity.tables.values()];
  let marked = 0;
  let saysAtMs = performance.now() + SAY_AFTER_MS;
  const told = async ({ name }: MarkedTable, done: Remarked): Promise<Remarked> => {
    marked += done.marked;
    if (performance.now() >= saysAtMs) {
      saysAtMs = performance.now() + SAY_EVERY_MS;
      say(`marking stored rows with the new key: ${marked} marked, now in ${name}`);
    }
    if (storage.kind === 'sqlite') await sleep(PAUSE_MS);
    return done;
  };
  for (let pass = 1; ; pass += 1) {
    const refused = new Map<string, Violation>();
    let found = 0;
    const note = (done: Remarked): void => {
      found += done.marked;
      for (const violation of done.refused) refused.set(JSON.stringify(violation), violation);
    };
    for (const table of tables) {
      for await (const range of rangesOf(storage, table)) {
        const done = await writeBeside(storage, (store) => {
          const rows = store(RemarkedRowStore);
          return integrity.sets.under.has(table.name) ? rows.remarkSets(table, range) : rows.remark(table, range);
        });
        note(await told(table, done));
      }
    }
    if (refused.size > 0 || found === 0) {
      for (const violation of refused.values()) report(violation);
      return { marked, bad: refused.size };
    }
    if (pass === PASSES_MAX)
      throw new Error(
        'rows with an earlier mark are written all the time, by somebody who is no process of this service',
      );
  }
}

interface Range {
  readonly after: RowKey | undefined;
  readonly upTo: RowKey;
}

/** Where rows with an earlier mark are, or rows that something with an earlier mark belongs to. */
async function* rangesOf(storage: Storage, table: MarkedTable): AsyncGenerator<Range> {
  const isOwner = storage.integrity.sets.under.has(table.name);
  for await (const range of isOwner ? rangesOfOwners(storage, table) : rangesOfRows(storage, table)) yield range;
}

/** No statement looks at more than some rows: a table where nothing is left would be read as a whole. */
async function* rangesOfRows(storage: Storage, table: MarkedTable): AsyncGenerator<Range> {
  const size = LARGE.has(table.name) ? PAGE_OF_LARGE : PAGE;
  const notOf = storage.integrity.marks?.marksWith;
  for (let from: RowKey | undefined; ; ) {
    const end = await storage.read(MarkedRowReader).keyBehind(table, from, LOOKED_AT);
    for (let after = from; ; ) {
      const rows = await storage.read(MarkedRowReader).page(table, { after, notOf, ...(end && { upTo: end }) }, size);
      const upTo = rows.at(-1)?.key;
      if (upTo === undefined) break;
      yield { after, upTo };
      after = upTo;
    }
    if (end === undefined) return;
    from = end;
  }
}

/** An owner of large rows is alone, since all that belongs to it is in memory and held at once. */
async function* rangesOfOwners(storage: Storage, table: MarkedTable): AsyncGenerator<Range> {
  for (let after: RowKey | undefined; ; ) {
    const rows = await storage.read(MarkedRowReader).page(table, { after }, PAGE_OF_SETS);
    const last = rows.at(-1)?.key;
    if (last === undefined) return;
    const { areCurrent, owning } = await storage.read(RemarkedRowReader).look(table, rows, LARGE);
    if (areCurrent) {
      after = last;
      continue;
    }
    for (const [index, { key }] of rows.entries()) {
      const next = rows[index + 1];
      const isAlone = (row: MarkedRow | undefined): boolean => row === undefined || owning.has(row.key.join(' '));
      if (!isAlone(rows[index]) && !isAlone(next)) continue;
      yield { after, upTo: key };
      after = key;
    }
  }
}
