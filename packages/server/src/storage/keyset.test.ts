import { describe, expect, test } from 'vitest';
import { ApiError } from '../lib/errors.ts';
import { LIMITS } from '../lib/limits.ts';
import type { PageRequest } from '../lib/pagination.ts';
import { fetchPage, type Listing, type Range } from './keyset.ts';

const KIB = 1024;

interface Item {
  readonly id: string;
  readonly bytes: number;
}

/** A list in memory that notes how often and for how much it was asked. */
function listOf(sizes: readonly number[], options: Partial<Listing<Item>> = {}) {
  const items = sizes.map((bytes, index) => ({ id: String(index).padStart(6, '0'), bytes }));
  const read: Item[][] = [];
  let turns = 0;
  const select = ({ greaterThan = '', lessThan = '~', order, limit }: Range): Item[] => {
    const found = items.filter(({ id }) => id > greaterThan && id < lessThan);
    return (order === 'asc' ? found : found.reverse()).slice(0, limit);
  };
  const listing: Listing<Item> = {
    order: 'asc',
    owns: async () => true,
    weigh: async (range) => select(range),
    fetch: async (range) => {
      const rows = select(range);
      read.push(rows);
      setImmediate(() => {
        turns += 1;
      });
      return rows;
    },
    ...options,
  };
  const page = async (request: PageRequest) => await fetchPage(request, listing);
  return { items, page, read, turns: () => turns };
}

async function refusal(page: Promise<unknown>): Promise<string> {
  const error = await page.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof ApiError ? `${error.code} ${error.message}` : 'accepted';
}

describe('a page by bytes', () => {
  test('that is too large is refused before a row is read, with a limit that fits', async () => {
    const { page, read } = listOf(Array(100).fill(LIMITS.pageBytes / 8));
    const text = `has more than ${LIMITS.pageBytes} bytes: a limit of 8 fits`;
    expect(await refusal(page({ kind: 'page', limit: 9 }))).toContain(`this page ${text}`);
    expect(await refusal(page({ kind: 'all', max: 100 }))).toContain(`the list ${text}`);
    expect(read).toEqual([]);
    const { items, pageInfo } = await page({ kind: 'page', limit: 8 });
    expect([items.length, pageInfo.hasNextPage]).toEqual([8, true]);
  });

  test('the row after the page does not count', async () => {
    const { page } = listOf([10, LIMITS.pageBytes]);
    expect((await page({ kind: 'page', limit: 1 })).pageInfo).toMatchObject({ hasNextPage: true });
  });

  test('one row is answered whatever its size', async () => {
    const { page } = listOf([2 * LIMITS.pageBytes, 1]);
    expect((await page({ kind: 'page', limit: 1 })).items).toHaveLength(1);
    expect(await refusal(page({ kind: 'page', limit: 2 }))).toContain('a limit of 1 fits');
  });

  test('a list whose clients expect it answers a short page', async () => {
    const { page } = listOf(Array(20).fill(LIMITS.pageBytes / 8), { whenTooLarge: 'shorten' });
    for (const request of [{ kind: 'page', limit: 20 } as const, { kind: 'all', max: 20 } as const]) {
      const { items, pageInfo } = await page(request);
      expect([items.length, pageInfo.hasNextPage]).toEqual([8, true]);
    }
    const before = await page({ kind: 'page', limit: 20, before: '000015' });
    expect(before.items.map(({ id }) => id)).toEqual(
      Array.from({ length: 8 }, (_, index) => String(7 + index).padStart(6, '0')),
    );
    expect(before.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
  });

  test('rows are read some at a time, with a turn for others between', async () => {
    const { page, read, items, turns } = listOf(Array(50).fill(40 * KIB));
    expect((await page({ kind: 'all', max: 1000 })).items).toEqual(items);
    for (const rows of read) expect(rows.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(256 * KIB);
    expect(turns()).toBeGreaterThanOrEqual(read.length - 1);
    const small = listOf(Array(1700).fill(1), { weigh: undefined });
    expect((await small.page({ kind: 'all', max: 1700 })).items).toHaveLength(1700);
    expect(Math.max(...small.read.map((rows) => rows.length))).toBeLessThanOrEqual(500);
    expect(await refusal(small.page({ kind: 'all', max: 1699 }))).toContain('more than 1699 objects match');
  });

  test('rows that were deleted meanwhile are left out', async () => {
    const sizes = listOf([1, 1, 1]);
    const { page } = listOf([1], { weigh: async () => [...sizes.items] });
    expect((await page({ kind: 'page', limit: 10 })).items).toHaveLength(1);
  });
});
