import { deserialize } from 'node:v8';
import type { Method } from '../calls/call.ts';
import { METHODS, transportOf } from '../calls/table.ts';
import { KEYRING_ERROR_CODES, KeyringError } from '../errors.ts';
import type { Refusal } from './channel.ts';

// What crosses the lines between a service and its keyring process: SPEC.md, section 8.

/** What comes back on a line. A ring has no call: it was read again and is another. */
export const ANSWER = { value: 0, refusal: 1, ring: 2 } as const;

const CODES: ReadonlySet<unknown> = new Set(KEYRING_ERROR_CODES);
const ARGUMENTS_MAX = 8;
const NUMBERS: ReadonlyMap<Method, number> = new Map(METHODS.map((method, number) => [method, number]));
/** A call that does not exist is read like any other, and then refused. */
const UNKNOWN_BYTES_MAX = 8 * 1024 * 1024;
/** More than any answer has: a list of accounts, or what was sealed. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export const numberOf = (method: Method): number => NUMBERS.get(method) as number;

export function methodOf(number: number): Method {
  const method = METHODS[number];
  if (method === undefined) throw new KeyringError('INVALID_INPUT', 'the keyring process has no such method');
  return method;
}

export function bytesMaxOf(number: number): number {
  const method = METHODS[number];
  return method === undefined ? UNKNOWN_BYTES_MAX : transportOf(method).route.bytesMax;
}

/** What each argument must be is checked by the call's entry in the table. */
export function unpackArguments(body: Uint8Array | undefined, bytesMax: number): unknown[] {
  if (body === undefined) throw new KeyringError('INVALID_INPUT', `the body must be at most ${bytesMax} bytes`);
  let value: unknown;
  try {
    value = deserialize(body);
  } catch {
    throw new KeyringError('INVALID_INPUT', 'the arguments cannot be read');
  }
  if (!Array.isArray(value) || value.length > ARGUMENTS_MAX) {
    throw new KeyringError('INVALID_INPUT', `arguments are a list of at most ${ARGUMENTS_MAX}`);
  }
  return value;
}

/** Only a KeyringError says what happened: another error may hold what must not leave. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof KeyringError) {
    const { code, message, retryAfterSeconds } = error;
    return { code, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  }
  return { code: 'UNAVAILABLE', message: 'the call failed inside the keyring' };
}

export function errorOf(refusal: Refusal | undefined): KeyringError {
  const known = refusal !== undefined && CODES.has(refusal.code);
  if (!known) return gone();
  const { code, message, retryAfterSeconds } = refusal;
  return new KeyringError(
    code,
    String(message),
    Number.isSafeInteger(retryAfterSeconds) ? retryAfterSeconds : undefined,
  );
}

export function gone(): KeyringError {
  return new KeyringError('UNAVAILABLE', 'the keyring process is gone or still starting');
}

export function late(): KeyringError {
  return new KeyringError('UNAVAILABLE', 'the keyring did not answer in time');
}

/** With bytes as arrays of their own: unpacked ones are views of a buffer that holds other answers too. */
export function detached(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(detached);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, detached(member)]));
}
