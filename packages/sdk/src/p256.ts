import { type Bytes, concat, fromBase64url, fromHex, toBase64url, toHex } from './bytes.ts';
import { fromDer } from './der.ts';
import { CustosError } from './errors.ts';

/** SEC 2, 2.4.2: secp256r1. */
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

export const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const;
export const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const;

/** A point of the curve as JSON Web Key members. */
export interface PublicPoint {
  readonly x: string;
  readonly y: string;
}

/** Reads a public key in hex, compressed or not. Browsers do not import compressed points, so y is computed here. */
export function readPublicKey(hex: string): PublicPoint {
  const bytes = fromHex(hex);
  const isCompressed = bytes?.length === 33 && (bytes[0] === 2 || bytes[0] === 3);
  const isPlain = bytes?.length === 65 && bytes[0] === 4;
  if (bytes === undefined || !(isCompressed || isPlain)) throw invalidKey('the public key is not a P-256 key in hex');
  const x = toInteger(bytes.subarray(1, 33));
  const square = ((((x * x - 3n) * x + B) % P) + P) % P;
  const y = isPlain ? toInteger(bytes.subarray(33)) : rootOf(square, bytes[0] === 3);
  if (x >= P || y >= P || (y * y) % P !== square) throw invalidKey('the public key is not a point of P-256');
  return { x: toMember(x), y: toMember(y) };
}

/** The uncompressed bytes of a public key in hex, compressed or not. */
export function uncompress(hex: string): Bytes {
  const { x, y } = readPublicKey(hex);
  return concat(Uint8Array.of(4), fromBase64url(x) as Bytes, fromBase64url(y) as Bytes);
}

/** The compressed hex of an uncompressed key in bytes. */
export const compress = (point: Bytes): string => writePublicKey(point.subarray(1, 33), point.subarray(33));

/** The compressed hex of a point. */
export function writePublicKey(x: Bytes, y: Bytes): string {
  return `${(y[31] ?? 0) & 1 ? '03' : '02'}${toHex(x)}`;
}

export async function importPublicKey({ x, y }: PublicPoint): Promise<CryptoKey> {
  return await globalThis.crypto.subtle.importKey('jwk', { kty: 'EC', crv: 'P-256', x, y }, CURVE, true, ['verify']);
}

/** r and s over SHA-256 of the message. */
export const signWith = async (key: CryptoKey, message: Bytes): Promise<Bytes> =>
  new Uint8Array(await globalThis.crypto.subtle.sign(SIGNING, key, message));

/** Checks a DER signature over a message that is yet to be hashed. */
export async function verifyDer(key: CryptoKey, der: Uint8Array, message: Bytes): Promise<boolean> {
  const signature = fromDer(der);
  return signature !== undefined && (await globalThis.crypto.subtle.verify(SIGNING, key, signature, message));
}

export const invalidKey = (message: string): CustosError => new CustosError('INVALID_KEY', message);

const toInteger = (bytes: Uint8Array): bigint => BigInt(`0x${toHex(bytes)}`);

const toMember = (value: bigint): string => toBase64url(fromHex(value.toString(16).padStart(64, '0')) as Bytes);

/** The root of that parity. P is 3 modulo 4, so that a square root is a power. */
function rootOf(square: bigint, isOdd: boolean): bigint {
  const root = power(square, (P + 1n) / 4n);
  return (root & 1n) === BigInt(isOdd) ? root : P - root;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % P;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}
