import type { ApiKeyPair } from './api-key.ts';
import { fromHex, toBase64url, toUtf8 } from './bytes.ts';
import { CURVE, importPublicKey, invalidKey, readPublicKey, SIGNING, signWith } from './p256.ts';
import { type Signer, stampBy } from './signer.ts';
import type { Stamp, Stamper } from './stamper.ts';

/** Stamps with a P-256 API key, in Node and in browsers. */
export class ApiKeyStamper implements Stamper, Signer {
  readonly publicKey: string;
  readonly #key: () => Promise<CryptoKey>;

  constructor({ publicKey, privateKey }: ApiKeyPair) {
    this.publicKey = publicKey.toLowerCase();
    let key: Promise<CryptoKey> | undefined;
    this.#key = () => {
      key ??= importPair(publicKey, privateKey);
      return key;
    };
  }

  async stamp(body: Uint8Array<ArrayBuffer>): Promise<Stamp> {
    return await stampBy(this, body);
  }

  async sign(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    return await signWith(await this.#key(), message);
  }
}

async function importPair(publicKey: string, privateKey: string): Promise<CryptoKey> {
  const point = readPublicKey(publicKey);
  const scalar = fromHex(privateKey);
  if (scalar?.length !== 32) throw invalidKey('the private key is not 32 bytes in hex');
  const members = { kty: 'EC', crv: 'P-256', ...point, d: toBase64url(scalar) };
  try {
    const key = await globalThis.crypto.subtle.importKey('jwk', members, CURVE, false, ['sign']);
    // Not every implementation checks that the two halves belong together; the service would only say "not valid".
    const probe = toUtf8('probe');
    const verifier = await importPublicKey(point);
    if (await globalThis.crypto.subtle.verify(SIGNING, verifier, await signWith(key, probe), probe)) return key;
  } catch {
    // The reason could quote key material, and the pair is useless either way.
  }
  throw invalidKey('the private key does not belong to the public key');
}
