import { deserialize } from 'node:v8';
import { KEYRING_ERROR_CODES, KeyringError, type KeyringErrorCode } from '../errors.ts';
import { type Keyring, type RingState, WEBHOOKS_LENGTH_MAX, WEBHOOKS_MAX } from '../keyring.ts';

// What crosses the channel and the lines between a service and its keyring process: SPEC.md, section 8.

/** Every call that the process answers, by the threads that it goes to. What is not here does not exist. */
export const ROUTES = {
  /** Whichever thread has the least to do. */
  createOrganizationKey: 'any',
  rewrapOrganizationKey: 'any',
  seal: 'any',
  open: 'any',
  canOpen: 'any',
  createWallet: 'any',
  deriveAccounts: 'any',
  createPrivateKey: 'any',
  sign: 'any',
  exportWallet: 'any',
  exportAccount: 'any',
  exportPrivateKey: 'any',
  createImportTarget: 'any',
  importWallet: 'any',
  importPrivateKey: 'any',
  createSecretTargets: 'any',
  importSecret: 'any',
  exportSecret: 'any',
  createOtp: 'any',
  checkOtp: 'any',
  createCredential: 'any',
  signSession: 'any',
  signVerificationToken: 'any',
  signIdToken: 'any',
  signWebhooks: 'any',
  importOauthSecret: 'any',
  lendOauthSecret: 'any',
  importOnRampSecret: 'any',
  signMoonpayQuery: 'any',
  signCoinbaseToken: 'any',
  createServiceKey: 'any',
  /** Always the same thread, since the pair that signs is made once for each process. */
  signAppProof: 'first',
  /** The first thread writes the ring; then the client makes all read it. */
  addRootKey: 'first',
  removeRootKey: 'first',
  /** Every thread. */
  loadServiceKeys: 'all',
  refreshRing: 'all',
  ping: 'all',
} as const satisfies Partial<Record<keyof Keyring, 'any' | 'first' | 'all'>>;

export type Method = keyof typeof ROUTES;

/** By the numbers that they have on a line. */
export const METHODS = Object.keys(ROUTES) as readonly Method[];
const NUMBERS = Object.fromEntries(METHODS.map((method, number) => [method, number])) as Readonly<
  Record<Method, number>
>;
/** How long a call may take with its wait, in seconds, where it is not SECONDS. */
const OTHER_SECONDS: Partial<Record<Method, number>> = {
  ping: 2,
  // Lists of thousands, which let others in between.
  canOpen: 60,
  createWallet: 60,
  deriveAccounts: 60,
  importWallet: 60,
  signWebhooks: 60,
  // A passphrase is stretched for each key of the ring, and another process may hold the ring's lock.
  loadServiceKeys: 120,
  refreshRing: 120,
  addRootKey: 120,
  removeRootKey: 120,
};
const SECONDS = 10;

export const secondsOf = (method: Method): number => OTHER_SECONDS[method] ?? SECONDS;

/** What comes back on a line. A ring has no call: it was read again and is another. */
export const ANSWER = { value: 0, refusal: 1, ring: 2 } as const;
/** The descriptor of the first thread's line, behind the standard ones and the channel; the others follow. */
export const FIRST_LINE = 4;

const CODES: ReadonlySet<unknown> = new Set(KEYRING_ERROR_CODES);
const ARGUMENTS_MAX = 8;
/** The largest call but one seals 4 MiB. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;
/** More than any answer has: a list of accounts, or what was sealed. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** A character is packed in one byte or in two. The rest is far below 1 KiB for each. */
const WEBHOOKS_BYTES_MAX = 2 * WEBHOOKS_LENGTH_MAX + 1024 * WEBHOOKS_MAX;

/** What the process is started with, as JSON in its arguments. Nothing of it is secret. */
export interface Settings {
  readonly rootKey: string;
  readonly create: boolean;
  readonly threads: number;
  /** By which a process sees that its files are of another version than the service that starts it. */
  readonly methods: readonly string[];
}

export interface Refusal {
  readonly code: KeyringErrorCode;
  readonly message: string;
}

/** What the process says on the channel: `ready` once, or `failed` before its end. */
export type Notice =
  | { readonly type: 'ready'; readonly ring: RingState }
  | { readonly type: 'failed'; readonly refusal: Refusal };

export const numberOf = (method: Method): number => NUMBERS[method];

export function methodOf(number: number): Method {
  const method = METHODS[number];
  if (method === undefined) throw new KeyringError('INVALID_INPUT', 'the keyring process has no such method');
  return method;
}

export const bytesMaxOf = (number: number): number =>
  number === NUMBERS.signWebhooks ? WEBHOOKS_BYTES_MAX : BODY_BYTES_MAX;

/** What each argument must be is checked by the method itself. */
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
  if (error instanceof KeyringError) return { code: error.code, message: error.message };
  return { code: 'UNAVAILABLE', message: 'the call failed inside the keyring' };
}

export function errorOf(refusal: Refusal | undefined): KeyringError {
  const known = refusal !== undefined && CODES.has(refusal.code);
  return known ? new KeyringError(refusal.code, String(refusal.message)) : gone();
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
