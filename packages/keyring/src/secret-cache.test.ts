import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SecretCache } from './secret-cache.ts';

interface OrganizationKey {
  readonly key: Uint8Array;
}

const newKey = (): OrganizationKey => ({ key: new Uint8Array(32).fill(7) });
const isWiped = ({ key }: OrganizationKey): boolean => key.every((byte) => byte === 0);

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('a key leaves after its lifetime and is wiped without being asked for', () => {
  const cache = new SecretCache<OrganizationKey>(256, ({ key }) => key.fill(0));
  const first = cache.put('first', newKey());
  vi.advanceTimersByTime(40_000);
  const second = cache.put('second', newKey());
  expect(cache.get('first')).toBe(first);
  vi.advanceTimersByTime(20_000);
  expect([isWiped(first), isWiped(second)]).toEqual([true, false]);
  vi.advanceTimersByTime(40_000);
  expect(isWiped(second)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test('the key that was used longest ago leaves when the cache is full', () => {
  const cache = new SecretCache<OrganizationKey>(256, ({ key }) => key.fill(0));
  const keys = Array.from({ length: 256 }, (_, index) => cache.put(`${index}`, newKey()));
  cache.get('0');
  cache.put('another', newKey());
  expect(isWiped(keys[0] as OrganizationKey)).toBe(false);
  expect(isWiped(keys[1] as OrganizationKey)).toBe(true);
  expect(cache.get('1')).toBeUndefined();
  expect(keys.filter(isWiped)).toHaveLength(1);
});

test('of two keys of one name the first stays and the second is wiped', () => {
  const cache = new SecretCache<OrganizationKey>(256, ({ key }) => key.fill(0));
  const first = cache.put('name', newKey());
  const second = newKey();
  expect(cache.put('name', second)).toBe(first);
  expect([isWiped(first), isWiped(second)]).toEqual([false, true]);
});

test('clear wipes everything and stops the timer', () => {
  const cache = new SecretCache<OrganizationKey>(256, ({ key }) => key.fill(0));
  const key = cache.put('name', newKey());
  cache.clear();
  expect(isWiped(key)).toBe(true);
  expect(cache.get('name')).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});
