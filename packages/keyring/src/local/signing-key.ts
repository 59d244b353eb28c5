import { parsePath } from '../derive/path.ts';
import { KeyringError } from '../errors.ts';
import type { Holder, SigningKey } from '../keyring.ts';
import { KIND } from '../kinds.ts';
import { decodePrivateKey } from '../material.ts';
import type { Keys } from './keys.ts';

/** Lends a private key for one synchronous use. */
export async function withSigningKey<T>(
  keys: Keys,
  holder: Holder,
  key: SigningKey,
  use: (key: Uint8Array) => T,
): Promise<T> {
  if (key.kind === 'wallet') {
    const location = { curve: key.curve, indices: parsePath(key.path) };
    const [result] = await keys.wallets.lend(holder, key.sealed, [location], (_, bytes) => use(bytes));
    return result as T;
  }
  return keys.unseal(holder, KIND.privateKey, key.sealed, (bytes) => {
    const found = decodePrivateKey(bytes);
    if (found.curve !== key.curve) throw new KeyringError('INVALID_KEY', `the key is not one of ${key.curve}`);
    return use(found.key);
  });
}
