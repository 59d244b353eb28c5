import type { Kysely, Selectable } from 'kysely';
import { chunks } from '../../lib/collections.ts';
import { together } from '../../lib/together.ts';
import { driverOf } from '../connection-dialect.ts';
import type { Schema } from '../schema.ts';
import { amendOne, hold } from './amend.ts';
import type { Integrity } from './integrity.ts';
import { refuseSet, requireSet } from './owned-rows.ts';
import type { Row } from './row.ts';
import { marksOfOwners, ownersOf } from './set-statements.ts';
import {
  byPlace,
  digestOf,
  heldDigest,
  nameOfPlace,
  nameOfSet,
  OWNER_ID,
  ownerOf,
  type RowSet,
  type SetMark,
  setMarkOf,
  withDigests,
} from './sets.ts';

/** One set as it is in this transaction, from the moment when its owner was held and all of it was verified. */
interface Followed {
  readonly set: RowSet;
  /** Of the owner. */
  readonly key: readonly string[];
  readonly marks: Map<string, SetMark>;
  isChanged: boolean;
}

/** What the row of an owner gets at the end of the transaction, together with its digest. */
interface Touched {
  readonly owner: Table;
  readonly key: readonly [string] | readonly [string, string];
  readonly change: (row: Row) => Row;
}

interface State {
  readonly followed: Map<string, Followed>;
  readonly touched: Map<string, Touched>;
}
type Table = keyof Schema & string;

/**
 * The sets of rows that one transaction changes, whoever owns them. What is in each is verified before the first change, and
 * followed from there; at the end the owner's row gets a digest of it, so that a deleted or an older row is noticed
 * (docs/decisions/0060). It is not read again then: that would sign what somebody else did meanwhile.
 */
export class OwnedSets {
  readonly #db: Kysely<Schema>;
  #followed = new Map<string, Followed>();
  #touched = new Map<string, Touched>();

  constructor(db: Kysely<Schema>) {
    this.#db = db;
  }

  begin(): void {
    this.#followed = new Map();
    this.#touched = new Map();
  }

  /** For a savepoint. */
  mark(): State {
    return { followed: copied(this.#followed), touched: new Map(this.#touched) };
  }

  restore({ followed, touched }: State): void {
    this.#followed = copied(followed);
    this.#touched = new Map(touched);
  }

  /**
   * Holds an owner, whose row changes at the end of the transaction: where its digest changes too, both are one write. False
   * where there is no such row. What nothing in between reads can wait, and what could break a rule of the database cannot.
   */
  async touch(owner: Table, key: Touched['key'], change: (row: Row) => Row): Promise<boolean> {
    if ((await hold(this.#db, owner, keyOf(key) as never)) === undefined) return false;
    this.#touched.set(nameOfOwner(owner, key), { owner, key, change });
    return true;
  }

  /**
   * An owner that this transaction makes has nothing yet, or has nothing any more. Answers with what its row says of that, for
   * whoever writes the row.
   */
  bears(owner: Table, ...key: readonly string[]): string | null {
    const sets = this.#integrity?.sets.under.get(owner) ?? [];
    for (const set of sets) this.#followed.set(nameOfSet(set, key), { set, key, marks: new Map(), isChanged: false });
    return this.#integrity?.isActive === true
      ? withDigests(sets, new Map(sets.map((set) => [set, digestOf([])])))
      : null;
  }

  /** What the row of an owner that this transaction makes says of what it has by now. */
  take(owner: Table, ...key: readonly string[]): string | null {
    const digests = new Map<RowSet, string | undefined>();
    for (const set of this.#integrity?.sets.under.get(owner) ?? []) {
      const followed = this.#followed.get(nameOfSet(set, key));
      if (followed === undefined) throw new Error(`a row of ${owner} is not made in this transaction`);
      followed.isChanged = false;
      digests.set(set, this.#digestOf(followed));
    }
    return withDigests([...digests.keys()], digests);
  }

  /** Holds the owner of a set and verifies the set: before the first row of it is written or deleted. */
  async open(table: Table, ...key: readonly string[]): Promise<void> {
    const set = this.#setOf(table);
    if (set === undefined || this.#followed.has(nameOfSet(set, key))) return;
    const owner = (await hold(this.#db, set.owner as Table, keyOf(key) as never)) as Row | undefined;
    const digest = owner && heldDigest(set, owner);
    const known = set.isKept ? this.#integrity?.knownSet(nameOfSet(set, key), digest) : undefined;
    if (known !== undefined) this.#follow(set, key, known);
    else this.#verify(this.#together(set), key, owner, await this.#marksOf(set, key));
  }

  /** A set with the others of its owner that are read with it. */
  #together(set: RowSet): readonly RowSet[] {
    if (set.isKept) return [set];
    return (this.#integrity?.sets.under.get(set.owner) ?? []).filter(({ isKept }) => !isKept);
  }

  async #marksOf(set: RowSet, key: readonly string[]): Promise<readonly SetMark[]> {
    const tables = new Map(this.#together(set).flatMap((one) => [...one.tables]));
    return await marksOfOwners({ ...set, tables })(this.#db, ownersOf([key]));
  }

  /** The same of several owners, in an order that all have in common, so that none waits for another in a circle. */
  async openEach(table: Table, keys: readonly (readonly string[])[]): Promise<void> {
    const sorted = [...new Map(keys.map((key) => [key.join(' '), key]))].sort(([one], [other]) =>
      one < other ? -1 : 1,
    );
    for (const some of chunks(sorted)) await together(some.map(async ([, key]) => await this.open(table, ...key)));
  }

  /** The same in one step, where it is not known that all of it was verified before. */
  async readAhead(table: Table, ...key: readonly string[]): Promise<void> {
    const set = this.#setOf(table);
    if (set === undefined) return;
    // Both travel together, and the second sees what the first waited for.
    const [owner, marks] = await together([
      hold(this.#db, set.owner as Table, keyOf(key) as never),
      this.#marksOf(set, key),
    ]);
    this.#verify(this.#together(set), key, owner as Row | undefined, marks);
  }

  #verify(sets: readonly RowSet[], key: readonly string[], owner: Row | undefined, marks: readonly SetMark[]): void {
    for (const set of sets) {
      // One that is being changed already was verified before it was.
      if (this.#followed.has(nameOfSet(set, key))) continue;
      const own = sets.length === 1 ? marks : marks.filter(({ of }) => set.tables.has(of));
      if (owner !== undefined && this.#integrity !== undefined) requireSet(this.#integrity, set, owner, own);
      this.#follow(set, key, byPlace(own));
    }
  }

  #follow(set: RowSet, key: readonly string[], marks: ReadonlyMap<string, SetMark>): void {
    this.#followed.set(nameOfSet(set, key), { set, key, marks: new Map(marks), isChanged: false });
  }

  /**
   * A row of a set, held and as the set holds it: what is to be made of it may rely on all that it has. Undefined where this
   * owner has none with this key.
   */
  async row<Name extends Table>(
    table: Name,
    owner: readonly string[],
    key: Readonly<Record<string, string>>,
  ): Promise<Selectable<Schema[Name]> | undefined> {
    await this.open(table, ...owner);
    const row = await hold(this.#db, table, key);
    const set = this.#setOf(table);
    if (row === undefined || set === undefined) return row;
    if (ownerOf(set, row as Row).join(' ') !== owner.join(' ')) return undefined;
    const followed = this.#followed.get(nameOfSet(set, owner));
    if (followed !== undefined) this.#requireIn(followed, setMarkOf(set, table, row as Row));
    return row;
  }

  /** All rows of a table in the set of an owner, as it is in this transaction; undefined where they have to be read to know. */
  async rows<Name extends Table>(
    table: Name,
    ...key: readonly string[]
  ): Promise<Selectable<Schema[Name]>[] | undefined> {
    await this.open(table, ...key);
    const set = this.#setOf(table);
    const followed = set && this.#followed.get(nameOfSet(set, key));
    if (followed === undefined || this.#integrity?.isActive !== true) return undefined;
    return this.#integrity.rowsOf(table, followed.marks.values()) as Selectable<Schema[Name]>[] | undefined;
  }

  /** Notes a marked row that is inserted, or takes the place of `before`: whatever writes rows tells it. */
  put(table: string, row: Row, before?: Row): void {
    const set = this.#integrity?.sets.of.get(table);
    if (set === undefined) return;
    const followed = this.#change(set, ownerOf(set, row));
    if (before !== undefined) {
      const replaced = setMarkOf(set, table, before);
      this.#requireIn(followed, replaced);
      followed.marks.delete(nameOfPlace(replaced));
    }
    const mark = setMarkOf(set, table, row);
    followed.marks.set(nameOfPlace(mark), mark);
  }

  /**
   * Refuses to change a row that the set does not hold. A set that is known by its digest is not read again when it is
   * opened, so an older row may be in the place of the one that it holds. That is genuine by itself, and would get a new mark.
   */
  #requireIn({ set, key, marks }: Followed, replaced: SetMark): void {
    const integrity = this.#integrity;
    if (integrity?.isActive !== true) return;
    const held = marks.get(nameOfPlace(replaced))?.mark ?? null;
    if (held === replaced.mark) return;
    // While marks are not required, the set may lack rows that an older version of the service wrote.
    if (!integrity.isRequired && (held === null || replaced.mark === null)) return;
    throw refuseSet(integrity, set, key);
  }

  /** Notes that rows are deleted, by what tells them apart. The set is open. */
  remove(table: Table, key: readonly string[], places: readonly string[]): void {
    const set = this.#setOf(table);
    if (set === undefined) return;
    const { marks } = this.#change(set, key);
    for (const place of places) marks.delete(nameOfPlace({ of: table, place }));
  }

  #change(set: RowSet, key: readonly string[]): Followed {
    const followed = this.#followed.get(nameOfSet(set, key));
    if (followed === undefined)
      throw new Error(`a set of ${set.owner} is changed without having been verified: ${[...set.tables.keys()]}`);
    followed.isChanged = true;
    return followed;
  }

  get #integrity(): Integrity | undefined {
    return driverOf(this.#db).integrity;
  }

  #setOf(table: Table): RowSet | undefined {
    return this.#integrity?.sets.of.get(table);
  }

  /** Before the commit, and before sets are read in this transaction: the owners' rows get their digests. */
  async end(): Promise<void> {
    if (this.#followed.size === 0 && this.#touched.size === 0) return;
    const changed = new Map<string, Followed[]>();
    for (const followed of this.#followed.values()) {
      if (!followed.isChanged) continue;
      const name = nameOfOwner(followed.set.owner, followed.key);
      const known = changed.get(name);
      if (known === undefined) changed.set(name, [followed]);
      else known.push(followed);
    }
    const touched = this.#touched;
    this.#touched = new Map();
    const names = [...new Set([...changed.keys(), ...touched.keys()])];
    for (const some of chunks(names))
      await together(some.map(async (name) => await this.#settle(changed.get(name) ?? [], touched.get(name))));
  }

  /** What changed of one owner. */
  async #settle(all: readonly Followed[], touched: Touched | undefined): Promise<void> {
    const [first] = all;
    const owner = (first?.set.owner ?? touched?.owner) as Table;
    const key = (first?.key ?? touched?.key) as readonly string[];
    for (const followed of all) followed.isChanged = false;
    const sets = this.#integrity?.sets.under.get(owner) ?? [];
    const digests = new Map(all.map((followed) => [followed.set, this.#digestOf(followed)]));
    const digestIn = (row: Row): Row =>
      first === undefined ? {} : { [first.set.column]: withDigests(sets, digests, row) };
    // An owner that was deleted has no row any more.
    await amendOne(
      this.#db,
      owner,
      keyOf(key) as never,
      (row) => ({ ...touched?.change(row as Row), ...digestIn(row as Row) }) as never,
    );
  }

  /** What has this digest needs not be read again to be known, here or in the next transaction. */
  #digestOf({ set, key, marks }: Followed): string | undefined {
    const digest = digestOf(marks.values());
    if (digest !== undefined) this.#integrity?.knowSet(nameOfSet(set, key), digest, new Map(marks));
    return digest;
  }
}

/** In the order of the primary key, as whoever holds a row names it. */
const keyOf = (key: readonly string[]): Readonly<Record<string, string>> =>
  key.length === 1 ? { [OWNER_ID]: String(key[0]) } : { organization_id: String(key[0]), [OWNER_ID]: String(key[1]) };

const nameOfOwner = (owner: string, key: readonly string[]): string => `${owner} ${key.join(' ')}`;

const copied = (state: ReadonlyMap<string, Followed>): Map<string, Followed> =>
  new Map(
    [...state].map(([name, { set, key, marks, isChanged }]) => [name, { set, key, marks: new Map(marks), isChanged }]),
  );
