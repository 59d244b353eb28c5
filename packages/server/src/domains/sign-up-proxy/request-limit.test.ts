import { expect, test } from 'vitest';
import { clientOf, RequestLimit } from './request-limit.ts';

const REFUSAL = { code: 'RATE_LIMIT_EXCEEDED', message: 'too many' } as const;
const refused = expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED' });

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['nonsense', undefined],
  [undefined, undefined],
])('the client of %s', (address, client) => {
  expect(clientOf(address)).toBe(client);
});

test('so many calls in a minute, and then the next minute', () => {
  let nowMs = 1_000_000;
  const limit = new RequestLimit(2, () => nowMs, REFUSAL);
  limit.take('203.0.113.9');
  limit.take('203.0.113.9');
  nowMs += 20_000;
  expect(() => limit.take('203.0.113.9')).toThrow(expect.objectContaining({ retryAfterSeconds: 40 }));
  limit.take('203.0.113.10');
  nowMs += 40_000;
  limit.take('203.0.113.9');
});

test('those whose address nobody knows share one share', () => {
  const limit = new RequestLimit(1, () => 1_000_000, REFUSAL);
  limit.take(undefined);
  expect(() => limit.take(undefined)).toThrow(refused);
  expect(() => limit.take('what')).toThrow(refused);
  limit.take('203.0.113.9');
});

test('a clock that goes back does not lock anybody out', () => {
  let nowMs = 1_000_000;
  const limit = new RequestLimit(1, () => nowMs, REFUSAL);
  limit.take('203.0.113.9');
  nowMs -= 500_000;
  limit.take('203.0.113.9');
});

test('what costs as much as several counts as several, and is let in itself', () => {
  const limit = new RequestLimit(5, () => 1_000_000, REFUSAL);
  limit.take('203.0.113.9');
  limit.addCost('203.0.113.9', 3);
  limit.take('203.0.113.9');
  limit.addCost('203.0.113.9', 100);
  expect(() => limit.take('203.0.113.9')).toThrow(refused);
  limit.take('203.0.113.10');
});

test('0 turns it off', () => {
  const limit = new RequestLimit(0, () => 0, REFUSAL);
  limit.addCost('203.0.113.9', 1);
  for (let index = 0; index < 1000; index += 1) limit.take('203.0.113.9');
});

test('callers from very many addresses give nobody a new share', () => {
  const limit = new RequestLimit(1, () => 1_000_000, REFUSAL);
  const victim = '203.0.113.9';
  limit.take(victim);
  expect(() => limit.take(victim)).toThrow(refused);
  for (let index = 0; index < 99_999; index += 1) {
    limit.take(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
  }
  // There is no room for more: those who were there keep their count, and those who come share one.
  expect(() => limit.take(victim)).toThrow(refused);
  expect(() => limit.take('10.0.0.0')).toThrow(refused);
  limit.take('198.51.100.1');
  expect(() => limit.take('198.51.100.2')).toThrow(refused);
});
