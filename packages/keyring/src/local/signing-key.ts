import type { KeyNode } from '../derive/node.ts';
import { KeyringError } from '../errors.ts';
import type { Holder, SigningKey } from '../keyring.ts';
import { KIND } from '../kinds.ts';
import { decodePrivateKey } from '../material.ts';
import type { Keys } from './keys.ts';

/** Lends a private key for one synchronous use; that of an account as the node that is kept for the next one. */
export function withSigningKey<T>(
  keys: Keys,
  holder: Holder,
  key: SigningKey,
  use: (key: Uint8Array, kept?: KeyNode) => T,
): T | Promise<T> {
  if (key.kind === 'wallet') return keys.wallets.lendSigner(holder, key, (node) => use(node.privateKey(), node));
  return keys.unseal(holder, KIND.privateKey, key.sealed, (bytes) => {
    const found = decodePrivateKey(bytes);
    if (found.curve !== key.curve) throw new KeyringError('INVALID_KEY', `the key is not one of ${key.curve}`);
    return use(found.key);
  });
}
