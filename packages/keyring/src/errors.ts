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
] as const;

export type KeyringErrorCode = (typeof KEYRING_ERROR_CODES)[number];

/** The only error the keyring throws on purpose. Its message never holds key material or plaintext. */
export class KeyringError extends Error {
  override readonly name = 'KeyringError';
  readonly code: KeyringErrorCode;

  constructor(code: KeyringErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** One message for every failed opening: which of the bound values was wrong is nobody's business. */
export function notOpened(): KeyringError {
  return new KeyringError('NOT_OPENED', 'the sealed bytes do not open with this key and binding');
}

export function closed(): KeyringError {
  return new KeyringError('INVALID_INPUT', 'the keyring is closed');
}
