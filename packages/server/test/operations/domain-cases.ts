import type { ActivityCase, QueryCase } from './every-case.ts';
import type { Build } from './hostile-case.ts';

/** The sample requests of one operation; a vote has a hostile one only. */
export interface OperationCases {
  /** Of an activity: what it does, read back. For the every-operation suite, as the next. */
  readonly activity?: ActivityCase;
  /** Of a query: what it answers. */
  readonly query?: QueryCase;
  /** A request that succeeds in any organization, for the suites that spoil it or send it from elsewhere. */
  readonly hostile: Build;
}

/** What `cases.ts` of a domain exports: an entry for each of its operations, by their names. */
export type DomainCases = Readonly<Record<string, OperationCases>>;
