import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CanonicalValue, canonicalJson } from './canonical-json.ts';

test('names are in the order of their code units, whatever order they came in', () => {
  // RFC 8785, section 3.2.3, with values that name their place.
  const names = { '\u20ac': 3, '\r': 1, '\ufb33': 6, '1': 2, '\ud83d\ude00': 5, '\u0080': 4, ö: 7 };
  expect(canonicalJson(names)).toBe('{"\\r":1,"1":2,"\u0080":4,"ö":7,"€":3,"😀":5,"\ufb33":6}');
  expect(canonicalJson({ b: 1, a: { d: true, c: ['z', 'y'] }, A: '' })).toBe(
    '{"A":"","a":{"c":["z","y"],"d":true},"b":1}',
  );
});

test('texts are escaped where JSON has to, and nowhere else', () => {
  expect(canonicalJson('\u20ac$\u000f\nA\'B"\\\\"/\u2028\u007f')).toBe('"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/\u2028\u007f"');
});

test('what is undefined is left out, and nothing else is', () => {
  expect(canonicalJson({ b: undefined, a: [], c: {}, d: false, e: 0 })).toBe('{"a":[],"c":{},"d":false,"e":0}');
});

test('it says the same as the value, and the same for equal values', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(fc.string({ unit: 'grapheme' }), tie('any'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).any as fc.Arbitrary<CanonicalValue>;
  fc.assert(
    fc.property(value, (one) => {
      const text = canonicalJson(one);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(one)));
      expect(canonicalJson(JSON.parse(text) as CanonicalValue)).toBe(text);
    }),
  );
});
