import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addP256Scalars,
  isHighP256Scalar,
  isP256Scalar,
  negateP256Scalar,
  p256SignatureScalar,
  reduceP256Scalar,
} from './p256-scalar.ts';

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const bytes = (number: bigint): Uint8Array => new Uint8Array(Buffer.from(number.toString(16).padStart(64, '0'), 'hex'));
const number = (array: Uint8Array): bigint => BigInt(`0x${Buffer.from(array).toString('hex')}`);

const TOP = 2n ** 256n;
const EDGES = [0n, 1n, 2n, 3n, ORDER >> 1n, (ORDER >> 1n) + 1n, ORDER - 2n, ORDER - 1n, 2n ** 128n - 1n, 2n ** 224n];
const ABOVE = [ORDER, ORDER + 1n, TOP - ORDER, TOP - 2n, TOP - 1n];
const any = fc.oneof(
  fc.bigInt({ min: 0n, max: TOP - 1n }),
  fc.constantFrom(...EDGES, ...ABOVE),
  fc.nat({ max: 255 }).map((bit) => 1n << BigInt(bit)),
  fc.nat({ max: 255 }).map((bit) => (1n << BigInt(bit)) - 1n),
);
const scalar = any.map((value) => (value % (ORDER - 1n)) + 1n);

/** Square and multiply on whole numbers. */
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n, square = (square * square) % ORDER) {
    if (rest & 1n) result = (result * square) % ORDER;
  }
  return result;
}

test('the range of scalars', () => {
  for (const value of EDGES) expect(isP256Scalar(bytes(value))).toBe(value !== 0n);
  for (const value of ABOVE) expect(isP256Scalar(bytes(value))).toBe(value < ORDER);
  fc.assert(fc.property(any, (value) => isP256Scalar(bytes(value)) === (value > 0n && value < ORDER)));
  for (const wrong of [new Uint8Array(31).fill(1), new Uint8Array(33).fill(1), [1], 'text', null]) {
    expect(isP256Scalar(wrong as Uint8Array)).toBe(false);
  }
});

test('sums', () => {
  fc.assert(
    fc.property(scalar, any, (a, b) => {
      const sum = addP256Scalars(bytes(a), bytes(b));
      const expected = (a + b) % ORDER;
      if (b >= ORDER || expected === 0n) expect(sum).toBeUndefined();
      else expect(number(sum!)).toBe(expected);
    }),
    { numRuns: 1000 },
  );
  expect(addP256Scalars(bytes(5n), bytes(ORDER - 5n))).toBeUndefined();
  expect(number(addP256Scalars(bytes(ORDER - 1n), bytes(ORDER - 1n))!)).toBe(ORDER - 2n);
  expect(number(addP256Scalars(bytes(7n), bytes(0n))!)).toBe(7n);
});

test('reduction', () => {
  fc.assert(fc.property(any, (value) => number(reduceP256Scalar(bytes(value))) === value % ORDER));
});

test('the second half of a signature', () => {
  fc.assert(
    fc.property(scalar, any, scalar, scalar, (k, z, r, d) => {
      const expected = (power(k, ORDER - 2n) * (z + r * d)) % ORDER;
      expect(number(p256SignatureScalar(bytes(k), bytes(z), bytes(r), bytes(d)))).toBe(expected);
    }),
    { numRuns: 500 },
  );
});

test('high and low', () => {
  const half = ORDER / 2n;
  expect(isHighP256Scalar(bytes(half))).toBe(false);
  expect(isHighP256Scalar(bytes(half + 1n))).toBe(true);
  fc.assert(fc.property(scalar, (value) => number(negateP256Scalar(bytes(value))) === ORDER - value));
});

test('no input is changed', () => {
  const inputs = [5n, 6n, 7n, 8n].map(bytes);
  const [k, z, r, d] = inputs as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  p256SignatureScalar(k, z, r, d);
  addP256Scalars(k, z);
  reduceP256Scalar(r);
  expect(inputs.map(number)).toEqual([5n, 6n, 7n, 8n]);
});
