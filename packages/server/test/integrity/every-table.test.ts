import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataModel } from '../../src/domains.ts';
import { verifyRows } from '../../src/integrity/passes.ts';
import { ApiError } from '../../src/lib/errors.ts';
import type { MarkedTable } from '../../src/storage/integrity/marked-table.ts';
import { keyOfOwner, nameOfSet, ownerOf } from '../../src/storage/integrity/sets.ts';
import type { Storage } from '../../src/storage/storage.ts';
import {
  AnyReader,
  AnyStore,
  CATALOGS,
  type Column,
  columnOf,
  newValue,
  pick,
  type Row,
  SETS,
  setOf,
  type TableName,
} from '../fixtures/any-table.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { connect, type Value } from '../harness/remark.ts';
import { Place } from '../storage/place.ts';

// Somebody who can write to the database, and has no key of the service, forges rows of every table of authority. The tables,
// their columns and their sets come from the data model and the database: one that is added later is attacked without a new test.

const AUTHORITY = dataModel.tables.filter(({ integrity }) => integrity.kind === 'authority');
const NAMES = AUTHORITY.map(({ name }) => name as TableName);
const IN_SETS = NAMES.filter((name) => SETS.of.has(name));
/** Owners come before what they own. */
const IN_ORDER = [
  ...NAMES.filter((name) => SETS.under.has(name) && !SETS.of.has(name)),
  ...NAMES.filter((name) => SETS.under.has(name) && SETS.of.has(name)),
  ...NAMES.filter((name) => !SETS.under.has(name)),
];
const INVENTED = `1.${'A'.repeat(22)}`;

type Outcome = 'taken' | 'refused' | 'nothing';

/** What becomes of a request that needs a row. */
async function outcome(work: Promise<unknown>): Promise<Outcome> {
  try {
    const found = await work;
    return found === undefined || (Array.isArray(found) && found.length === 0) ? 'nothing' : 'taken';
  } catch (error) {
    if (error instanceof ApiError && error.code === 'INTEGRITY_VIOLATION') return 'refused';
    throw error;
  }
}

/** The columns that the marks of a table leave out, as its definition says. */
function freeOf(table: TableName): ReadonlySet<string> {
  const { integrity, followed } = AUTHORITY.find(({ name }) => name === table) as (typeof AUTHORITY)[0];
  return new Set([...Object.keys(integrity.free ?? {}), ...(followed ? ['changed_in'] : [])]);
}

const isSame = (one: Value, other: Value): boolean =>
  one instanceof Uint8Array && other instanceof Uint8Array ? Buffer.compare(one, other) === 0 : one === other;

/** What a column may hold in the place of a value. */
function othersThan(value: Value, { holds, isLong, isNullable }: Column, kind: DatabaseKind): readonly Value[] {
  const others: Value[] = [];
  if (holds === 'text') others.push(`${value ?? ''}x`, '', String(value).toUpperCase());
  else if (holds === 'number') others.push(Number(value) + 1, 0, -1, ...(isLong ? ['9007199254740993'] : []));
  else others.push(Buffer.of(...bytesOf(value), 1), Buffer.of(), Buffer.of(0));
  if (isNullable) others.push(null);
  // The embedded database takes values of other types too.
  if (kind === 'sqlite' && holds === 'text') others.push(Buffer.from(String(value)));
  if (kind === 'sqlite' && holds === 'number')
    others.push(Number(value) + 0.5, `x${value}`, Buffer.from(String(value)));
  if (kind === 'sqlite' && holds === 'bytes') others.push(Buffer.from(bytesOf(value)).toString('latin1'));
  return others.filter((other) => !isSame(other, value));
}

const bytesOf = (value: Value): Uint8Array => (value instanceof Uint8Array ? value : Buffer.of());

const shown = (value: Value | undefined): string =>
  value instanceof Uint8Array ? `bytes ${Buffer.from(value).toString('hex')}` : JSON.stringify(value);

const whereKey = ({ key }: MarkedTable): string => key.map((column) => `${column} = ?`).join(' AND ');

type Connection = Awaited<ReturnType<typeof connect>>;

/** A storage with rows in every table, and somebody else's connection to its database. */
class World implements AsyncDisposable {
  readonly storage: Storage;
  readonly #place: Place;
  readonly #connection: Connection;
  readonly #columns = new Map<TableName, readonly Column[]>();
  /** The id of an organization that has nothing. */
  elsewhere = '';

  private constructor(place: Place, storage: Storage, connection: Connection) {
    this.#place = place;
    this.storage = storage;
    this.#connection = connection;
  }

  static async open(kind: DatabaseKind): Promise<World> {
    const place = await Place.create(kind);
    const storage = await place.open();
    storage.integrity.load([{ generation: 1, bytes: randomBytes(32) }], { isRequired: true });
    const world = new World(place, storage, await connect(place));
    await world.sql(kind === 'sqlite' ? 'PRAGMA synchronous = OFF' : 'SET synchronous_commit = off');
    for (const table of NAMES) world.#columns.set(table, (await world.sql(CATALOGS[kind], [table])).map(columnOf));
    // Whoever writes to the database can drop what else makes rows unique than their keys.
    for (const index of AUTHORITY.flatMap(({ unique = {} }) => Object.keys(unique)))
      await world.sql(`DROP INDEX ${index}`);
    await world.#fill();
    return world;
  }

  async sql(text: string, values: readonly Value[] = []): Promise<Row[]> {
    return (await this.#connection.run(text, values)) as Row[];
  }

  marked(table: TableName): MarkedTable {
    return this.storage.integrity.tables.get(table) as MarkedTable;
  }

  columns(table: TableName): readonly Column[] {
    return this.#columns.get(table) as readonly Column[];
  }

  /** Two rows in every table, of two organizations and owners. What may be null is null in the second. */
  async #fill(): Promise<void> {
    const made = new Map<string, readonly Row[]>();
    for (const table of IN_ORDER) {
      const rows = [0, 1].map((index) => {
        const organization = made.get('organization')?.[index];
        const owner = made.get(SETS.of.get(table)?.owner ?? '')?.[index];
        return { ...this.newRow(table, index === 1), ...this.#belonging(table, organization, owner) };
      });
      made.set(table, rows);
      for (const row of rows) await this.insert(table, row);
    }
    const third = this.newRow('organization');
    await this.insert('organization', third);
    this.elsewhere = third['id'] as string;
  }

  /** What a row has of its organization and of the row that its set belongs to. */
  #belonging(table: TableName, organization: Row | undefined, owner: Row | undefined): Row {
    const set = SETS.of.get(table);
    const { organization: column } = this.marked(table);
    const key = set === undefined || owner === undefined ? [] : keyOfOwner(set, owner);
    return {
      ...(column !== undefined && organization !== undefined && { [column]: organization['id'] as string }),
      ...Object.fromEntries(key.map((value, index) => [set?.key[index], value])),
    };
  }

  /** Something else in a column that tells no rows apart; undefined where there is none. */
  change(table: TableName): Row | undefined {
    const { key, columns } = this.marked(table);
    const set = SETS.of.get(table);
    const fixed = [...key, ...(set?.key ?? []), ...(set?.tables.get(table) ?? []), SETS.under.get(table)?.[0]?.column];
    const column = this.columns(table).find(({ name }) => columns.includes(name) && !fixed.includes(name));
    return column && { [column.name]: newValue(column) };
  }

  newRow(table: TableName, isSparse = false): Row {
    const { mark } = this.marked(table);
    return Object.fromEntries(
      this.columns(table).map((column) => [
        column.name,
        column.name === mark || (isSparse && column.isNullable) ? null : newValue(column),
      ]),
    );
  }

  // What the service does.

  async insert(table: TableName, row: Row): Promise<void> {
    const { mark } = this.marked(table);
    const columns = this.columns(table).flatMap(({ name }) => (name === mark ? [] : [name]));
    await this.storage.write((store) => store(AnyStore).insert(table, columns, pick(row, columns)));
  }

  async remove(table: TableName, row: Row): Promise<void> {
    await this.storage.write((store) => store(AnyStore).remove(this.marked(table), row));
  }

  async read(table: TableName, like: Row): Promise<Outcome> {
    return await outcome(this.storage.read(AnyReader).row(this.marked(table), like));
  }

  /** Gives a row a new mark. */
  async amend(table: TableName, like: Row, change: Row = {}): Promise<Outcome> {
    return await outcome(this.storage.write((store) => store(AnyStore).amend(this.marked(table), like, change)));
  }

  /** As a process that has just begun. */
  #forgetSet(table: TableName, row: Row): void {
    const set = setOf(table);
    this.storage.integrity.knowSet(nameOfSet(set, ownerOf(set, row)), '', new Map());
  }

  /** Everything that a set can be read and changed by; in the beginning it is known as it was, and then not any more. */
  async readSet(table: TableName, like: Row): Promise<Readonly<Record<string, Outcome>>> {
    const { storage } = this;
    const all = async () => await outcome(storage.read(AnyReader).set(table, like));
    const one = async () => await outcome(storage.read(AnyReader).place(table, like));
    const held = async () => await outcome(storage.write((store) => store(AnyStore).held(this.marked(table), like)));
    const warm = { held: await held(), all: await all(), one: await one() };
    const cold: Record<string, Outcome> = {};
    for (const [name, ask] of Object.entries({ all, one, held })) {
      this.#forgetSet(table, like);
      cold[`${name} anew`] = await ask();
    }
    return { ...warm, ...cold };
  }

  // What somebody else does.

  async rows(table: TableName): Promise<readonly Row[]> {
    return await this.sql(`SELECT * FROM ${table}`);
  }

  /** The row with the key of this one. */
  async find(table: TableName, like: Row): Promise<Row> {
    const marked = this.marked(table);
    const [row] = await this.sql(`SELECT * FROM ${table} WHERE ${whereKey(marked)}`, this.#keyOf(marked, like));
    return row as Row;
  }

  async forge(table: TableName, row: Row): Promise<void> {
    const columns = Object.keys(row);
    await this.sql(`INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`, Object.values(row));
  }

  async update(table: TableName, row: Row, change: Row): Promise<void> {
    const marked = this.marked(table);
    const set = Object.keys(change).map((column) => `${column} = ?`);
    const values = [...Object.values(change), ...this.#keyOf(marked, row)];
    await this.sql(`UPDATE ${table} SET ${set} WHERE ${whereKey(marked)}`, values);
  }

  async delete(table: TableName, row: Row): Promise<void> {
    const marked = this.marked(table);
    await this.sql(`DELETE FROM ${table} WHERE ${whereKey(marked)}`, this.#keyOf(marked, row));
  }

  async putInPlaceOf(table: TableName, row: Row, other: Row): Promise<void> {
    await this.delete(table, row);
    await this.forge(table, other);
  }

  #keyOf = ({ key }: MarkedTable, row: Row): Value[] => key.map((column) => row[column] as Value);

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
    await this.#place[Symbol.asyncDispose]();
  }
}

/** Of each way to read a set. */
const every = (found: unknown) =>
  Object.fromEntries(['held', 'all', 'one', 'all anew', 'one anew', 'held anew'].map((way) => [way, found]));

describe.each(DATABASES)('every table of authority on %s', (kind) => {
  let world: World;

  beforeAll(async () => {
    world = await World.open(kind);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  test('has rows, and is read as the service wrote it', async () => {
    expect([...world.storage.integrity.tables.keys()].sort()).toEqual([...NAMES].sort());
    for (const table of NAMES) {
      const rows = await world.rows(table);
      expect([table, rows.length]).toEqual([table, table === 'organization' ? 3 : 2]);
      for (const row of rows) expect([table, await world.read(table, row)]).toEqual([table, 'taken']);
    }
    for (const table of IN_SETS)
      for (const row of await world.rows(table))
        expect([table, await world.readSet(table, row)]).toEqual([table, every('taken')]);
    expect(await verifyRows(world.storage, () => {})).toMatchObject({ bad: 0, unmarked: 0 });
  });

  test.each(NAMES)('%s: a value that somebody changed is not read', async (table) => {
    const free = freeOf(table);
    const unexpected: string[] = [];
    const attacked = new Set<string>();
    for (const row of await world.rows(table)) {
      for (const column of world.columns(table)) {
        const { name } = column;
        // Each once where it holds something, and once where it is null.
        const what = `${name} ${row[name] === null}`;
        if (attacked.has(what)) continue;
        attacked.add(what);
        const others = othersThan(row[name] as Value, column, kind);
        const isFree = free.has(name);
        let now = row;
        for (const value of isFree ? others.slice(0, 1) : others) {
          await world.update(table, now, { [name]: value });
          now = { ...row, [name]: value };
          const found = await world.read(table, now);
          if (found !== (isFree ? 'taken' : 'refused')) unexpected.push(`${name} = ${shown(value)}: ${found}`);
        }
        const amended = isFree ? 'refused' : await world.amend(table, now);
        if (amended !== 'refused') unexpected.push(`${name} = ${shown(now[name])} is marked: ${amended}`);
        await world.update(table, now, { [name]: row[name] as Value });
        const back = await world.read(table, row);
        if (back !== 'taken') unexpected.push(`${name} as it was: ${back}`);
      }
    }
    expect(unexpected).toEqual([]);
  });

  test.each(NAMES)('%s: a row that the service did not write is not read', async (table) => {
    const { key, mark, organization } = world.marked(table);
    const [row] = (await world.rows(table)) as [Row];
    const another = table === 'app_user' ? 'organization' : 'app_user';
    const [other] = (await world.rows(another)) as [Row];
    const shared = [...(SETS.of.get(table)?.key ?? []), ...(organization === undefined ? [] : [organization])];
    // It has the same owner, where the key leaves room for two.
    const hasRoom = !key.every((column) => shared.includes(column));
    const nextGeneration = `2${String(row[mark]).slice(1)}`;
    for (const given of [null, '', INVENTED, row[mark], other[`${another}_mac`], nextGeneration]) {
      const forged: Row = { ...world.newRow(table), ...(hasRoom && pick(row, shared)), [mark]: given ?? null };
      await world.forge(table, forged);
      expect([given, await world.read(table, forged)]).toEqual([given, 'refused']);
      expect([given, await world.amend(table, forged)]).toEqual([given, 'refused']);
      if (SETS.of.has(table) && hasRoom) {
        const found = await world.readSet(table, row);
        expect([given, found]).toMatchObject([given, { all: 'refused', 'all anew': 'refused' }]);
      }
      await world.delete(table, forged);
    }
    expect(await world.read(table, row)).toBe('taken');
  });

  test.each(NAMES)('%s: a copy of a row is not read elsewhere', async (table) => {
    const { key, organization } = world.marked(table);
    const free = freeOf(table);
    const another = (column: Column): Value =>
      column.name === organization && table !== 'organization' ? world.elsewhere : newValue(column);
    const [row] = (await world.rows(table)) as [Row];
    for (const moved of [...key.map((column) => [column]), [...key, ...(SETS.of.get(table)?.key ?? [])]]) {
      const copy = { ...row };
      for (const column of world.columns(table)) {
        // A number that no mark covers may be the database's own key.
        const isOwnKey = free.has(column.name) && column.holds === 'number';
        if (isOwnKey || moved.includes(column.name)) copy[column.name] = another(column);
      }
      await world.forge(table, copy);
      expect([moved, await world.read(table, copy)]).toEqual([moved, 'refused']);
      expect([moved, await world.amend(table, copy)]).toEqual([moved, 'refused']);
      await world.delete(table, copy);
    }
    expect(await world.read(table, row)).toBe('taken');
  });

  test.each(IN_SETS)('%s: a row that is missing from its set, or older, is noticed', async (table) => {
    const set = setOf(table);
    const owner = set.owner as TableName;
    const [row] = (await world.rows(table)) as [Row];
    const values = ownerOf(set, row);
    const ofOwner = Object.fromEntries(world.marked(owner).key.map((column, index) => [column, values[index] ?? '']));

    await world.delete(table, row);
    // What is looked up where it is known that it should be there is missed; what is to be changed may just not be there.
    const held = expect.stringMatching(/^(refused|nothing)$/);
    expect(await world.readSet(table, row)).toEqual({ ...every('refused'), held });
    await world.forge(table, row);
    expect(await world.readSet(table, row)).toEqual(every('taken'));

    const change = world.change(table);
    if (change !== undefined) {
      const before = await world.find(owner, ofOwner);
      expect(await world.amend(table, row, change)).toBe('taken');
      expect(await world.readSet(table, row)).toEqual(every('taken'));
      const newer = await world.find(table, row);
      await world.putInPlaceOf(table, newer, row);
      expect(await world.readSet(table, row)).toEqual(every('refused'));
      await world.putInPlaceOf(table, row, newer);
      const after = await world.find(owner, ofOwner);
      await world.putInPlaceOf(owner, after, before);
      expect(await world.readSet(table, row)).toEqual(every('refused'));
      await world.putInPlaceOf(owner, before, after);
      expect(await world.readSet(table, row)).toEqual(every('taken'));
    }

    const last = await world.find(table, row);
    await world.remove(table, last);
    await world.forge(table, last);
    expect(await world.readSet(table, row)).toEqual(every('refused'));
    await world.delete(table, last);
    await world.insert(table, last);
    expect(await world.readSet(table, row)).toEqual(every('taken'));
  });

  test('has its forged rows found by verify', async () => {
    const genuine = new Map<TableName, Row>();
    for (const table of NAMES) {
      const [row] = (await world.rows(table)) as [Row];
      genuine.set(table, row);
      await world.update(table, row, { [world.marked(table).mark]: INVENTED });
    }
    const found = new Set<string>();
    await verifyRows(world.storage, ({ table, because }) => {
      if (because === 'mark') found.add(table);
    });
    expect([...found].sort()).toEqual([...NAMES].sort());
    for (const [table, row] of genuine) await world.update(table, row, pick(row, [world.marked(table).mark]));
    expect(await verifyRows(world.storage, () => {})).toMatchObject({ bad: 0, unmarked: 0 });
  });
});
