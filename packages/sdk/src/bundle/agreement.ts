import { type Bytes, concat, fromBase64url, fromHex, toBase64url } from '../bytes.ts';
import { invalidKey } from '../p256.ts';

const CURVE = { name: 'ECDH', namedCurve: 'P-256' } as const;

/** One half of a Diffie-Hellman exchange on P-256. */
export interface Agreement {
  /** SEC1 uncompressed. */
  readonly publicKey: Bytes;
  readonly privateKey: CryptoKey;
}

/** A fresh key. The private half can be read again only if asked for. */
export async function newAgreement(isExtractable = false): Promise<Agreement> {
  const { publicKey, privateKey } = await globalThis.crypto.subtle.generateKey(CURVE, isExtractable, ['deriveBits']);
  return { publicKey: new Uint8Array(await globalThis.crypto.subtle.exportKey('raw', publicKey)), privateKey };
}

/** The 32 bytes of a private key that was made to be read again. */
export async function privateBytes({ privateKey }: Agreement): Promise<Bytes> {
  const { d = '' } = await globalThis.crypto.subtle.exportKey('jwk', privateKey);
  return fromBase64url(d) as Bytes;
}

/** The key whose private half is 32 bytes in hex. */
export async function readAgreement(privateKey: string): Promise<Agreement> {
  const scalar = fromHex(privateKey);
  if (scalar?.length !== 32) throw invalidKey('the private key is not 32 bytes in hex');
  // WebCrypto cannot compute a public key. Loaded here, so that only who opens bundles needs the package.
  const { p256 } = await import('@noble/curves/nist.js');
  if (!p256.utils.isValidSecretKey(scalar)) throw invalidKey('the private key is not one of P-256');
  const publicKey = concat(p256.getPublicKey(scalar, false));
  const [x, y] = [toBase64url(publicKey.subarray(1, 33)), toBase64url(publicKey.subarray(33))];
  const jwk = { kty: 'EC', crv: 'P-256', x, y, d: toBase64url(scalar) };
  scalar.fill(0);
  return {
    publicKey,
    privateKey: await globalThis.crypto.subtle.importKey('jwk', jwk, CURVE, false, ['deriveBits']),
  };
}

/** The x-coordinate of the shared point. The caller wipes it. */
export async function agree(own: Agreement, peer: Bytes): Promise<Bytes> {
  const { subtle } = globalThis.crypto;
  const peerKey = await subtle.importKey('raw', peer, CURVE, false, []);
  return new Uint8Array(await subtle.deriveBits({ name: 'ECDH', public: peerKey }, own.privateKey, 256));
}
