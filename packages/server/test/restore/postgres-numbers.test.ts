import { expect, test } from 'vitest';
import { connectForLong } from '../../src/restore/place/postgres-connection.ts';
import { PostgresTables } from '../../src/restore/place/postgres-tables.ts';
import { createPostgresDatabase } from '../harness/databases.ts';

test.each<[what: string, numbers: readonly (number | bigint)[], next: string]>([
  ['no rows', [], '1'],
  ['rows', [7, 9n], '10'],
  // Whoever wrote it leaves room behind the others.
  ['a row with the last number that there is', [7, 9_223_372_036_854_775_807n], '8'],
])('what comes after %s is numbered behind it, or behind the others', async (_what, numbers, next) => {
  await using database = await createPostgresDatabase({ isEmpty: true });
  const client = await connectForLong(database.url);
  try {
    await client.query(
      'CREATE TABLE unnumbered (name text); CREATE TABLE numbered (seq bigserial NOT NULL, name text)',
    );
    const tables = new PostgresTables(client);
    await tables.insert(
      'numbered',
      ['seq', 'name'],
      numbers.map((number) => [number, 'it came in']),
    );
    await tables.settle();
    const { rows } = await client.query("INSERT INTO numbered (name) VALUES ('later') RETURNING seq::text");
    expect(rows).toEqual([{ seq: next }]);
  } finally {
    await client.end();
  }
});
