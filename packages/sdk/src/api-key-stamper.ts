import type { ApiKeyPair } from './api-key.ts';
import { type Bytes, fromHex, toBase64url, toHex, toUtf8 } from './bytes.ts';
import { toDer } from './der.ts';
import { CURVE, importPublicKey, invalidKey, readPublicKey, SIGNING } from './p256.ts';
import type { Stamp, Stamper } from './stamper.ts';

const SCHEME = 'SIGNATURE_SCHEME_TK_API_P256';

/** Stamps with a P-256 API key, in Node and in browsers. */
export class ApiKeyStamper implements Stamper {
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
    const signature = toHex(toDer(await sign(await this.#key(), body)));
    const value = JSON.stringify({ publicKey: this.publicKey, scheme: SCHEME, signature });
    return { headerName: 'X-Stamp', headerValue: toBase64url(toUtf8(value)) };
  }
}

const sign = async (key: CryptoKey, body: Bytes): Promise<Bytes> =>
  new Uint8Array(await globalThis.crypto.subtle.sign(SIGNING, key, body));

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
    if (await globalThis.crypto.subtle.verify(SIGNING, verifier, await sign(key, probe), probe)) return key;
  } catch {
    // The reason could quote key material, and the pair is useless either way.
  }
  throw invalidKey('the private key does not belong to the public key');
}
