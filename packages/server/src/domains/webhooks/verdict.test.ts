import { expect, test } from 'vitest';
import { verdictOf } from './verdict.ts';

test.each([
  ['delivered', [200, 201, 202, 204, 299]],
  ['retry', [429, 500, 502, 503, 504, 599]],
  ['refused', [100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 405, 408, 413, 418, 425, 451]],
  ['gone', [410]],
] as const)('%s: %s', (verdict, statuses) => {
  for (const status of statuses) expect([status, verdictOf({ latencyMs: 1, status })]).toEqual([status, verdict]);
});

test.each([
  ['retry', ['network', 'timeout', 'tls', 'unresolved', 'forbidden-address', 'too-large']],
  ['unsendable', ['bad-url']],
] as const)('without an answer, %s: %s', (verdict, errors) => {
  for (const error of errors) expect([error, verdictOf({ latencyMs: 1, error })]).toEqual([error, verdict]);
});
