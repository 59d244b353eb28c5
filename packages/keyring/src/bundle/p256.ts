import { Buffer } from 'node:buffer';
import { createECDH, createPrivateKey, createPublicKey, ECDH, type KeyObject, sign, verify } from 'node:crypto';
import { KeyringError } from '../errors.ts';
import { type RandomBytes, systemRandom } from '../seal/envelope.ts';
import { isP256Scalar } from '../sign/p256-scalar.ts';
import { hexOf } from './encoding.ts';

// P-256 of NIST SP 800-186 over OpenSSL. Points are in the encoding of SEC 1, section 2.3.3.

export const SCALAR_BYTES = 32;
export const COMPRESSED_BYTES = 33;
export const UNCOMPRESSED_BYTES = 65;
const SIGNATURE_BYTES = 64;

const CURVE = 'prime256v1';

/** Public keys that were found to be points, oldest first; they are no secrets. */
const points = new Map<string, string>();
const POINTS_MAX = 1000;

// RFC 5915, ECPrivateKey: version 1, the scalar, the name of the curve, the uncompressed point. Unlike a JWK, whose
// members are strings, it can be wiped after the import.
const SEC1_SCALAR_HEADER = Buffer.from('30770201010420', 'hex');
const SEC1_POINT_HEADER = Buffer.from('a00a06082a8648ce3d030107a144034200', 'hex');

/** A signing key ready for use. To import one costs several signatures: whoever signs often keeps it. */
export interface SigningKey {
  readonly key: KeyObject;
  /** SEC1 uncompressed. */
  readonly publicKey: Uint8Array;
}

/** The 32 bytes of a private key, or the key imported from them. The caller owns and wipes the bytes. */
export type Signer = Uint8Array | SigningKey;

/** One half of a Diffie-Hellman exchange. Its private key is held by OpenSSL, which clears it when it lets go of it. */
export interface Agreement {
  /** SEC1 uncompressed. */
  readonly publicKey: Uint8Array;
  /** The x-coordinate of the point shared with an uncompressed key, in 32 bytes. The caller wipes it. */
  computeSecret(publicKey: Uint8Array): Uint8Array;
}

/** Whether the bytes have the shape of an uncompressed point. Whether they are on the curve is another question. */
export function isUncompressed(bytes: Uint8Array): boolean {
  return bytes.length === UNCOMPRESSED_BYTES && bytes[0] === 0x04;
}

function isCompressed(bytes: Uint8Array): boolean {
  return bytes.length === COMPRESSED_BYTES && (bytes[0] === 0x02 || bytes[0] === 0x03);
}

/** The uncompressed form of a point given in either form. Refuses infinity, hybrid forms and points off the curve. */
export function uncompressPoint(bytes: Uint8Array): Uint8Array {
  if (!isCompressed(bytes) && !isUncompressed(bytes)) throw badPoint();
  return convert(bytes, 'uncompressed');
}

/** The compressed form of a point given in either form, with the same refusals. */
export function compressPoint(bytes: Uint8Array): Uint8Array {
  if (!isCompressed(bytes) && !isUncompressed(bytes)) throw badPoint();
  return convert(bytes, 'compressed');
}

/**
 * The digits of the compressed form of a client's public key. The check that it is a point takes as long as a signature,
 * depends on the bytes alone, and devices log in with the same key again and again (docs/decisions/0055).
 */
export function compressedHex(bytes: Uint8Array): string {
  const given = hexOf(bytes);
  const known = points.get(given);
  if (known !== undefined) return known;
  const compressed = hexOf(compressPoint(bytes));
  if (points.size >= POINTS_MAX)
    for (const oldest of points.keys()) {
      points.delete(oldest);
      break;
    }
  points.set(given, compressed);
  return compressed;
}

/** FIPS 186-5, A.2.2: random scalars until one is in range. The caller owns and wipes it. */
export function generatePrivateKey(random: RandomBytes = systemRandom): Uint8Array {
  for (;;) {
    const scalar = random(SCALAR_BYTES);
    if (isP256Scalar(scalar)) return scalar;
  }
}

/** SEC1 uncompressed. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return agreementOf(privateKey).publicKey;
}

export function agreementOf(privateKey: Uint8Array): Agreement {
  checkPrivateKey(privateKey);
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(privateKey);
  return agreement(ecdh);
}

/** A fresh key whose private half never enters the memory of JavaScript. */
export function newAgreement(): Agreement {
  const ecdh = createECDH(CURVE);
  ecdh.generateKeys();
  return agreement(ecdh);
}

export function importSigningKey(privateKey: Uint8Array): SigningKey {
  const publicKey = publicKeyOf(privateKey);
  const scalarEnd = SEC1_SCALAR_HEADER.length + SCALAR_BYTES;
  const der = Buffer.alloc(scalarEnd + SEC1_POINT_HEADER.length + UNCOMPRESSED_BYTES);
  try {
    der.set(SEC1_SCALAR_HEADER);
    der.set(privateKey, SEC1_SCALAR_HEADER.length);
    der.set(SEC1_POINT_HEADER, scalarEnd);
    der.set(publicKey, scalarEnd + SEC1_POINT_HEADER.length);
    return { key: createPrivateKey({ key: der, format: 'der', type: 'sec1' }), publicKey };
  } finally {
    der.fill(0);
  }
}

export function signingKeyOf(signer: Signer): SigningKey {
  return signer instanceof Uint8Array ? importSigningKey(signer) : signer;
}

/** ECDSA over SHA-256 of the message, in DER or as r and s of 32 bytes each. */
export function signMessage(signer: Signer, message: Uint8Array, encoding: 'der' | 'raw'): Uint8Array {
  const { key } = signingKeyOf(signer);
  return sign('sha256', message, { key, dsaEncoding: encoding === 'der' ? 'der' : 'ieee-p1363' });
}

/** Whether r and s of 32 bytes each are a signature of SHA-256 of the message. A high s is as good as a low one. */
export function verifyMessage(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false;
  const point = Buffer.from(uncompressPoint(publicKey));
  const x = point.toString('base64url', 1, 33);
  const y = point.toString('base64url', 33);
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  return verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

function agreement(ecdh: ECDH): Agreement {
  return {
    publicKey: ecdh.getPublicKey(),
    computeSecret(publicKey) {
      if (!isUncompressed(publicKey)) throw badPoint();
      try {
        // SEC 1, 3.2.2.1: OpenSSL refuses coordinates that are not on the curve, whose cofactor is 1.
        return ecdh.computeSecret(publicKey);
      } catch {
        throw badPoint();
      }
    },
  };
}

/** OpenSSL refuses an encoding that is not a point of the curve. */
function convert(bytes: Uint8Array, form: 'compressed' | 'uncompressed'): Uint8Array {
  try {
    return ECDH.convertKey(bytes, CURVE, undefined, undefined, form) as Uint8Array;
  } catch {
    throw badPoint();
  }
}

function checkPrivateKey(bytes: Uint8Array): void {
  if (!isP256Scalar(bytes)) throw new KeyringError('INVALID_INPUT', 'the private key is not one of P-256');
}

function badPoint(): KeyringError {
  return new KeyringError('INVALID_INPUT', 'the public key is not a point of P-256');
}
