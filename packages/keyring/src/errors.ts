/** Every way the keyring can refuse. The list is closed, so that it can cross a process boundary as a string. */
export const KEYRING_ERROR_CODES = [
  'ROOT_KEY_MISSING',
  'ROOT_KEY_INVALID',
  'ROOT_KEY_PERMISSIONS',
  'UNKNOWN_ROOT_KEY',
  /** Sealed bytes that do not open with this key and binding. */
  'NOT_OPENED',
  'INVALID_INPUT',
  /** The text is no mnemonic, or may be two. The message contains `invalid mnemonic`. */
  'INVALID_MNEMONIC',
  /** A bundle that opens with none of its targets, or holds something else than was to be imported. */
  'INVALID_BUNDLE',
  /** Bytes that are no private key of their curve, or a key that is used for another curve or role than its own. */
  'INVALID_KEY',
  /**
   * The keyring process is gone, still starting or has too much to do, or a service key is not loaded: later, again.
   */
  'UNAVAILABLE',
  /** As many exports as a minute may have were made: later, again, after `retryAfterSeconds`. */
  'TOO_MANY_EXPORTS',
  /** One call asks for more exports than a minute may have, so that waiting does not help. */
  'TOO_MANY_EXPORTS_AT_ONCE',
  /** The same of imports. */
  'TOO_MANY_IMPORTS',
  'TOO_MANY_IMPORTS_AT_ONCE',
  /** A call that this line does not have: administration on a service's line, or an export on another thread's. */
  'NOT_ALLOWED',
] as const;

export type KeyringErrorCode = (typeof KEYRING_ERROR_CODES)[number];

/** The only error the keyring throws on purpose. Its message never holds key material or plaintext. */
export class KeyringError extends Error {
  override readonly name = 'KeyringError';
  readonly code: KeyringErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: KeyringErrorCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** One message for every failed opening: which of the bound values was wrong is nobody's business. */
export function notOpened(): KeyringError {
  return new KeyringError('NOT_OPENED', 'the sealed bytes do not open with this key and binding');
}

export function closed(): KeyringError {
  return new KeyringError('INVALID_INPUT', 'the keyring is closed');
}
