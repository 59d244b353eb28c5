import { type Bytes, fromBase64url, toHex } from './bytes.ts';
import { CURVE, writePublicKey } from './p256.ts';

/** A P-256 key pair in the hex form of the API: the public key compressed, the private key 32 bytes. */
export interface ApiKeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

/**
 * Makes a key pair. The public key goes to the service (`createApiKeys`, `createUsers`), the private one never leaves
 * you.
 */
export async function generateApiKey(): Promise<ApiKeyPair> {
  const { privateKey } = await globalThis.crypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const jwk = await globalThis.crypto.subtle.exportKey('jwk', privateKey);
  const member = (name: 'd' | 'x' | 'y'): Bytes => fromBase64url(jwk[name] ?? '') as Bytes;
  return { publicKey: writePublicKey(member('x'), member('y')), privateKey: toHex(member('d')) };
}
