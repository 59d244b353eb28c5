import { SERVICE_ROLES } from '@custos/keyring';
import { expect, test } from 'vitest';
import { DAY_MS } from '../lib/clock.ts';
import { LIMITS } from '../lib/limits.ts';
import { byUse, expiredKeys, keyInUse, serviceKeyTimes } from './service-keys.ts';

const START = Date.UTC(2026, 10, 18);
const key = (role: string, keyId: string, signsFromMs: number) => ({ role, keyId, signsFromMs });
const idsOf = (keys: readonly { readonly keyId: string }[]): string[] => keys.map(({ keyId }) => keyId);

test.each(SERVICE_ROLES)('a key of %s is published before it is used, and the one before stays for a while', (role) => {
  const { publishedMs, keptMs } = serviceKeyTimes(role);
  const usedFromMs = START + publishedMs;
  const keys = [key(role, 'old', START - DAY_MS), key(role, 'new', usedFromMs), key('another', 'x', START)];
  const at = (nowMs: number) => [keyInUse(keys, role, nowMs)?.keyId, ...idsOf(byUse(keys, nowMs))];
  expect(at(START)).toEqual(['old', 'old', 'new', 'x']);
  expect(at(usedFromMs - 1)).toEqual(['old', 'old', 'new', 'x']);
  expect(at(usedFromMs)).toEqual(['new', 'new', 'old', 'x']);
  expect(expiredKeys(keys, usedFromMs + keptMs - 1)).toEqual([]);
  expect(at(usedFromMs + keptMs)).toEqual(['new', 'new', 'x']);
  expect(idsOf(expiredKeys(keys, usedFromMs + keptMs))).toEqual(['old']);
});

test('a key outlives what it signed', () => {
  expect(serviceKeyTimes('session-signer').keptMs).toBeGreaterThan(LIMITS.sessionSecondsMax * 1000);
  // CUSTOS_VERIFICATION_SECONDS_MAX is at most 30 days.
  expect(serviceKeyTimes('otp').keptMs).toBeGreaterThan(2_592_000 * 1000);
});
