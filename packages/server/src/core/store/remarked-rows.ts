import { type Kysely, type RawBuilder, sql } from 'kysely';
import { driverOf } from '../../storage/connection-dialect.ts';
import { amendOne, keepHeld } from '../../storage/integrity/amend.ts';
import type { Integrity, Violation } from '../../storage/integrity/integrity.ts';
import type { Marks } from '../../storage/integrity/mark.ts';
import type { MarkedTable } from '../../storage/integrity/marked-table.ts';
import type { Row } from '../../storage/integrity/row.ts';
import { marksBetween } from '../../storage/integrity/set-statements.ts';
import {
  digestOf,
  heldDigest,
  OWNER_ID,
  type RowSet,
  type SetMark,
  setMarkOf,
  withDigests,
} from '../../storage/integrity/sets.ts';
import type { Schema } from '../../storage/schema.ts';
import { holding, type MarkedRow, MarkedRowReader, marking, type OwnerTable, type RowRange } from './marked-rows.ts';

/** What became of rows that had an earlier mark. */
export interface Remarked {
  readonly marked: number;
  /** They stay as they are. */
  readonly refused: readonly Violation[];
}

type Refuse = (violation: Violation) => void;

/** That a row of this table belongs to no row, as nobody deletes the one that it belonged to alone. */
function belongsToNone({ name }: MarkedTable, set: RowSet | undefined): RawBuilder<unknown> | undefined {
  if (set === undefined) return undefined;
  const columns = set.key.length === 1 ? [OWNER_ID] : ['organization_id', OWNER_ID];
  const equal = columns.map(
    (column, index) => sql`${sql.ref(`${set.owner}.${column}`)} = ${sql.ref(`${name}.${set.key[index]}`)}`,
  );
  return sql`NOT EXISTS (SELECT 1 FROM ${sql.table(set.owner)} WHERE ${sql.join(equal, sql` AND `)})`;
}

interface Found {
  readonly table: MarkedTable;
  readonly found: MarkedRow;
}

/** A row of a set. */
interface Member extends Found {
  readonly set: RowSet;
}

export class RemarkedRowReader extends MarkedRowReader {
  /**
   * Whether neighbouring rows, and all that belongs to them, are marked with the key that rows are marked with by now; and the
   * keys, joined by a blank, of those that own rows of large tables.
   */
  async look(
    table: MarkedTable,
    owners: readonly MarkedRow[],
    large: ReadonlySet<string>,
  ): Promise<{ readonly areCurrent: boolean; readonly owning: ReadonlySet<string> }> {
    const owning = new Set<string>();
    const [first, last] = [owners[0], owners.at(-1)];
    if (first === undefined || last === undefined) return { areCurrent: true, owning };
    const { integrity, marks } = keysOf(this.db);
    let areCurrent = owners.every(({ mark }) => marks.isCurrent(mark));
    for (const set of integrity.sets.under.get(table.name) ?? []) {
      const { rows } = await marksBetween(set, first.key, last.key).execute(this.db);
      areCurrent &&= rows.every(({ mark }) => marks.isCurrent(mark));
      for (const { of, owner } of rows) if (large.has(of)) owning.add(owner);
    }
    return { areCurrent, owning };
  }
}

/** Marks rows with another key, each only after it has verified with the one before (docs/decisions/0060). */
export class RemarkedRowStore extends RemarkedRowReader {
  static readonly writes = true;

  /** Rows of a range that stand for themselves; others have their turn in `remarkSets`. */
  async remark(table: MarkedTable, range: RowRange): Promise<Remarked> {
    const { integrity, marks } = keysOf(this.db);
    const stale = { ...range, notOf: marks.marksWith, where: belongsToNone(table, integrity.sets.of.get(table.name)) };
    const rows = await this.rows(table, stale, holding(this.kind));
    const refused: Violation[] = [];
    const genuine = rows.filter((found) => isGenuine(integrity, { table, found }, (bad) => refused.push(bad)));
    for (const { row } of genuine) await marking(table)(this.db, { ...integrity.marked(table.name, row) });
    return { marked: genuine.length, refused };
  }

  /**
   * Rows of a range with all that belongs to them: the digest of the earlier marks has to be right, and becomes the one of
   * the new marks in the same transaction. Whoever changes what belongs to a row holds that row first, as here.
   */
  async remarkSets(table: MarkedTable, range: RowRange): Promise<Remarked> {
    const { integrity, marks } = keysOf(this.db);
    const owners = await this.rows(table, range, holding(this.kind));
    const members = await this.#members(table, owners);
    const refused: Violation[] = [];
    let marked = 0;
    for (const owner of owners) {
      const own = members.get(owner.key.join(' ')) ?? [];
      const all = [{ table, found: owner }, ...own];
      const old = all.filter(({ found }) => !marks.isCurrent(found.mark));
      if (old.length === 0) continue;
      const before = refused.length;
      // All of them: a mark that merely begins with the new generation may be anybody's, and the owner is marked anew.
      for (const each of all) isGenuine(integrity, each, (bad) => refused.push(bad));
      if (refused.length > before) continue;
      const wrong = this.#setsOf(table).filter((set) => heldDigest(set, owner.row) !== digestOf(marksIn(set, own)));
      for (const { part } of wrong) {
        const violation = integrity.violationOf(table, owner.row, table.columns, owner.mark);
        refused.push({ ...violation, because: 'set', ...(part !== undefined && { set: part }) });
      }
      if (wrong.length > 0) continue;
      await this.#write(table, owner, own, { integrity, marks });
      marked += old.length;
    }
    return { marked, refused };
  }

  async #write(
    table: MarkedTable,
    owner: MarkedRow,
    members: readonly Member[],
    { integrity, marks }: { readonly integrity: Integrity; readonly marks: Marks },
  ): Promise<void> {
    const after: Member[] = [];
    for (const member of members) {
      const { table: own, found } = member;
      if (marks.isCurrent(found.mark)) {
        after.push(member);
        continue;
      }
      const row: Row = integrity.marked(own.name, found.row);
      await marking(own)(this.db, { ...row });
      after.push({ ...member, found: { ...found, mark: row[own.mark] as string } });
    }
    const sets = this.#setsOf(table);
    const digests = new Map(sets.map((set) => [set, digestOf(marksIn(set, after))]));
    const [{ column }] = sets as readonly [RowSet];
    const name = table.name as OwnerTable;
    keepHeld(this.db, name, { ...owner.row, [table.mark]: owner.mark } as never);
    const key = Object.fromEntries(table.key.map((part, index) => [part, owner.key[index] as string]));
    await amendOne(this.db, name, key, () => ({ [column]: withDigests(sets, digests) }) as never);
  }

  #setsOf({ name }: MarkedTable): readonly RowSet[] {
    return keysOf(this.db).integrity.sets.under.get(name) ?? [];
  }

  /** By the keys of the rows that they belong to, joined by a blank. */
  async #members(table: MarkedTable, owners: readonly MarkedRow[]): Promise<ReadonlyMap<string, readonly Member[]>> {
    const members = new Map<string, Member[]>();
    const [first, last] = [owners[0], owners.at(-1)];
    if (first === undefined || last === undefined) return members;
    const { integrity } = keysOf(this.db);
    for (const set of this.#setsOf(table)) {
      const columns = sql.join(set.key.map((column) => sql.ref(column)));
      const between = sql`WHERE (${columns}) >= (${sql.join([...first.key])}) AND (${columns}) <= (${sql.join([...last.key])})`;
      for (const name of set.tables.keys()) {
        const marked = integrity.tables.get(name) as MarkedTable;
        for (const found of await this.found(marked, between)) {
          const of = set.key.map((column) => found.row[column]).join(' ');
          const member = { set, table: marked, found };
          const known = members.get(of);
          if (known === undefined) members.set(of, [member]);
          else known.push(member);
        }
      }
    }
    return members;
  }
}

function keysOf(db: Kysely<Schema>): { readonly integrity: Integrity; readonly marks: Marks } {
  const { integrity } = driverOf(db);
  if (integrity?.marks === undefined) throw new Error('the keyring has not lent the integrity key yet');
  return { integrity, marks: integrity.marks };
}

function isGenuine(integrity: Integrity, { table, found: { row, mark } }: Found, refuse: Refuse): boolean {
  if (integrity.verify(table, row, table.columns, mark) === true) return true;
  refuse(integrity.violationOf(table, row, table.columns, mark));
  return false;
}

const marksIn = (set: RowSet, members: readonly Member[]): SetMark[] =>
  members
    .filter((member) => member.set === set)
    .map(({ table, found: { row, mark } }) => setMarkOf(set, table.name, { ...row, [table.mark]: mark }));
