/** Every way the keyring can refuse. The list is closed, so that it can cross a process boundary as a string. */
export type KeyringErrorCode =
  | 'ROOT_KEY_MISSING'
  | 'ROOT_KEY_INVALID'
  | 'ROOT_KEY_PERMISSIONS'
  | 'UNKNOWN_ROOT_KEY'
  | 'NOT_OPENED'
  | 'INVALID_INPUT';

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
