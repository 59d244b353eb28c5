import { isUtf8 } from 'node:buffer';
import { NONCE_BYTES, signCoinbaseToken as signToken } from '../bundle/coinbase-token.ts';
import { signMoonpayQuery as signQuery } from '../bundle/moonpay-signature.ts';
import { openOnRampSecret } from '../bundle/on-ramp.ts';
import { openSealedBox } from '../bundle/sealed-box.ts';
import { copyOf } from '../check/shape.ts';
import { KeyringError } from '../errors.ts';
import type { CoinbaseCall, Holder } from '../keyring.ts';
import { KIND } from '../kinds.ts';
import { decodeProviderSecret, encodePlain } from '../material.ts';
import { Secret } from '../secret.ts';
import type { DecryptionRole } from '../service-keys.ts';
import type { Keys } from './keys.ts';
import { tryOpen } from './try-open.ts';

export async function importOauthSecret(keys: Keys, owner: Holder, encrypted: string): Promise<Uint8Array> {
  const opened = openWithAny(keys, 'oauth-secret', (key) => new Secret(openSealedBox(key, encrypted)));
  if (opened === undefined) throw notOpened('client secret', 'uncompressed', 'oauth-secret');
  return opened.use((secret) => {
    // No provider gives out such a secret: whoever encrypted it made a mistake.
    if (secret.length === 0 || !isUtf8(secret)) {
      throw new KeyringError('INVALID_BUNDLE', 'the client secret is empty, or not text');
    }
    return keys.seal(owner, KIND.oauthSecret, encodePlain(secret));
  });
}

export async function lendOauthSecret(keys: Keys, owner: Holder, sealedSecret: Uint8Array): Promise<Uint8Array> {
  return keys.unseal(owner, KIND.oauthSecret, sealedSecret, (bytes) => copyOf(decodeProviderSecret(bytes)));
}

export async function importOnRampSecret(keys: Keys, owner: Holder, encrypted: string): Promise<Uint8Array> {
  const opened = openWithAny(keys, 'on-ramp-secret', (key) => new Secret(openOnRampSecret(key, encrypted)));
  if (opened === undefined) throw notOpened('secret', 'compressed', 'on-ramp-secret');
  return opened.use((secret) => {
    if (secret.length === 0) throw new KeyringError('INVALID_BUNDLE', 'the secret is empty');
    return keys.seal(owner, KIND.onRampSecret, encodePlain(secret));
  });
}

export async function signMoonpayQuery(
  keys: Keys,
  owner: Holder,
  sealedSecret: Uint8Array,
  search: string,
): Promise<string> {
  return keys.unseal(owner, KIND.onRampSecret, sealedSecret, (bytes) => signQuery(decodeProviderSecret(bytes), search));
}

export async function signCoinbaseToken(
  keys: Keys,
  owner: Holder,
  sealedSecret: Uint8Array,
  call: CoinbaseCall,
): Promise<string> {
  return keys.unseal(owner, KIND.onRampSecret, sealedSecret, (bytes) =>
    signToken(decodeProviderSecret(bytes), call, keys.random(NONCE_BYTES)),
  );
}

/** While a key is being replaced clients encrypt to either. */
function openWithAny<T>({ service }: Keys, role: DecryptionRole, open: (key: Uint8Array) => T): T | undefined {
  for (const key of service.decryptionKeys(role)) {
    const opened = tryOpen(() => open(key));
    if (opened !== undefined) return opened;
  }
  return undefined;
}

function notOpened(name: string, encoding: string, role: DecryptionRole): KeyringError {
  return new KeyringError(
    'INVALID_BUNDLE',
    `the ${name} does not open: it must be text, encrypted to the ${encoding} key of the role ${role}`,
  );
}
