import { describe, expect, test } from 'vitest';
import type { ServiceKey } from '../../storage/service-key.ts';
import { KEY_SET_SECONDS, keySet, retiredKeys, SIGNS_AFTER_MS, signingKey } from './keys.ts';

const START = 1_800_000_000_000;
const DAY_MS = 24 * 60 * 60 * 1000;

const key = (keyId: string, signsFromMs: number, role = 'webhook-signer'): ServiceKey => ({
  role,
  keyId,
  publicKey: '4c6d3478d662f0c6bdcfedf83f6489d8ee01a4423e8fe7c8590721a96a6b3092',
  encoding: 'raw',
  sealedKey: new Uint8Array(),
  signsFromMs,
  createdAtMs: signsFromMs,
});
const kids = (keys: readonly ServiceKey[], nowMs: number) => keySet(keys, nowMs, false).keys.map(({ kid }) => kid);

describe('a rotation by the clock alone', () => {
  const signsFromMs = START + SIGNS_AFTER_MS;
  const keys = [key('new', signsFromMs), key('old', START - DAY_MS), key('other', START, 'otp')];

  test('both are published before the new one signs, for longer than caches keep the key set', () => {
    expect(kids(keys, START)).toEqual(['old', 'new']);
    expect(signingKey(keys, START)).toBe('old');
    expect(signingKey(keys, signsFromMs - 1)).toBe('old');
    expect(SIGNS_AFTER_MS).toBeGreaterThanOrEqual(2 * KEY_SET_SECONDS * 1000);
  });

  test('then the new one signs, and the old one stays published for a day', () => {
    expect(signingKey(keys, signsFromMs)).toBe('new');
    expect(kids(keys, signsFromMs + DAY_MS - 1)).toEqual(['old', 'new']);
    expect(retiredKeys(keys, signsFromMs + DAY_MS - 1)).toEqual([]);
    expect(kids(keys, signsFromMs + DAY_MS)).toEqual(['new']);
    expect(retiredKeys(keys, signsFromMs + DAY_MS)).toEqual(['old']);
  });

  test('the only key signs whatever the clock says', () => {
    expect(signingKey([key('first', START)], START - DAY_MS)).toBe('first');
    expect(kids([key('first', START)], START + 1000 * DAY_MS)).toEqual(['first']);
  });
});

test('an entry of the key set says everything that a receiver needs', () => {
  const ours = {
    kid: 'k',
    kty: 'OKP',
    crv: 'Ed25519',
    alg: 'EdDSA',
    use: 'sig',
    x: 'TG00eNZi8Ma9z-34P2SJ2O4BpEI-j-fIWQchqWprMJI',
    service_signature_algorithm: 'ed25519',
    service_signature_version: 'v1',
  };
  expect(keySet([key('k', START)], START, false)).toEqual({ keys: [ours] });
  const vendor = { turnkey_signature_algorithm: 'ed25519', turnkey_signature_version: 'v1' };
  expect(keySet([key('k', START)], START, true)).toEqual({ keys: [{ ...ours, ...vendor }] });
});
