import { expect, test } from 'vitest';
import { isStampedBy } from './stamped-by.ts';

const request = (headerName: string, headerValue: string) => ({ path: '/', body: '{}', headerName, headerValue });
const stampOf = (publicKey: string): string =>
  Buffer.from(JSON.stringify({ publicKey, scheme: 'S', signature: '00' })).toString('base64url');

test('only a stamp of the session key speaks of the session', () => {
  expect(isStampedBy(request('X-Stamp', stampOf('02ab')), '02ab')).toBe(true);
  expect(isStampedBy(request('X-Stamp', stampOf('03cd')), '02ab')).toBe(false);
  expect(isStampedBy(request('X-Stamp-WebAuthn', '{}'), '02ab')).toBe(false);
  expect(isStampedBy(request('X-Stamp', 'no stamp'), '02ab')).toBe(false);
});

test('what was not stamped was asked by the session itself', () => {
  expect(isStampedBy(undefined, '02ab')).toBe(true);
});
