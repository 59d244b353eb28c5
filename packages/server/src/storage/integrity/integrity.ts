import { randomUUID } from 'node:crypto';
import type { QueryResult } from 'kysely';
import { ApiError } from '../../lib/errors.ts';
import type { BoundStatement, Defer, Execute, ReadTogether } from '../run-statement.ts';
import type { Table } from '../table.ts';
import { type IntegrityKey, Marks } from './mark.ts';
import { type ColumnInfo, type MarkedTable, markedTables } from './marked-table.ts';
import type { Row } from './row.ts';
import { type RowSets, rowSets, type SetMark, type SetMarks } from './sets.ts';
import { type Check, checksOf, factsOf, isAskedFor, type StatementFacts } from './statements.ts';

const STATEMENTS_MAX = 5000;
const VIOLATIONS_MAX = 100;
/** Marks of the sets that are kept: some 50 MB. */
const KEPT_MARKS_MAX = 250_000;

/** A row, or a set of rows, that nobody who has the integrity key wrote. */
export interface Violation {
  readonly table: string;
  readonly organizationId: string | undefined;
  /** The values of its key, joined by a slash. */
  readonly row: string;
  readonly because: 'mark' | 'unmarked' | 'set' | 'damaged' | 'other';
  /** Of which table the set is, where its owner has several. */
  readonly set?: string;
}

export interface IntegrityState {
  /** Undefined until the keyring has lent a key: then nothing is marked, and marked rows are not read. */
  readonly marks: Marks;
  /** Whether a row without a mark is refused too. */
  readonly isRequired: boolean;
  /**
   * Whether rows are marked and verified at all. Where they are not, whatever is written loses its mark: beside processes of
   * an older version, which change rows and leave their marks, no mark says anything.
   */
  readonly isActive: boolean;
}

interface KnownSet {
  readonly digest: string;
  readonly marks: SetMarks;
}

export interface LoadOptions {
  /** The generation that rows are marked with; the newest unless told. */
  readonly marksWith?: number;
  readonly isRequired?: boolean;
  readonly isActive?: boolean;
}

/**
 * Marks the rows that carry authority as they are written, and verifies them as they are read, for one database
 * (docs/decisions/0060). It stands between all stores and the drivers: a statement that reads such rows in part, or writes
 * them without a mark, fails in its first test.
 */
export class Integrity {
  readonly #definitions: readonly Table[];
  #tables: ReadonlyMap<string, MarkedTable> = new Map();
  #byLength: readonly MarkedTable[] = [];
  readonly #facts = new Map<string, StatementFacts>();
  #state: IntegrityState | undefined;
  /** The last ones, by table, row and reason. */
  readonly #seen = new Map<string, Violation>();
  #seenCount = 0;
  /** What belongs to a row together. */
  readonly sets: RowSets;
  /** What is in sets, by their names, as it was found to have their digest; the least recently used first. */
  readonly #known = new Map<string, KnownSet>();
  #knownMarks = 0;
  #report: (violation: Violation, errorId: string) => void = () => {};

  constructor(definitions: readonly Table[]) {
    this.#definitions = definitions;
    this.sets = rowSets(definitions);
  }

  /** The schema is as it will be. */
  knowColumns(columns: readonly ColumnInfo[]): void {
    this.#tables = markedTables(this.#definitions, columns);
    this.#byLength = [...this.#tables.values()].sort((one, other) => other.mark.length - one.mark.length);
    this.#facts.clear();
  }

  /** From here on rows are verified with these keys alone. What was required or active before stays so. */
  load(keys: readonly IntegrityKey[], { marksWith, isRequired = false, isActive = true }: LoadOptions = {}): void {
    const before = this.#state;
    const requires = isRequired || before?.isRequired === true;
    this.#state = {
      marks: new Marks(keys, marksWith),
      isRequired: requires,
      isActive: isActive || requires || before?.isActive === true,
    };
  }

  /** What rows are marked with; undefined until a key is loaded. */
  get marks(): Marks | undefined {
    return this.#state?.marks;
  }

  /** All running processes know marks: from here on rows get them. */
  activate(): void {
    if (this.#state !== undefined) this.#state = { ...this.#state, isActive: true };
  }

  /** Whoever else has enabled it: rows without a mark are refused from here on. */
  require(): void {
    if (this.#state !== undefined) this.#state = { ...this.#state, isRequired: true, isActive: true };
  }

  get isRequired(): boolean {
    return this.#state?.isRequired === true;
  }

  /** Whether marks say anything, and digests of them. */
  get isActive(): boolean {
    return this.#state?.isActive !== false;
  }

  get tables(): ReadonlyMap<string, MarkedTable> {
    return this.#tables;
  }

  /** What was noticed since the start, the oldest first, and no more than the last of it. */
  get violations(): readonly Violation[] {
    return [...this.#seen.values()];
  }

  /** How many rows and sets were noticed since the start. */
  get violationCount(): number {
    return this.#seenCount;
  }

  /** Hears of each time that something was refused, with the id that the caller is told. */
  onViolation(report: (violation: Violation, errorId: string) => void): void {
    this.#report = report;
  }

  /** What is in the set with this name, where something of this digest was found before: nothing else has it. */
  knownSet(name: string, digest: string | undefined): SetMarks | undefined {
    const known = this.#known.get(name);
    if (known === undefined || known.digest !== digest) return undefined;
    this.#known.delete(name);
    this.#known.set(name, known);
    return known.marks;
  }

  knowSet(name: string, digest: string, marks: SetMarks): void {
    this.#forgetSet(name);
    this.#known.set(name, { digest, marks });
    this.#knownMarks += marks.size + 1;
    for (const oldest of this.#known.keys()) {
      if (this.#knownMarks <= KEPT_MARKS_MAX || oldest === name) break;
      this.#forgetSet(oldest);
    }
  }

  #forgetSet(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    this.#knownMarks -= known.marks.size + 1;
  }

  /** The rows of a table with some of these marks, where each was verified or written here before: nothing is read. */
  rowsOf(tableName: string, marks: Iterable<SetMark>): Row[] | undefined {
    const table = this.#tables.get(tableName);
    if (table === undefined) return undefined;
    const rows: Row[] = [];
    for (const { of, mark } of marks) {
      if (of !== tableName) continue;
      const row = mark === null ? undefined : this.#state?.marks.rowOf(table, mark);
      if (row === undefined) return undefined;
      rows.push(row);
    }
    return rows;
  }

  /** The row with its mark, or as it is where its table has none; `before` is the one in whose place it is written. */
  marked<R extends Row>(tableName: string, row: R, before?: Row): R {
    const table = this.#tables.get(tableName);
    if (table === undefined) return row;
    const state = this.#state;
    // Copied and then extended: in one expression with a computed name it would take twice as long.
    const marked: Record<string, unknown> = { ...row };
    // What joins a set that changes often is asked for with the next change of it.
    const isReadSoon = before === undefined && this.sets.of.get(tableName)?.isKept === true;
    marked[table.mark] = state?.isActive === true ? state.marks.of(table, row, before?.[table.mark], isReadSoon) : null;
    return marked as R;
  }

  /** Whether a row is as it was marked; undefined where it has no mark and needs none. */
  verify(
    table: MarkedTable,
    row: Row,
    names: readonly string[] = table.columns,
    mark = row[table.mark],
  ): boolean | undefined {
    const state = this.#state;
    if (state?.isActive === false) return undefined;
    if (mark === null || mark === undefined) return state?.isRequired === true ? false : undefined;
    if (state === undefined) throw new Error('the keyring has not lent the integrity key yet');
    return state.marks.isGenuine(table, row, names, mark);
  }

  over(execute: Execute): Execute {
    return (sql, parameters, name) => {
      const facts = this.#factsOf(sql);
      const done = execute(sql, parameters, name);
      if (facts === undefined) return done;
      return done instanceof Promise
        ? done.then((result) => this.#verified(result, { sql, parameters, name }, facts))
        : this.#verified(done, { sql, parameters, name }, facts);
    };
  }

  overReads(readTogether: ReadTogether): ReadTogether {
    return async (reads: readonly BoundStatement[]) => {
      const facts = reads.map(({ sql }) => this.#factsOf(sql));
      const answers = await readTogether(reads);
      return answers.map((answer, index) => {
        const known = facts[index];
        return known === undefined ? answer : this.#verified(answer, reads[index] as BoundStatement, known);
      });
    };
  }

  overDeferred(defer: Defer): Defer {
    return (sql, parameters, name, explain) => {
      this.#factsOf(sql);
      defer(sql, parameters, name, explain);
    };
  }

  /** The request fails, the operator hears of it, and what was read is not used. */
  refuse(violation: Violation): ApiError {
    const { table, organizationId, row, because, set } = violation;
    const name = `${table} ${organizationId} ${row} ${because} ${set}`;
    if (!this.#seen.delete(name)) this.#seenCount += 1;
    this.#seen.set(name, violation);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= VIOLATIONS_MAX) break;
      this.#seen.delete(oldest);
    }
    const errorId = randomUUID();
    this.#report(violation, errorId);
    const what =
      because === 'other'
        ? `the database answers with a record that it was not asked for: ${table} ${row}`
        : `a stored record was not written by this service: ${because === 'set' ? `what belongs to ${table} ${row} is not all there${set ? ` (${set})` : ''}` : `${table} ${row}`}`;
    return new ApiError('INTEGRITY_VIOLATION', `${what}; the operator has to look at it (custos verify; ${errorId})`);
  }

  #factsOf(sql: string): StatementFacts | undefined {
    if (this.#tables.size === 0) return undefined;
    let facts = this.#facts.get(sql);
    if (facts === undefined) {
      facts = factsOf(sql, this.#tables);
      if (this.#facts.size >= STATEMENTS_MAX) this.#facts.clear();
      this.#facts.set(sql, facts);
    }
    return facts;
  }

  #verified(
    result: QueryResult<unknown>,
    { sql, parameters }: BoundStatement,
    facts: StatementFacts,
  ): QueryResult<unknown> {
    const rows = result.rows as readonly Row[];
    if (rows.length === 0) return result;
    facts.checks ??= checksOf(rows[0] as Row, sql, facts, this.#byLength);
    for (const check of facts.checks) for (const row of rows) this.#require(check, row, parameters);
    return result;
  }

  #require({ table, mark, names, present, asked }: Check, row: Row, parameters: readonly unknown[]): void {
    if (row[present] === null && names.every((name) => row[name] === null)) return;
    if (this.verify(table, row, names, row[mark]) === false)
      throw this.refuse(this.violationOf(table, row, names, row[mark]));
    // The row may be genuine, and another one: the schema is the database's own.
    if (!isAskedFor(row, asked, parameters))
      throw this.refuse({ ...this.violationOf(table, row, names, row[mark]), because: 'other' });
  }

  violationOf(
    table: MarkedTable,
    row: Row,
    names: readonly string[] = table.columns,
    mark = row[table.mark],
  ): Violation {
    const value = (column: string): string => String(row[names[table.columns.indexOf(column)] as string]);
    return {
      table: table.name,
      organizationId: table.organization === undefined ? undefined : value(table.organization),
      row: table.key
        .filter((column) => column !== table.organization || table.key.length === 1)
        .map(value)
        .join('/'),
      because: mark === null || mark === undefined ? 'unmarked' : 'mark',
    };
  }
}
