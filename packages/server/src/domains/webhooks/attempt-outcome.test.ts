import { expect, test } from 'vitest';
import { outcomeOf } from './attempt-outcome.ts';

test.each([
  ['delivered', [200, 201, 202, 204, 299]],
  ['retry', [429, 500, 502, 503, 504, 599]],
  ['refused', [100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 405, 408, 413, 418, 425, 451]],
  ['gone', [410]],
] as const)('%s: %s', (outcome, statuses) => {
  for (const status of statuses) expect([status, outcomeOf({ latencyMs: 1, status })]).toEqual([status, outcome]);
});

test.each([
  ['retry', ['network', 'timeout', 'tls', 'unresolved', 'forbidden-address', 'too-large']],
  ['unsendable', ['bad-url']],
] as const)('without an answer, %s: %s', (outcome, errors) => {
  for (const error of errors) expect([error, outcomeOf({ latencyMs: 1, error })]).toEqual([error, outcome]);
});
