import type { Table } from '../table.ts';
import { digestOfMarks } from './mark.ts';
import { markColumn } from './marked-table.ts';
import type { Row } from './row.ts';

// Rows that count only together: what is missing among them, or older than the others, is noticed by a digest of all their
// marks, which the row that they belong to holds under its own mark.

/** Rows of one owner with one digest. */
export interface RowSet {
  /** The table of the row that they belong to. */
  readonly owner: string;
  /** Its column with the digest. */
  readonly column: string;
  /** Under which name the column has it; undefined where the column has nothing else. */
  readonly part: string | undefined;
  /** How the tables of the set call the owner's key, in the order of that. */
  readonly key: readonly [string] | readonly [string, string];
  /** What tells the rows of each table of the set apart. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /** Whether it is changed as it was verified before; the others of an owner are read again together. */
  readonly isKept: boolean;
}

/** All sets, as the tables are defined. */
export interface RowSets {
  /** By the table of their rows. */
  readonly of: ReadonlyMap<string, RowSet>;
  /** By the table of their owners. */
  readonly under: ReadonlyMap<string, readonly RowSet[]>;
}

/** The column of an owner's key that tells it from others of its organization. */
export const OWNER_ID = 'id';

export function rowSets(tables: readonly Table[]): RowSets {
  const of = new Map<string, RowSet>();
  const under = new Map<string, readonly RowSet[]>();
  for (const { name, owns } of tables) {
    if (owns === undefined) continue;
    const { digests: column, isByTable, key, changesOften } = owns;
    const owner = name as string;
    const common = { owner, column, key };
    const members = tables.flatMap(({ name: table, set }) => (set?.under === name ? [{ table, ...set }] : []));
    const sets: RowSet[] = isByTable
      ? members.map(({ table, by, isLarge = false }) => ({
          ...common,
          part: table,
          tables: new Map([[table, by]]),
          isKept: changesOften || isLarge,
        }))
      : [
          {
            ...common,
            part: undefined,
            tables: new Map(members.map(({ table, by }) => [table, by])),
            isKept: changesOften,
          },
        ];
    under.set(name, sets);
    for (const set of sets) for (const table of set.tables.keys()) of.set(table, set);
  }
  return { of, under };
}

/** A row of a set: where it stands there, and its mark. */
export interface SetMark {
  readonly of: string;
  /** What tells it from others of its table and owner. */
  readonly place: string;
  readonly mark: string | null;
}

/** By where each stands. */
export type SetMarks = ReadonlyMap<string, SetMark>;

export const nameOfPlace = ({ of, place }: Pick<SetMark, 'of' | 'place'>): string => `${of} ${place}`;

export const byPlace = (marks: readonly SetMark[]): Map<string, SetMark> =>
  new Map(marks.map((mark) => [nameOfPlace(mark), mark]));

/** What tells a row of the set from others of its table and owner. */
const placeIn = ({ tables }: RowSet, table: string, row: Row): string =>
  placeAt((tables.get(table) as readonly string[]).map((column) => String(row[column])));

/** The same of the values of the columns that the table's definition names. */
export const placeAt = (values: readonly string[]): string => values.join(' ');

export const setMarkOf = (set: RowSet, table: string, row: Row): SetMark => {
  const mark = row[markColumn(table)];
  return { of: table, place: placeIn(set, table, row), mark: typeof mark === 'string' ? mark : null };
};

/**
 * Undefined where a row has no mark yet: such a set has no digest. It is over the places too, by which a missing row is
 * missed: they were read beside the mark, and not verified with the rest of the row.
 */
export function digestOf(marks: Iterable<SetMark>): string | undefined {
  const texts: string[] = [];
  for (const { of, place, mark } of marks) {
    if (mark === null) return undefined;
    texts.push(`${of} ${mark} ${place.length} ${place}`);
  }
  return digestOfMarks(texts);
}

/** The digest that an owner's row holds of a set. */
export function heldDigest({ column, part }: RowSet, owner: Row): string | undefined {
  const held = owner[column];
  if (typeof held !== 'string') return undefined;
  if (part === undefined) return held;
  const digest = partsOf(held)[part];
  return typeof digest === 'string' ? digest : undefined;
}

function partsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    // Before the owner's row is verified, it may hold anything.
    return {};
  }
}

/** What the column of an owner is to hold, given the digests of some of its sets; the others keep theirs. */
export function withDigests(
  sets: readonly RowSet[],
  digests: ReadonlyMap<RowSet, string | undefined>,
  owner: Row = {},
): string | null {
  const parts: Record<string, string> = {};
  for (const set of sets) {
    const digest = digests.has(set) ? digests.get(set) : heldDigest(set, owner);
    if (set.part === undefined) return digest ?? null;
    if (digest !== undefined) parts[set.part] = digest;
  }
  return Object.keys(parts).length === 0 ? null : JSON.stringify(parts);
}

/** Which owner, and of which of its sets. */
export const nameOfSet = ({ owner, part = '' }: RowSet, key: readonly string[]): string =>
  `${owner} ${part} ${key.join(' ')}`;

/** The key of an owner, from its row. */
export const keyOfOwner = ({ key }: RowSet, owner: Row): readonly string[] =>
  key.length === 1 ? [String(owner[OWNER_ID])] : [String(owner['organization_id']), String(owner[OWNER_ID])];

/** The key of the owner of a row of the set. */
export const ownerOf = ({ key }: RowSet, row: Row): readonly string[] => key.map((column) => String(row[column]));
