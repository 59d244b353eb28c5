import type { ActivityCase, QueryCase } from './every-case.ts';
import type { Build } from './hostile-case.ts';
import type { IdKind } from './tenant.ts';

/** The sample requests of one operation; a vote has a hostile one only. */
export interface OperationCases {
  /** Of an activity: what it does, read back. For the every-operation suite, as the next. */
  readonly activity?: ActivityCase;
  /** Of a query: what it answers. */
  readonly query?: QueryCase;
  /** A request that succeeds in any organization, for the suites that spoil it or send it from elsewhere. */
  readonly hostile: Build;
  /** What a field of it names, by its path, where its name alone does not say; empty where nothing can be tried. */
  readonly ids?: Readonly<Record<string, readonly IdKind[]>>;
  /** Of a query: only parents have what it reads. */
  readonly isOfParents?: true;
  /** Of a query: only the root users of the operator may ask; the suites that ask for others leave it out. */
  readonly isOfOperator?: true;
  /** Of a list: it shows what the operator configured, so its cursors are no secret. */
  readonly hasPublicCursors?: true;
}

/** What `cases.ts` of a domain exports: an entry for each of its operations, by their names. */
export type DomainCases = Readonly<Record<string, OperationCases>>;
