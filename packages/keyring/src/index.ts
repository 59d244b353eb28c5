import { type Keyring, LocalKeyring } from './keyring.ts';
import { systemRandom } from './seal/envelope.ts';
import { RootKeyRing } from './seal/root-key.ts';

export { KeyringError, type KeyringErrorCode } from './errors.ts';
export type { Keyring } from './keyring.ts';
export type { Binding } from './seal/layout.ts';

export interface KeyringOptions {
  /** `file:PATH` of the key ring, or `passphrase-file:PATH` of a passphrase, whose ring is `PATH.ring`. */
  readonly rootKey: string;
  /** Create the ring when there is none. Without it a missing ring is an error, never a reason for a new key. */
  readonly create?: boolean;
}

/** Opens the key ring and answers with a keyring that works in this process. */
export async function createKeyring(options: KeyringOptions): Promise<Keyring> {
  const ring = await RootKeyRing.open(options.rootKey, options.create === true, systemRandom);
  return new LocalKeyring(ring, systemRandom);
}
