import { type RawBuilder, sql } from 'kysely';
import { groupBy } from '../../lib/collections.ts';
import { driverOf } from '../../storage/connection-dialect.ts';
import type { DatabaseKind } from '../../storage/dialect.ts';
import { amendOne, keepHeld } from '../../storage/integrity/amend.ts';
import { isCutOff } from '../../storage/integrity/cut-off.ts';
import type { IntegrityKey } from '../../storage/integrity/mark.ts';
import type { MarkedTable } from '../../storage/integrity/marked-table.ts';
import type { Row } from '../../storage/integrity/row.ts';
import { marksBetween } from '../../storage/integrity/set-statements.ts';
import { digestOf, heldDigest, type RowSet, type SetMark, withDigests } from '../../storage/integrity/sets.ts';
import type { Schema } from '../../storage/schema.ts';
import { deferred } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';

/** A row as it is stored, whatever its mark says. */
export interface MarkedRow {
  readonly key: RowKey;
  readonly row: Row;
  readonly mark: string | null;
}

export type RowKey = readonly (string | number)[];

/** Which rows: behind a key, up to another one; those without a mark alone, or those whose mark is not of a generation. */
export interface RowRange {
  readonly after: RowKey | undefined;
  readonly upTo?: RowKey;
  readonly isUnmarked?: boolean;
  readonly notOf?: IntegrityKey['generation'] | undefined;
  readonly where?: RawBuilder<unknown> | undefined;
}

export interface StoredIntegrityKey {
  readonly keyId: string;
  readonly generation: IntegrityKey['generation'];
  readonly sealedKey: Uint8Array;
}

/** What belongs to a row, compared with what the row says of it. */
interface OwnerSets {
  readonly owner: MarkedRow;
  readonly sets: readonly ComparedSet[];
}

export interface ComparedSet {
  readonly set: RowSet;
  /** Undefined where the owner's row says nothing of it. */
  readonly held: string | undefined;
  /** What is there; undefined where a row of it has no mark. */
  readonly found: string | undefined;
}

/** Not as a table's mark is called, so that the row is answered as it is. */
const MARK = 'mark of the row';

/** Every row of the marked tables, for those who keep the marks in order; no request comes here. */
export class MarkedRowReader extends Reader {
  /** The generations of the integrity key, the newest last. */
  async keys(): Promise<StoredIntegrityKey[]> {
    const rows = await this.db.selectFrom('integrity_key').selectAll().orderBy('generation').execute();
    return rows.map(({ key_id, generation, sealed_key }) => ({ keyId: key_id, generation, sealedKey: sealed_key }));
  }

  /** Rows in the order of their keys. */
  async page(table: MarkedTable, range: RowRange, limit: number): Promise<MarkedRow[]> {
    return await this.rows(table, range, sql`LIMIT ${sql.lit(limit)}`);
  }

  /** The key that so many rows lie between; undefined where there are fewer. */
  async keyBehind(table: MarkedTable, after: RowKey | undefined, count: number): Promise<RowKey | undefined> {
    const key = sql.join(table.key.map((column) => sql.ref(column)));
    const where = whereAll([after && sql`(${key}) > (${sql.join([...after])})`, this.#wholeKeys(table)]);
    const { rows } = await sql<Row>`SELECT /* partial: a key, up to which others are read */ ${key}
      FROM ${sql.table(table.name)} ${where} ORDER BY ${key} LIMIT 1 OFFSET ${sql.lit(count - 1)}`.execute(this.db);
    return rows[0] && table.key.map((column) => rows[0]?.[column] as string | number);
  }

  /** The row with this key, as it is now. */
  async row(table: MarkedTable, key: RowKey): Promise<MarkedRow | undefined> {
    const equal = table.key.map((column, index) => sql`${sql.ref(column)} = ${key[index]}`);
    return (await this.found(table, sql`WHERE ${sql.join(equal, sql` AND `)}`))[0];
  }

  /** What belongs to neighbouring rows of a table. */
  async sets({ name }: MarkedTable, owners: readonly MarkedRow[]): Promise<OwnerSets[]> {
    const [first, last] = [owners[0], owners.at(-1)];
    if (first === undefined || last === undefined) return [];
    const compared = owners.map((owner): OwnerSets & { sets: ComparedSet[] } => ({ owner, sets: [] }));
    for (const set of driverOf(this.db).integrity?.sets.under.get(name) ?? []) {
      const { rows } = await marksBetween(set, first.key, last.key).execute(this.db);
      const belonging = groupBy<SetMark & { owner: string }, string>(rows, ({ owner }) => owner);
      for (const { owner, sets } of compared) {
        const found = digestOf(belonging.get(owner.key.join(' ')) ?? []);
        sets.push({ set, held: heldDigest(set, owner.row), found });
      }
    }
    return compared;
  }

  /** Rows with text that is cut off when it is read: no service writes one, and what is read may be another row's. */
  async cutOff(table: MarkedTable): Promise<MarkedRow[]> {
    return this.kind === 'sqlite' ? await this.found(table, sql`WHERE ${isCutOff(this.kind, table.columns)}`) : [];
  }

  /** Pages would begin again behind a key that is cut off. */
  #wholeKeys({ key }: MarkedTable): RawBuilder<unknown> | undefined {
    return this.kind === 'sqlite' ? sql`NOT ${isCutOff(this.kind, key)}` : undefined;
  }

  protected async rows(table: MarkedTable, range: RowRange, end: RawBuilder<unknown>): Promise<MarkedRow[]> {
    const { after, upTo, isUnmarked = false, notOf, where: only } = range;
    const key = sql.join(table.key.map((column) => sql.ref(column)));
    const where = whereAll([
      after && sql`(${key}) > (${sql.join([...after])})`,
      upTo && sql`(${key}) <= (${sql.join([...upTo])})`,
      isUnmarked ? sql`${sql.ref(table.mark)} IS NULL` : undefined,
      table.done && sql`NOT (${sql.ref(table.mark)} IS NULL AND ${table.done})`,
      notOf === undefined ? undefined : sql`coalesce(${sql.ref(table.mark)} NOT LIKE ${`${notOf}.%`}, true)`,
      only,
      this.#wholeKeys(table),
    ]);
    return await this.found(table, sql`${where} ORDER BY ${key} ${end}`);
  }

  protected async found(table: MarkedTable, rest: RawBuilder<unknown>): Promise<MarkedRow[]> {
    const columns = sql.join(table.columns.map((column) => sql.ref(column)));
    const { rows } = await sql<Row>`SELECT /* partial: whoever asks verifies each mark */ ${columns},
      ${sql.ref(table.mark)} AS ${sql.ref(MARK)} FROM ${sql.table(table.name)} ${rest}`.execute(this.db);
    return rows.map(({ [MARK]: mark, ...row }) => ({
      key: table.key.map((column) => row[column] as string | number),
      row,
      mark: (mark ?? null) as string | null,
    }));
  }
}

const whereAll = (conditions: readonly (RawBuilder<unknown> | undefined)[]): RawBuilder<unknown> => {
  const all = conditions.filter((condition) => condition !== undefined);
  return all.length === 0 ? sql`` : sql`WHERE ${sql.join(all, sql` AND `)}`;
};

/** What a transaction reads here and writes again, nobody else writes meanwhile. */
export const holding = (kind: DatabaseKind): RawBuilder<unknown> =>
  kind === 'postgres' ? sql`FOR NO KEY UPDATE` : sql``;

/** As statements name a table. */
export type OwnerTable = keyof Schema & string;
type Values = Record<string, unknown>;
const markings = new Map<string, ReturnType<typeof deferred<Values>>>();

/** They are as many as there are tables. */
export function marking({ name, mark, key }: MarkedTable) {
  let found = markings.get(name);
  if (found === undefined) {
    found = deferred(`${name}-mark`, (_db, values: Values) => {
      const equal = key.map((column) => sql`${sql.ref(column)} = ${values[column]}`);
      return sql`UPDATE ${sql.table(name)} SET ${sql.ref(mark)} = ${values[mark]} WHERE ${sql.join(equal, sql` AND `)}`;
    });
    markings.set(name, found);
  }
  return found;
}

/** Marks rows from before there were marks. */
export class MarkedRowStore extends MarkedRowReader {
  static readonly writes = true;

  async insertKey({ keyId, generation, sealedKey }: StoredIntegrityKey, nowMs: number): Promise<void> {
    const row = { key_id: keyId, generation, sealed_key: sealedKey, created_at_ms: nowMs };
    await this.db.insertInto('integrity_key').values(row).execute();
  }

  /** Forgets the generations before one. */
  async removeKeysBefore(generation: IntegrityKey['generation']): Promise<void> {
    await this.db.deleteFrom('integrity_key').where('generation', '<', generation).execute();
  }

  /** Later ones too, which nobody but a thief has put there. */
  async removeOtherKeys(generation: IntegrityKey['generation']): Promise<void> {
    await this.db.deleteFrom('integrity_key').where('generation', '!=', generation).execute();
  }

  /** Marks the rows of a range that have no mark, some at a time, and answers how many; others keep theirs. */
  async markAll(table: MarkedTable, range: RowRange, size: number): Promise<number> {
    const { integrity } = driverOf(this.db);
    let marked = 0;
    for (let { after } = range; ; ) {
      const end = sql`LIMIT ${sql.lit(size)} ${holding(this.kind)}`;
      const rows = await this.rows(table, { ...range, after, isUnmarked: true }, end);
      for (const { row } of rows) await marking(table)(this.db, integrity?.marked(table.name, row) ?? row);
      marked += rows.length;
      after = rows.at(-1)?.key;
      if (rows.length < size) return marked;
    }
  }

  /** Gives rows of a range the right digests of what belongs to them. A row that is not as it was marked is left alone. */
  async mendSets(table: MarkedTable, range: RowRange): Promise<number> {
    const { integrity } = driverOf(this.db);
    const held = await this.rows(table, range, holding(this.kind));
    const genuine = held.filter(({ row, mark }) => integrity?.verify(table, row, table.columns, mark) === true);
    let mended = 0;
    for (const { owner, sets } of await this.sets(table, genuine)) {
      if (sets.every(({ held, found }) => held === found)) continue;
      mended += 1;
      const [{ set }] = sets as [ComparedSet];
      const digests = new Map(sets.map(({ set, found }) => [set, found]));
      const column = withDigests([...digests.keys()], digests);
      keepHeld(this.db, table.name as OwnerTable, { ...owner.row, [table.mark]: owner.mark } as never);
      const key = Object.fromEntries(table.key.map((name, index) => [name, owner.key[index] as string]));
      await amendOne(this.db, table.name as OwnerTable, key, () => ({ [set.column]: column }) as never);
    }
    return mended;
  }
}
