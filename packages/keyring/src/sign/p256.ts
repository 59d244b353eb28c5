import { createECDH, createHmac } from 'node:crypto';
import { checkLength, invalid, type PointForm } from '../derive/check.ts';
import {
  isHighP256Scalar,
  isP256Scalar,
  negateP256Scalar,
  p256SignatureScalar,
  reduceP256Scalar,
} from './p256-scalar.ts';
import type { Signature } from './signature.ts';

export function p256PublicKey(privateKey: Uint8Array, form: PointForm = 'compressed'): Uint8Array {
  checkKey(privateKey);
  return pointOf(privateKey, form);
}

/**
 * ECDSA over a digest (FIPS 186-5, 6.4.1) with the nonce of RFC 6979 and low-S. node:crypto signs only what it has
 * hashed itself and with a nonce of its own, so it does the multiplication of the curve here and p256-scalar.ts the
 * rest.
 */
export function signEcdsaP256(digest: Uint8Array, privateKey: Uint8Array): Signature {
  checkLength(digest, 32, 'a digest');
  checkKey(privateKey);
  return withNonce(digest, privateKey, (nonce) => {
    const point = pointOf(nonce, 'uncompressed');
    const x = point.subarray(1, 33);
    // An x that is not below n (probability 2^-128) would need more than a parity to find the point again.
    if (!isP256Scalar(x)) return undefined;
    const r = new Uint8Array(x);
    const s = p256SignatureScalar(nonce, digest, r, privateKey);
    if (!isP256Scalar(s)) return undefined;
    const odd = (point[64] as number) & 1;
    if (!isHighP256Scalar(s)) return { r, s, v: odd as 0 | 1 };
    // -s belongs to the nonce -k, whose point has the other y.
    return { r, s: negateP256Scalar(s), v: (odd ^ 1) as 0 | 1 };
  });
}

/** RFC 6979, 3.2, with HMAC-SHA-256: hands over one nonce after another until one is good, and wipes all of them. */
function withNonce<T>(digest: Uint8Array, privateKey: Uint8Array, use: (nonce: Uint8Array) => T | undefined): T {
  const reduced = reduceP256Scalar(digest);
  let value: Uint8Array = new Uint8Array(32).fill(1);
  let key: Uint8Array = new Uint8Array(32);
  const step = (...parts: readonly Uint8Array[]): Uint8Array => {
    const hmac = createHmac('sha256', key);
    for (const part of parts) hmac.update(part);
    return hmac.digest();
  };
  const nextKey = (...parts: readonly Uint8Array[]): void => {
    const next = step(value, ...parts);
    key.fill(0);
    key = next;
  };
  const nextValue = (): void => {
    const next = step(value);
    value.fill(0);
    value = next;
  };
  try {
    // Steps d to g.
    nextKey(Uint8Array.of(0), privateKey, reduced);
    nextValue();
    nextKey(Uint8Array.of(1), privateKey, reduced);
    nextValue();
    // Step h. One HMAC has as many bits as n.
    for (;;) {
      nextValue();
      const result = isP256Scalar(value) ? use(value) : undefined;
      if (result !== undefined) return result;
      nextKey(Uint8Array.of(0));
      nextValue();
    }
  } finally {
    key.fill(0);
    value.fill(0);
  }
}

/** OpenSSL multiplies the generator of this curve in constant time. */
function pointOf(scalar: Uint8Array, form: PointForm): Uint8Array {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(scalar);
  return new Uint8Array(ecdh.getPublicKey(null, form));
}

function checkKey(privateKey: Uint8Array): void {
  if (!isP256Scalar(privateKey)) throw invalid('not a P-256 private key');
}
