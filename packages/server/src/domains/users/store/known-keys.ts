import { KeptValues, type Revisions } from '../../../storage/revisions.ts';
import type { Connection } from '../../../storage/store.ts';
import type { ApiKeyRow } from './credential-rows.ts';

/** Rows of keys; far more than logins are under way at once. */
const ROWS_MAX = 20_000;

const known = new WeakMap<Revisions, KeptValues<readonly ApiKeyRow[]>>();

/**
 * The keys of users, where nobody else writes. A login reads them for the record that its vote keeps, and once more in its
 * transaction: readers and transactions have them in common (docs/decisions/0047).
 */
export function knownKeys({ revisions }: Connection): KeptValues<readonly ApiKeyRow[]> | undefined {
  if (revisions === undefined) return undefined;
  let keys = known.get(revisions);
  if (keys === undefined) {
    // Whoever reads outside of the transaction gets nothing that it has touched either, which is more than is needed.
    keys = new KeptValues(revisions, { isInside: true, sizeOf: (_name, rows) => rows.length + 1, sizeMax: ROWS_MAX });
    known.set(revisions, keys);
  }
  return keys;
}

export const nameOfKeys = (organizationId: string, userId: string): string => `${organizationId} ${userId}`;
