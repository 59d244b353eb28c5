// Arithmetic modulo the order n of P-256 for the two places where node:crypto offers none: the sum of SLIP-0010 and the
// second half of ECDSA over a finished digest. Numbers are 12 limbs of 22 bits in doubles, which hold every sum below
// exactly. Apart from yes or no as an answer, no branch and no index depends on a value, and every array is wiped,
// which a
// BigInt could not be.

type Limbs = Float64Array;

const LIMBS = 12;
const BITS = 22;
const BASE = 2 ** BITS;
const BYTES = 32;

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const N = constant(ORDER);
const ONE = constant(1n);
/** R^2 mod n with R = 2^264, which takes a number into Montgomery form. */
const R_SQUARED = constant(2n ** BigInt(2 * LIMBS * BITS) % ORDER);
/** -n^-1 mod 2^22: the product of N[0] and this is -1. */
const N_INVERSE = negativeInverse(Number(ORDER % BigInt(BASE)));
/** n - 2 in hexadecimal digits, the exponent that inverts (Fermat). It is public. */
const EXPONENT = [...(ORDER - 2n).toString(16)].map((digit) => Number.parseInt(digit, 16));

/** Whether these are 32 bytes with a number from 1 to n - 1. */
export function isP256Scalar(bytes: Uint8Array): boolean {
  if (!(bytes instanceof Uint8Array) || bytes.length !== BYTES) return false;
  return withLimbs((make) => {
    const value = read(make(), bytes);
    return borrow(make(), value) === 1 && sumOfLimbs(value) !== 0;
  });
}

/** a + b mod n for a below n; undefined when b is not below n or the sum is 0. */
export function addP256Scalars(a: Uint8Array, b: Uint8Array): Uint8Array | undefined {
  return withLimbs((make) => {
    const second = read(make(), b);
    if (borrow(make(), second) === 0) return undefined;
    const sum = add(make(), read(make(), a), second, make());
    return sumOfLimbs(sum) === 0 ? undefined : write(sum);
  });
}

/** The number of 256 bits modulo n: bits2octets of RFC 6979, 2.3.4, and x of a point as r. */
export function reduceP256Scalar(bytes: Uint8Array): Uint8Array {
  return withLimbs((make) => write(reduce(read(make(), bytes), make())));
}

/** s = k^-1 (z + r d) mod n of ECDSA, all but z below n. */
export function p256SignatureScalar(k: Uint8Array, z: Uint8Array, r: Uint8Array, d: Uint8Array): Uint8Array {
  return withLimbs((make) => {
    const scratch = make();
    const load = (bytes: Uint8Array): Limbs =>
      multiply(make(), reduce(read(make(), bytes), scratch), R_SQUARED, scratch);
    const rd = multiply(make(), load(r), load(d), scratch);
    const sum = add(make(), load(z), rd, scratch);
    const inverse = invert(load(k), make, scratch);
    const product = multiply(make(), inverse, sum, scratch);
    return write(multiply(make(), product, ONE, scratch));
  });
}

/** Whether s is above n / 2. A signature is public, so that time may depend on it. */
export function isHighP256Scalar(s: Uint8Array): boolean {
  return BigInt(`0x${Buffer.from(s).toString('hex')}`) > ORDER / 2n;
}

/** n - s, of a public s. */
export function negateP256Scalar(s: Uint8Array): Uint8Array {
  const negated = ORDER - BigInt(`0x${Buffer.from(s).toString('hex')}`);
  return new Uint8Array(Buffer.from(negated.toString(16).padStart(2 * BYTES, '0'), 'hex'));
}

/** Hands out arrays of zeros and wipes all of them at the end. */
function withLimbs<T>(use: (make: () => Limbs) => T): T {
  const made: Limbs[] = [];
  try {
    return use(() => {
      const limbs = new Float64Array(LIMBS);
      made.push(limbs);
      return limbs;
    });
  } finally {
    for (const limbs of made) limbs.fill(0);
  }
}

/** out = a b R^-1 mod n (Montgomery 1985; the loop is CIOS with carries put off to the end). */
function multiply(out: Limbs, a: Limbs, b: Limbs, scratch: Limbs): Limbs {
  out.fill(0);
  for (let i = 0; i < LIMBS; i += 1) {
    const ai = a[i] as number;
    const first = (out[0] as number) + ai * (b[0] as number);
    const quotient = low(low(first) * N_INVERSE);
    let carry = (first + quotient * (N[0] as number)) / BASE;
    for (let j = 1; j < LIMBS; j += 1) {
      out[j - 1] = (out[j] as number) + ai * (b[j] as number) + quotient * (N[j] as number) + carry;
      carry = 0;
    }
    out[LIMBS - 1] = 0;
  }
  propagate(out);
  return reduce(out, scratch);
}

/** out = a + b mod n. */
function add(out: Limbs, a: Limbs, b: Limbs, scratch: Limbs): Limbs {
  for (let j = 0; j < LIMBS; j += 1) out[j] = (a[j] as number) + (b[j] as number);
  propagate(out);
  return reduce(out, scratch);
}

/** a^(n - 2) for a in Montgomery form, four bits of the exponent at a time. */
function invert(a: Limbs, make: () => Limbs, scratch: Limbs): Limbs {
  const powers = [multiply(make(), ONE, R_SQUARED, scratch), a];
  for (let exponent = 2; exponent < 16; exponent += 1) {
    powers.push(multiply(make(), powers[exponent - 1] as Limbs, a, scratch));
  }
  let result = make();
  let other = make();
  result.set(powers[0] as Limbs);
  for (const digit of EXPONENT) {
    for (let square = 0; square < 4; square += 1) {
      multiply(other, result, result, scratch);
      [result, other] = [other, result];
    }
    multiply(other, result, powers[digit] as Limbs, scratch);
    [result, other] = [other, result];
  }
  return result;
}

/** Takes n away once when the value is not below n, in place. */
function reduce(value: Limbs, scratch: Limbs): Limbs {
  const keep = borrow(scratch, value);
  for (let j = 0; j < LIMBS; j += 1) {
    value[j] = (value[j] as number) * keep + (scratch[j] as number) * (1 - keep);
  }
  return value;
}

/** difference = value - n mod 2^264; answers 1 when value is below n, else 0. */
function borrow(difference: Limbs, value: Limbs): number {
  let taken = 0;
  for (let j = 0; j < LIMBS; j += 1) {
    const limb = (value[j] as number) - (N[j] as number) - taken;
    taken = -Math.floor(limb / BASE);
    difference[j] = limb + taken * BASE;
  }
  return taken;
}

function propagate(value: Limbs): void {
  let carry = 0;
  for (let j = 0; j < LIMBS; j += 1) {
    const limb = (value[j] as number) + carry;
    carry = Math.floor(limb / BASE);
    value[j] = limb - carry * BASE;
  }
}

function low(number: number): number {
  return number - Math.floor(number / BASE) * BASE;
}

function sumOfLimbs(value: Limbs): number {
  let sum = 0;
  for (let j = 0; j < LIMBS; j += 1) sum += value[j] as number;
  return sum;
}

function read(out: Limbs, bytes: Uint8Array): Limbs {
  for (let i = 0; i < BYTES; i += 1) {
    const limb = Math.floor((8 * i) / BITS);
    out[limb] = (out[limb] as number) + (bytes[BYTES - 1 - i] as number) * 2 ** ((8 * i) % BITS);
  }
  propagate(out);
  return out;
}

function write(value: Limbs): Uint8Array {
  const bytes = new Uint8Array(BYTES);
  for (let i = 0; i < BYTES; i += 1) {
    const limb = Math.floor((8 * i) / BITS);
    const pair = (value[limb] as number) + (value[limb + 1] ?? 0) * BASE;
    const shifted = Math.floor(pair / 2 ** ((8 * i) % BITS));
    bytes[BYTES - 1 - i] = shifted - Math.floor(shifted / 256) * 256;
  }
  return bytes;
}

function constant(number: bigint): Limbs {
  const limbs = new Float64Array(LIMBS);
  for (let j = 0; j < LIMBS; j += 1) limbs[j] = Number((number >> BigInt(BITS * j)) % BigInt(BASE));
  return limbs;
}

/** Newton's iteration: the number of right bits doubles with each step. */
function negativeInverse(odd: number): number {
  let inverse = 1;
  for (let bits = 1; bits < BITS; bits *= 2) inverse = low(inverse * low(2 + BASE - low(odd * inverse)));
  return BASE - inverse;
}
