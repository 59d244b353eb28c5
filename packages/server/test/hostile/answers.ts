import { expect } from 'vitest';
import { ERROR_CODES } from '../../src/lib/error-codes.ts';
import { ApiError, type ErrorCode } from '../../src/lib/errors.ts';
import type { Answer } from '../harness/client.ts';

const ANSWER_BYTES_MAX = 16 * 1024;

/** What must never reach a caller: stacks, statements, file names, names of libraries. */
const INTERNALS = [
  /\n\s*at /,
  /node_modules/,
  /\.(?:ts|js|mjs):\d/,
  /\bat (?:async )?\S+ \(/,
  /\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE) /,
  /sqlite|postgres|kysely|better-sqlite|pg_/i,
  /\b(?:relation|column|constraint) "/,
  /\/(?:tmp|home|root|usr|work|packages|src|dist)\//,
  /(?:Type|Range|Syntax|Reference)Error/,
];

/** Says what is wrong with an answer that ought to be a documented refusal; undefined if nothing is. */
export function flawOfRefusal({ status, body }: Pick<Answer, 'status' | 'body'>): string | undefined {
  const isNotServed = status === 501 && body?.errorCode === 'UNIMPLEMENTED';
  if (!(status >= 400 && status < 500) && !isNotServed)
    return `status ${status}: ${JSON.stringify(body)?.slice(0, 300)}`;
  if (typeof body !== 'object' || body === null) return `status ${status} without a JSON object`;
  const { code, message, details, errorCode } = body;
  if (typeof message !== 'string' || message.trim() === '') return `status ${status} without a message`;
  if (!Object.hasOwn(ERROR_CODES, errorCode)) return `undocumented errorCode ${errorCode}`;
  const documented = new ApiError(errorCode as ErrorCode, message);
  if (documented.httpStatus !== status) return `${errorCode} with status ${status}`;
  if (documented.grpcCode !== code) return `${errorCode} with code ${code}`;
  if (!Array.isArray(details) || details.some((entry) => typeof entry?.['@type'] !== 'string')) {
    return `${errorCode} with details ${JSON.stringify(details)}`;
  }
  const text = JSON.stringify(body);
  if (text.length > ANSWER_BYTES_MAX) return `${errorCode} with ${text.length} characters`;
  const leak = INTERNALS.find((pattern) => pattern.test(text));
  return leak === undefined ? undefined : `${errorCode} shows internals (${leak}): ${text.slice(0, 300)}`;
}

/** Says what is wrong with an answer that may be a success or a documented refusal. */
export const flawOfAnswer = (answer: Pick<Answer, 'status' | 'body'>): string | undefined =>
  answer.status === 200 && typeof answer.body === 'object' ? undefined : flawOfRefusal(answer);

export function expectRefusal(answer: Pick<Answer, 'status' | 'body'>, errorCode?: ErrorCode): void {
  expect(flawOfRefusal(answer)).toBeUndefined();
  if (errorCode !== undefined) expect(answer.body.errorCode).toBe(errorCode);
}

/**
 * The parts of a refusal that must not tell a foreign id from an unknown one: all but the id of the refused activity.
 */
export const outward = ({ status, body }: Answer): Pick<Answer, 'status' | 'body'> =>
  JSON.parse(JSON.stringify({ status, body }), (key, value) => (key === 'activityId' ? undefined : value));
