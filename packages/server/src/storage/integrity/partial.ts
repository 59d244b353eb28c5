import { type RawBuilder, sql } from 'kysely';

/**
 * Goes in front of a query that reads rows of marked tables without their marks, and says why nothing is decided by what it
 * finds. SQL that is written by hand has the same comment, as does an update of columns that no mark covers (`unmarked`).
 */
export const partial = (because: string): RawBuilder<unknown> =>
  sql.raw(`/* partial: ${because.replaceAll('*/', '')} */`);
