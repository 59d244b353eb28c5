/** What a person can mend; the message says how. It never holds a secret. */
export class RecoveryError extends Error {
  override readonly name = 'RecoveryError';
}
