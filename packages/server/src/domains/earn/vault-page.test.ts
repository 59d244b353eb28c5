import { describe, expect, test } from 'vitest';
import type { CatalogVault } from './earn.ts';
import { pageOf } from './vault-page.ts';

const address = (index: number): string => `0x${index.toString(16).padStart(40, '0')}`;
const vault = (index: number, tvl: bigint) => ({ vaultAddress: address(index), tvl }) as CatalogVault;
/** 25 vaults by value descending; the last ones are worth the same. */
const LIST = Array.from({ length: 25 }, (_, index) => vault(index, index < 20 ? BigInt(1_000 - index) : 5n));
const indexes = (items: readonly CatalogVault[]) => items.map((item) => Number(item.vaultAddress));
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('a page of vaults', () => {
  test('is the whole list where none is asked for, and ten where no limit is set', () => {
    expect(pageOf(LIST, undefined).items).toHaveLength(25);
    const { items, pageInfo } = pageOf(LIST, {});
    expect(indexes(items)).toEqual(range(0, 10));
    expect(pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  });

  test('follows another until there is none', () => {
    const seen: number[] = [];
    let after = '';
    for (let page = 0; page < 3; page += 1) {
      const { items, pageInfo } = pageOf(LIST, { limit: '9', after });
      seen.push(...indexes(items));
      expect(pageInfo.hasNextPage).toBe(page < 2);
      expect(pageInfo.hasPreviousPage).toBe(page > 0);
      after = pageInfo.endCursor;
    }
    expect(seen).toEqual(range(0, 25));
    expect(pageOf(LIST, { after }).items).toEqual([]);
  });

  test('goes back in the order of the list', () => {
    const { pageInfo } = pageOf(LIST, { limit: '5', after: address(14) });
    const { items, pageInfo: before } = pageOf(LIST, { limit: '4', before: pageInfo.startCursor });
    expect(indexes(items)).toEqual(range(11, 15));
    expect(before).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    expect(indexes(pageOf(LIST, { limit: '100', before: address(2) }).items)).toEqual([0, 1]);
  });

  test('goes on from its place although values moved and the vault is gone', () => {
    const { pageInfo } = pageOf(LIST, { limit: '10' });
    // The vault of the cursor now is the smallest, and another one has left.
    const moved = [...LIST.filter((_, index) => index !== 9 && index !== 12), vault(9, 1n)];
    const { items } = pageOf(moved, { limit: '3', after: pageInfo.endCursor });
    expect(indexes(items)).toEqual([10, 11, 13]);
    const gone = LIST.filter((_, index) => index !== 9);
    expect(indexes(pageOf(gone, { limit: '2', after: pageInfo.endCursor }).items)).toEqual([10, 11]);
  });

  test('its cursor says what it is made of', () => {
    const { endCursor } = pageOf(LIST, { limit: '1' }).pageInfo;
    expect(JSON.parse(Buffer.from(endCursor, 'base64url').toString())).toEqual({ v: 1, tvl: '1000', addr: address(0) });
    expect(pageOf([], { limit: '1' }).pageInfo).toMatchObject({ startCursor: '', endCursor: '' });
  });

  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  test.each([
    { limit: '0' },
    { limit: '101' },
    { limit: 'ten' },
    { after: 'nonsense' },
    { after: address(99) },
    { before: address(99) },
    { after: address(1), before: address(5) },
    { after: encoded({ v: 2, tvl: '1', addr: address(1) }) },
    { after: encoded({ v: 1, tvl: '-1', addr: address(1) }) },
    { after: encoded({ v: 1, tvl: '1', addr: '0x12' }) },
    { after: encoded({ v: 1, tvl: 1, addr: address(1) }) },
    { after: encoded(null) },
    { after: encoded([1]) },
    { after: encoded({ v: 1, tvl: '1', addr: address(1), more: 'x'.repeat(1000) }) },
  ])('%j is refused', (options) => {
    expect(() => pageOf(LIST, options)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID' }));
  });
});
