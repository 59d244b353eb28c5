import { type Kysely, type Selectable, sql } from 'kysely';
import { chunks } from '../../lib/collections.ts';
import { ApiError } from '../../lib/errors.ts';
import { together } from '../../lib/together.ts';
import { driverOf } from '../connection-dialect.ts';
import type { Schema } from '../schema.ts';
import { ask, type QuickStatement, quickStatement } from '../statement.ts';
import type { Integrity } from './integrity.ts';
import { markColumn } from './marked-table.ts';
import type { Row } from './row.ts';
import { marksOfOwners, ownerRows, ownersOf } from './set-statements.ts';
import {
  byPlace,
  digestOf,
  heldDigest,
  keyOfOwner,
  nameOfPlace,
  nameOfSet,
  placeAt,
  type RowSet,
  type SetMark,
  setMarkOf,
} from './sets.ts';

/** An owner's row, and rows of one of its sets, as they were read. */
export interface Owned {
  readonly owner: Row;
  /** By their tables. */
  readonly has: Readonly<Record<string, readonly Row[]>>;
  /** Whether these are all that it has in these tables, or only some of them. */
  readonly isAll: boolean;
  /** Places of the first of these tables where nothing was found. */
  readonly missing?: readonly string[];
}

/** Thirty writers may change one owner at once. */
const ATTEMPTS_MAX = 50;
/** So often rows may seem not to belong together before they are refused. */
const MISMATCHES_MAX = 5;

/**
 * Reads rows with what they own until both belong together, and refuses what is missing or older than it should be: the
 * digest in the owner's row says what there is (docs/decisions/0060).
 */
export async function readOwned<Answer>(
  db: Kysely<Schema>,
  read: () => Promise<Answer>,
  ownedIn: (answer: Answer) => readonly Owned[],
): Promise<Answer> {
  const { integrity, settle } = driverOf(db);
  await settle?.();
  let mismatches = 0;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const answer = await read();
    if (integrity?.isActive !== true) return answer;
    const all = ownedIn(answer).map((owned) => ({ ...owned, set: setOf(integrity, owned) }));
    if (!(await areKnown(db, integrity, all))) continue;
    // An owner may have been changed between two statements: only what stays so is refused.
    const wrong = all.find((owned) => !isWhole(integrity, owned));
    if (wrong === undefined) return answer;
    mismatches += 1;
    if (mismatches === MISMATCHES_MAX) throw refuseSet(integrity, wrong.set, keyOfOwner(wrong.set, wrong.owner));
  }
  throw new ApiError('UNAVAILABLE', 'this is being changed all the time, try again', { retryAfterSeconds: 1 });
}

/**
 * All that an owner has in its one set, by tables, in no order. Its digest says which rows these are, and their marks what is in
 * them; undefined where some have to be read to know.
 */
export function knownOwned(
  db: Kysely<Schema>,
  owner: keyof Schema & string,
  key: readonly string[],
  digest: string | undefined,
): Readonly<Record<string, readonly Row[]>> | undefined {
  const { integrity } = driverOf(db);
  const [set] = integrity?.sets.under.get(owner) ?? [];
  if (integrity?.isActive !== true || set === undefined || digest === undefined) return undefined;
  const marks = integrity.knownSet(nameOfSet(set, key), digest);
  if (marks === undefined) return undefined;
  const has: Record<string, readonly Row[]> = {};
  for (const table of set.tables.keys()) {
    const rows = integrity.rowsOf(table, marks.values());
    if (rows === undefined) return undefined;
    has[table] = rows;
  }
  return has;
}

type OwnedSet = Owned & { readonly set: RowSet };

function setOf(integrity: Integrity, { has }: Owned): RowSet {
  const [table] = Object.keys(has);
  const set = integrity.sets.of.get(String(table));
  if (set === undefined) throw new Error(`rows of ${table} are in no set`);
  return set;
}

const nameOf = (set: RowSet, owner: Row): string => nameOfSet(set, keyOfOwner(set, owner));

/** False where an owner was changed meanwhile: then everything has to be read again. */
async function areKnown(db: Kysely<Schema>, integrity: Integrity, all: readonly OwnedSet[]): Promise<boolean> {
  const unknown = new Map<RowSet, Row[]>();
  for (const owned of all) {
    const { owner, set } = owned;
    const digest = heldDigest(set, owner);
    if (digest === undefined) {
      if (integrity.isRequired) throw refuseSet(integrity, set, keyOfOwner(set, owner));
    } else if (integrity.knownSet(nameOf(set, owner), digest) === undefined && !knowByRows(integrity, owned, digest))
      unknown.set(set, [...(unknown.get(set) ?? []), owner]);
  }
  for (const [set, owners] of unknown) if (!(await learn(db, integrity, set, owners))) return false;
  return true;
}

function isWhole(integrity: Integrity, { owner, set, has, isAll, missing = [] }: OwnedSet): boolean {
  const digest = heldDigest(set, owner);
  if (digest === undefined) return true;
  const marks = integrity.knownSet(nameOf(set, owner), digest);
  if (marks === undefined) return false;
  const [first] = Object.keys(has);
  if (missing.some((place) => marks.has(nameOfPlace({ of: String(first), place })))) return false;
  for (const [table, rows] of Object.entries(has)) {
    for (const row of rows) {
      const found = setMarkOf(set, table, row);
      if (marks.get(nameOfPlace(found))?.mark !== row[markColumn(table)]) return false;
    }
    if (!isAll) continue;
    let count = 0;
    for (const { of } of marks.values()) if (of === table) count += 1;
    if (count !== rows.length) return false;
  }
  return true;
}

/** Where everything that an owner has was read, its digest follows from that. */
function knowByRows(integrity: Integrity, { owner, set, has, isAll }: OwnedSet, digest: string): boolean {
  if (!isAll) return false;
  const marks: SetMark[] = [];
  for (const table of set.tables.keys()) {
    const rows = has[table];
    if (rows === undefined) return false;
    for (const row of rows) marks.push(setMarkOf(set, table, row));
  }
  if (digestOf(marks) !== digest) return false;
  integrity.knowSet(nameOf(set, owner), digest, byPlace(marks));
  return true;
}

/** Reads the marks of what these owners have, and compares them with the digests in their rows. */
async function learn(db: Kysely<Schema>, integrity: Integrity, set: RowSet, owners: readonly Row[]): Promise<boolean> {
  const mark = markColumn(set.owner);
  const idOf = (owner: Row): string => keyOfOwner(set, owner).at(-1) as string;
  for (const some of chunks(owners)) {
    const asked = ownersOf(some.map((owner) => keyOfOwner(set, owner)));
    const [before, marks, after] = await ask(db, [
      ownerRows(set).of(asked),
      marksOfOwners(set).of(asked),
      ownerRows(set).of(asked),
    ]);
    for (const owner of some) {
      const isSame = (one: Row): boolean => idOf(one) === idOf(owner) && one[mark] === owner[mark];
      if (!before.some(isSame) || !after.some(isSame)) return false;
      requireSet(
        integrity,
        set,
        owner,
        marks.filter((one) => one.owner === idOf(owner)),
      );
    }
  }
  return true;
}

/** The set of the owner with this key is not as the owner's row says. */
export const refuseSet = (integrity: Integrity, set: RowSet, key: readonly string[]): ApiError =>
  integrity.refuse({
    table: set.owner,
    organizationId: key[0],
    row: key.at(-1) as string,
    because: 'set',
    ...(set.part !== undefined && { set: set.part }),
  });

/** Refuses an owner whose row says that it has something else in a set. Either was read while the other was held. */
export function requireSet(integrity: Integrity, set: RowSet, owner: Row, marks: readonly SetMark[]): void {
  if (!integrity.isActive) return;
  const [found, expected] = [digestOf(marks), heldDigest(set, owner)];
  // While marks are not required, a set of which some rows have none has no digest to compare with.
  if ((found === undefined || expected === undefined) && !integrity.isRequired) return;
  if (found === undefined || found !== expected) throw refuseSet(integrity, set, keyOfOwner(set, owner));
  integrity.knowSet(nameOf(set, owner), found, byPlace(marks));
}

export const asRow = (row: object): Row => row as Row;

type SetTable = keyof Schema & string;

/** The row that everything in a set of these rows belongs to, as its digest is verified with it. */
export async function ownerOfSet(
  db: Kysely<Schema>,
  table: SetTable,
  ...key: readonly string[]
): Promise<Row | undefined> {
  const set = driverOf(db).integrity?.sets.of.get(table);
  if (set === undefined) return undefined;
  const rows = await ownerRows(set)(db, ownersOf([key]));
  // A database whose schema somebody changed may answer with another one, which has other rows.
  return rows.find((row) => keyOfOwner(set, row).join(' ') === key.join(' '));
}

/** Those of an organization that an answer has, with the organization's row; both are asked for together. */
async function readOfOrganization<Table extends SetTable>(
  db: Kysely<Schema>,
  table: Table,
  organizationId: string,
  read: () => Promise<Selectable<Schema[Table]>[]>,
  askedIn: (rows: readonly Row[], set: RowSet) => Omit<Owned, 'owner' | 'has'>,
): Promise<Selectable<Schema[Table]>[]> {
  const { integrity } = driverOf(db);
  const set = integrity?.sets.of.get(table);
  if (integrity?.isActive !== true || set === undefined) return await read();
  const { owner, rows } = await readOwned(
    db,
    async () => {
      const [found, rows] = await together([ownerOfSet(db, table, organizationId), read()]);
      return { owner: found, rows };
    },
    ({ owner, rows }) =>
      owner === undefined ? [] : [{ owner, has: { [table]: rows.map(asRow) }, ...askedIn(rows.map(asRow), set) }],
  );
  // Whoever asks has found it before.
  if (owner === undefined && integrity.isRequired)
    throw new ApiError('UNAVAILABLE', 'this organization is not there any more, try again', { retryAfterSeconds: 1 });
  return rows;
}

interface OfOrganization extends Record<string, unknown> {
  readonly organizationId: string;
}
const allStatements = new Map<string, QuickStatement<OfOrganization, unknown>>();
function allOf(table: SetTable, order: readonly string[]): QuickStatement<OfOrganization, unknown> {
  let found = allStatements.get(table);
  if (found === undefined) {
    const columns = sql.join(order.map((column) => sql.ref(column)));
    // Without a name: a newer version may add a column while this one runs.
    found = quickStatement(
      undefined,
      (_db, { organizationId }: OfOrganization) =>
        sql`SELECT * FROM ${sql.table(table)} WHERE organization_id = ${organizationId} ORDER BY ${columns}`,
    );
    allStatements.set(table, found);
  }
  return found;
}

/** All rows of one table that belong to an organization, in the order of their places; refused where one is missing or older. */
export async function allOfOrganization<Table extends SetTable>(
  db: Kysely<Schema>,
  table: Table,
  organizationId: string,
): Promise<Selectable<Schema[Table]>[]> {
  const order = driverOf(db).integrity?.sets.of.get(table)?.tables.get(table) ?? [];
  const read = async () => (await allOf(table, order)(db, { organizationId })) as Selectable<Schema[Table]>[];
  return await readOfOrganization(db, table, organizationId, read, () => ({ isAll: true }));
}

/**
 * Rows at some places of an organization's set, which `read` looks up; refused where one is missing or older. The set is read
 * only where it is not known by its digest already.
 */
export async function someOfOrganization<Table extends SetTable>(
  db: Kysely<Schema>,
  table: Table,
  organizationId: string,
  places: readonly (readonly string[])[],
  read: () => Promise<Selectable<Schema[Table]>[]>,
): Promise<Selectable<Schema[Table]>[]> {
  return await readOfOrganization(db, table, organizationId, read, (rows, set) => {
    const found = new Set(rows.map((row) => setMarkOf(set, table, row).place));
    return { isAll: false, missing: places.map(placeAt).filter((place) => !found.has(place)) };
  });
}
