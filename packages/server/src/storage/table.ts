import type { RawBuilder } from 'kysely';
import type { ErrorCode } from '../lib/errors.ts';
import type { Schema } from './schema.ts';

/** A unique index, which a migration created under the name of the rule, and what a caller hears who breaks it. */
export interface UniqueRule<Column extends string = string> {
  readonly columns: readonly Column[];
  readonly message: string;
  /** ALREADY_EXISTS unless told. */
  readonly code?: ErrorCode;
}

/** Sealed bytes: whom they belong to and as what they were sealed. */
interface SealedBytes<Column extends string> {
  readonly column: Column;
  /** The kind, or the kinds by the value of the table's column `kind`. */
  readonly kind: string | Readonly<Record<string, string>>;
  /** The column that holds the owner's id, `id` unless told; of several the values are joined by a slash. */
  readonly owner?: Column | readonly Column[];
  /** The organization whose key sealed it, where the table has none. */
  readonly organizationId?: string;
  /** Whether a row may hold a whole request, of up to 2 MiB. */
  readonly isLarge?: true;
}

/** A moment that something waits for. */
interface Wait<Column extends string> {
  readonly column: Column;
  /** More than the longest that it ever has to wait. */
  readonly longestMs: number;
  /** Rows that wait at all; all unless told. */
  readonly where?: RawBuilder<unknown>;
}

/** How rows go with their organization. */
export interface Erasure<Column extends string = string> {
  /** The column by which some of them are chosen: all in one statement may take longer than a statement may. */
  readonly by: Column;
  /** Rows that stay for now, and go by other ways. */
  readonly except?: RawBuilder<unknown>;
  /** Rows to hold first, where whoever changes one decides whether it stays. */
  readonly holding?: RawBuilder<unknown>;
}

/** What the feed tells of the rows of a table when they change; its column `changed_in` says when that was. */
export interface Followed<Column extends string = string> {
  readonly kind: string;
  /** Columns by the names of the wire. */
  readonly fields: Readonly<Record<string, Column>>;
  /** How values are called there, where they are not stored so. */
  readonly names?: Readonly<Record<string, string>>;
}

/** What answers are made of that are kept while it does not change. */
export type OrganizationPart = 'users';

/**
 * What a row could do that somebody else wrote. An authority decides who may do what, or moves value; what is derived is
 * checked against an authority whenever it is used; the rest decides nothing.
 */
export interface IntegrityFacts {
  readonly kind: 'authority' | 'derived' | 'none';
  readonly because: string;
  /** Columns of an authority that its mark leaves out, and why whoever writes one gains nothing. */
  readonly free?: Readonly<Record<string, string>>;
  /**
   * Rows of an authority that nothing is done with any more: of those from before there were marks, none is marked, however many
   * they are. Whoever lets something be done with one again refuses it where it has no mark.
   */
  readonly done?: RawBuilder<unknown>;
}
export const authority = (
  because: string,
  free: Readonly<Record<string, string>> = {},
  done?: RawBuilder<unknown>,
): IntegrityFacts => ({
  kind: 'authority',
  because,
  free,
  ...(done !== undefined && { done }),
});
export const derived = (because: string): IntegrityFacts => ({ kind: 'derived', because });
export const none = (because: string): IntegrityFacts => ({ kind: 'none', because });

/**
 * Rows that count only together: what is missing among them, or older than the rest, is noticed by a digest in the row that
 * they belong to (docs/decisions/0060).
 */
interface SetFacts<Column extends string = string> {
  /** The table of the row that they belong to; its `owns` says the rest. */
  readonly under: keyof Schema;
  /** What tells rows of one owner apart. Those that are looked up alone are looked up by this, so that a missing one is missed. */
  readonly by: readonly [Column, ...Column[]];
  /** Whether there may be thousands: then they are not read with the other sets whenever one of these is changed. */
  readonly isLarge?: true;
}

/** What a row has that sets of other rows belong to. */
interface OwnerFacts<Column extends string = string> {
  /** The column with the digests of its sets: of all rows that belong to it, or of each table by name. */
  readonly digests: Column;
  readonly isByTable: boolean;
  /** How the tables that belong to it call its key, in the order of that. */
  readonly key: readonly [string] | readonly [string, string];
  /** Whether what was verified before is believed when a set is changed; otherwise it is read again. */
  readonly changesOften: boolean;
}

interface TableFacts<Column extends string> {
  readonly integrity: IntegrityFacts;
  readonly set?: SetFacts<Column>;
  readonly owns?: OwnerFacts<Column>;
  /** The primary key, where it is not the organization and the id. */
  readonly key?: readonly [Column, Column, ...Column[]];
  /** By the names of their indexes. */
  readonly unique?: Readonly<Record<string, UniqueRule<Column>>>;
  readonly sealed?: readonly SealedBytes<Column>[];
  /** Whether a row may hold what a whole request has, without being sealed. */
  readonly isLarge?: true;
  /** Columns of bytes that are not sealed, because they are no secrets or are wrapped in another way. */
  readonly plainBytes?: readonly Column[];
  /** Waits that are longer than any can be are ended: they were written while a clock was ahead. */
  readonly waits?: readonly Wait<Column>[];
  readonly followed?: Followed<Column>;
  /** Columns with the names of what a change of a row changes, for those who keep what they read. */
  readonly revises?: readonly Column[];
  /** Of which part of its organization a row is, for those who keep answers made of that part (docs/decisions/0052). */
  readonly isOf?: OrganizationPart;
  /** Columns that are emptied when the organization is deleted, in rows that stay. */
  readonly emptied?: readonly Column[];
  /** What becomes of the rows of an organization that is deleted. */
  readonly erased: 'never' | Erasure<Column>;
}

/** What is true of a table beyond the types of its columns. */
export interface Table extends TableFacts<string> {
  readonly name: keyof Schema;
}

export const defineTable = <Name extends keyof Schema>(
  name: Name,
  facts: TableFacts<keyof Schema[Name] & string>,
): Table => ({ name, ...(facts as TableFacts<string>) });
