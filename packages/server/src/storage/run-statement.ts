import type { QueryResult } from 'kysely';

/**
 * Runs one compiled statement. `name` is set for statements that are worth preparing on the server. A database in the same
 * process answers at once, without a promise, and throws at once.
 */
export type Execute = (
  sql: string,
  parameters: readonly unknown[],
  name: string | undefined,
) => QueryResult<unknown> | Promise<QueryResult<unknown>>;

/** A statement with its values. */
export interface BoundStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly name: string | undefined;
}

/**
 * Runs short statements that only read, in their order, where the database is far: they travel together, and with those that
 * others ask for at that moment (docs/decisions/0056).
 */
export type ReadTogether = (reads: readonly BoundStatement[]) => Promise<readonly QueryResult<unknown>[]>;

/**
 * The same without an answer, where the database is far: the statement is on its way by the end of the transaction, which
 * then fails with what `explain` makes of its failure (docs/decisions/0053).
 */
export type Defer = (
  sql: string,
  parameters: readonly unknown[],
  name: string | undefined,
  explain?: (error: unknown) => unknown,
) => void;
