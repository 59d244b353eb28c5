import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ApiError } from '../../lib/errors.ts';
import { driverOf } from '../connection-dialect.ts';
import type { Schema } from '../schema.ts';
import type { Row } from './row.ts';

/**
 * Goes into a statement that answers with rows of several organizations, or of many things that wait, and says why one of them must
 * not keep the others. The guard verifies none of its rows: `readEach` does, each by itself.
 */
export const oneByOne = (because: string): RawBuilder<unknown> =>
  sql.raw(`/* one by one: ${because.replaceAll('*/', '')} */`);

/** A row, as a part of an answer: its columns may have a prefix. */
interface Part {
  readonly table: keyof Schema;
  readonly prefix?: string;
  /** Columns of which it does not matter how large a number they hold. */
  readonly numbered?: readonly string[];
}

interface Each<R, Item> {
  /** What could be read. */
  readonly items: readonly Item[];
  /** Rows that nobody of us wrote, or that cannot be read. They were reported. */
  readonly refused: readonly R[];
}

/**
 * Verifies each row, and then converts it: a row that was not written by a service, or holds what no service writes where no mark
 * covers it, is reported and left out, and the others are answered. Converting throws for what it cannot read.
 */
export function readEach<R extends object, Item>(
  db: Kysely<Schema>,
  part: Part,
  rows: readonly R[],
  convert: (row: R) => Item,
): Each<R, Item> {
  const items: Item[] = [];
  const refused: R[] = [];
  for (const row of rows) {
    try {
      if (isGenuine(db, part, row)) {
        requireNumbers(row, part);
        items.push(convert(row));
        continue;
      }
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      reportDamaged(db, part, row);
    }
    refused.push(row);
  }
  return { items, refused };
}

/** Whether a row, as a part of an answer, is as a service wrote it; reports it where it is not. */
export const isGenuine = (db: Kysely<Schema>, part: Part, row: object): boolean =>
  refusalOf(db, part, row) === undefined;

/** The same for a row alone. */
export function requireGenuine(db: Kysely<Schema>, part: Part, row: object): void {
  const refusal = refusalOf(db, part, row);
  if (refusal !== undefined) throw refusal;
}

function refusalOf(db: Kysely<Schema>, { table, prefix = '' }: Part, row: object): ApiError | undefined {
  const { integrity } = driverOf(db);
  const marked = integrity?.tables.get(table);
  if (integrity === undefined || marked === undefined) return undefined;
  const names = marked.columns.map((column) => prefix + column);
  const mark = (row as Row)[prefix + marked.mark] as string | null;
  if (integrity.verify(marked, row as Row, names, mark) !== false) return undefined;
  return integrity.refuse(integrity.violationOf(marked, row as Row, names, mark));
}

/** Tells the operator of a row that was written by nobody of us, or spoiled, though its mark does not show it. */
export function reportDamaged(db: Kysely<Schema>, { table, prefix = '' }: Part, row: object): ApiError | undefined {
  const { integrity } = driverOf(db);
  const marked = integrity?.tables.get(table);
  if (integrity === undefined || marked === undefined) return undefined;
  const names = marked.columns.map((column) => prefix + column);
  return integrity.refuse({ ...integrity.violationOf(marked, row as Row, names), because: 'damaged' });
}

/** What a row holds cannot be what a service wrote. */
export class Unreadable extends Error {}

/** A number that a service may have written: other kinds of values, too, fit into columns of the embedded database. */
export function requireCount(value: unknown, most = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= most) return value;
  throw new Unreadable('not a number that a service writes');
}

function requireNumbers(row: object, { numbered = [] }: Part): void {
  for (const [column, value] of Object.entries(row))
    if (typeof value === 'bigint' && !numbered.includes(column)) throw new Unreadable('too large a number');
}

/** JSON that does not parse, or does not hold what is taken out of it. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof Unreadable || error instanceof SyntaxError || error instanceof TypeError;
