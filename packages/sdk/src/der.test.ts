import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromDer, toDer } from './der.ts';

const component = fc
  .tuple(fc.nat({ max: 31 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  .map(([zeros, bytes]) => Uint8Array.from(bytes, (byte, index) => (index < zeros ? 0 : byte)));

test('every signature survives the way there and back', () => {
  fc.assert(
    fc.property(component, component, (r, s) => {
      const signature = Uint8Array.of(...r, ...s);
      expect(fromDer(toDer(signature))).toEqual(signature);
    }),
  );
});

test('integers are minimal and positive', () => {
  const signature = new Uint8Array(64);
  signature[31] = 1;
  signature.fill(0xff, 32);
  const der = toDer(signature);
  expect([...der.subarray(0, 8)]).toEqual([0x30, 38, 0x02, 1, 1, 0x02, 33, 0]);
});

test('a needless zero is accepted, and nothing else that is not DER', () => {
  const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
  expect(fromDer(bytes(0x30, 7, 2, 2, 0, 5, 2, 1, 7))?.[31]).toBe(5);
  expect(fromDer(bytes(0x30, 6, 2, 1, 0x80, 2, 1, 7))).toBeUndefined();
  expect(fromDer(bytes(0x30, 6, 2, 1, 5, 2, 1, 7, 0))).toBeUndefined();
  expect(fromDer(bytes(0x30, 6, 2, 1, 5, 2, 2, 7))).toBeUndefined();
  expect(fromDer(bytes(0x31, 6, 2, 1, 5, 2, 1, 7))).toBeUndefined();
  expect(fromDer(bytes())).toBeUndefined();
  expect(fromDer(bytes(0x30, 38, 2, 33, ...new Array(33).fill(1), 2, 1, 7))).toBeUndefined();
});
