import type { QueryResult } from 'kysely';
import { expect, test } from 'vitest';
import type { BoundStatement } from '../connection-dialect.ts';
import { translate, Unanswered } from './errors.ts';
import { GatheredReads } from './gathered-reads.ts';

/** A database that refuses some texts, and with each all that stands behind it in its batch. */
function databaseRefusing(...refused: readonly string[]) {
  const batches: string[][] = [];
  const run = async (reads: readonly BoundStatement[]): Promise<PromiseSettledResult<QueryResult<unknown>>[]> => {
    batches.push(reads.map(({ sql }) => sql));
    const first = reads.findIndex(({ sql }) => refused.includes(sql));
    return reads.map(({ sql }, index) =>
      first === -1 || index < first
        ? { status: 'fulfilled', value: { rows: [sql] } }
        : { status: 'rejected', reason: new Error(`refused ${reads[first]?.sql}`) },
    );
  };
  return { batches, reads: new GatheredReads(1000, run) };
}

const add = (reads: GatheredReads, ...texts: readonly string[]) =>
  reads.add(texts.map((sql) => ({ sql, parameters: [], name: undefined })));
const rowsOf = async (answers: Promise<readonly QueryResult<unknown>[]>): Promise<unknown> =>
  await answers.then(
    (all) => all.map(({ rows }) => rows[0]).join(' '),
    (error: Error) => error.message,
  );
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('those of one turn travel together, each with its own answer', async () => {
  const { batches, reads } = databaseRefusing();
  const first = ['a', 'b', 'c'].map((text) => rowsOf(add(reads, text)));
  await turn();
  const second = rowsOf(add(reads, 'd'));
  expect(await Promise.all([...first, second])).toEqual(['a', 'b', 'c', 'd']);
  expect(batches).toEqual([['a', 'b', 'c'], ['d']]);
});

test('at most sixteen', async () => {
  const { batches, reads } = databaseRefusing();
  await Promise.all(Array.from({ length: 35 }, (_, index) => add(reads, `${index}`)));
  expect(batches.map(({ length }) => length)).toEqual([16, 16, 3]);
});

test('several of one caller travel by themselves, in their order, and hold up nobody else', async () => {
  const { batches, reads } = databaseRefusing();
  const answers = [add(reads, 'a'), add(reads, 'b', 'c', 'd'), add(reads, 'e'), add(reads, 'f', 'g')].map(rowsOf);
  expect(await Promise.all(answers)).toEqual(['a', 'b c d', 'e', 'f g']);
  expect(batches).toEqual([
    ['b', 'c', 'd'],
    ['f', 'g'],
    ['a', 'e'],
  ]);
});

test('several of one caller fail as one', async () => {
  const { batches, reads } = databaseRefusing('c');
  const answers = [add(reads, 'a'), add(reads, 'b', 'c', 'd')].map(rowsOf);
  expect(await Promise.all(answers)).toEqual(['a', 'refused c']);
  expect(batches).toEqual([['b', 'c', 'd'], ['a']]);
});

test('one that fails is told its own reason, and costs no other its answer', async () => {
  const { batches, reads } = databaseRefusing('b', 'd');
  const answers = ['a', 'b', 'c', 'd', 'e'].map((text) => rowsOf(add(reads, text)));
  expect(await Promise.all(answers)).toEqual(['a', 'refused b', 'c', 'refused d', 'e']);
  expect(batches).toEqual([['a', 'b', 'c', 'd', 'e'], ['b'], ['c'], ['d'], ['e']]);
});

test('where the database takes too long all fail, and nothing is tried again', async () => {
  let attempts = 0;
  const reads = new GatheredReads(1000, async (some) => {
    attempts += 1;
    return some.map(() => ({ status: 'rejected', reason: translate(new Unanswered()) }));
  });
  const answers = ['a', 'b'].map((text) => rowsOf(add(reads, text)));
  expect(await Promise.all(answers)).toEqual(['the database is not available', 'the database is not available']);
  expect(attempts).toBe(1);
});

test('without a connection all fail, and nothing is tried again', async () => {
  let attempts = 0;
  const reads = new GatheredReads(1000, async () => {
    attempts += 1;
    throw new Error('no connection');
  });
  const answers = ['a', 'b'].map((text) => rowsOf(add(reads, text)));
  expect(await Promise.all(answers)).toEqual(['no connection', 'no connection']);
  expect(attempts).toBe(1);
});
