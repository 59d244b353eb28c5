import { KeyringError } from '../errors.ts';

/** SEC 1, 2.3.3. Ed25519 keys have one form only. */
export type PointForm = 'compressed' | 'uncompressed';

export function invalid(message: string): KeyringError {
  return new KeyringError('INVALID_INPUT', message);
}

export function checkLength(bytes: unknown, length: number, name: string): asserts bytes is Uint8Array {
  if (!(bytes instanceof Uint8Array) || bytes.length !== length) throw invalid(`${name} must be ${length} bytes`);
}
