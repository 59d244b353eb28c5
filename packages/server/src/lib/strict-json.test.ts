import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from './errors.ts';
import { type JsonValue, parseStrictJson, redactJson } from './strict-json.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string): JsonValue => parseStrictJson(bytesOf(text));
const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;

function refusal(bytes: Uint8Array): string {
  try {
    parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).toBe('REQUEST_INVALID');
    return error.message;
  }
  throw new Error('the text was accepted');
}

const jsonValue = (): fc.Arbitrary<JsonValue> =>
  fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }) as fc.Arbitrary<JsonValue>;

describe('parseStrictJson', () => {
  test.each([
    ['null', null],
    [' \t\r\n true \t\r\n ', true],
    ['false', false],
    ['0', 0],
    ['-0', -0],
    ['-12', -12],
    ['999999999999999', 999999999999999],
    ['9007199254740991', 9007199254740991],
    ['123456789012345678901234567890', 1.2345678901234568e29],
    ['1.5e3', 1500],
    ['1E+2', 100],
    ['-25e-1', -2.5],
    ['1e-400', 0],
    ['""', ''],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9"', '"\\/\b\f\n\r\tAé'],
    ['"\\ud83d\\ude00 and \\uD83D\\uDE00 and 😀"', '😀 and 😀 and 😀'],
    ['"\\uFFFF\\u0000"', '\uffff\u0000'],
    ['"\u007f\u2028\ufeff"', '\u007f\u2028\ufeff'],
    ['[]', []],
    ['{}', {}],
    ['[1, [2, {"a": []}], {}]', [1, [2, { a: [] }], {}]],
    ['{"a":{"b":1},"b":{"a":2}}', { a: { b: 1 }, b: { a: 2 } }],
    [
      '{"":1,"toString":2,"constructor":3,"hasOwnProperty":4}',
      { '': 1, toString: 2, constructor: 3, hasOwnProperty: 4 },
    ],
  ])('%s is read', (text, expected) => {
    expect(parse(text)).toStrictEqual(expected);
  });

  test.each([
    ['', 'the body is empty'],
    ['  ', 'expected a JSON value at the end of the text, byte 2'],
    ['{"a":1,"a":2}', 'duplicate object key "a" at byte 7'],
    ['{"a":1,"\\u0061":2}', 'duplicate object key "a" at byte 7'],
    ['{"é":1,"\\u00e9":2}', 'duplicate object key "é" at byte 8'],
    ['{"a":null,"a":null}', 'duplicate object key "a" at byte 10'],
    ['{"":1,"":2}', 'duplicate object key "" at byte 6'],
    ['{"1":1,"1":2}', 'duplicate object key "1" at byte 7'],
    ['{"toString":1,"toString":2}', 'duplicate object key "toString" at byte 14'],
    ['{"__proto__":1,"__proto__":2}', 'duplicate object key "__proto__" at byte 15'],
    ['{"__proto__":null,"__proto__":null}', 'duplicate object key "__proto__" at byte 18'],
    ['[{"b":{"a":1,"a":2}}]', 'duplicate object key "a" at byte 13'],
    [`{"${'k'.repeat(70)}":1,"${'k'.repeat(70)}":1}`, `duplicate object key "${'k'.repeat(64)}..." at byte 76`],
    ['"\\ud800"', 'lone surrogate in a string at byte 1'],
    ['"a\\udc00"', 'lone surrogate in a string at byte 2'],
    ['"\\ud800\\u0041"', 'lone surrogate in a string at byte 1'],
    ['"\\ud800\\ud800\\udc00"', 'lone surrogate in a string at byte 1'],
    ['"\\ud83d\\ude00\\ude00"', 'lone surrogate in a string at byte 13'],
    ['"\\ud83d😀"', 'lone surrogate in a string at byte 1'],
    ['"😀\\ude00"', 'lone surrogate in a string at byte 5'],
    ['"\\ud83d\\n"', 'lone surrogate in a string at byte 1'],
    ['{"\\udfff":1}', 'lone surrogate in a string at byte 2'],
    ['\ufeff{}', 'the body starts with a byte-order mark'],
    [' \ufeff{}', 'expected a JSON value at byte 1'],
    ['\u00a01', 'expected a JSON value at byte 0'],
    ['\u00001', 'expected a JSON value at byte 0'],
    ['\v1', 'expected a JSON value at byte 0'],
    ['1e400', 'number out of range at byte 0'],
    ['[-1e400]', 'number out of range at byte 1'],
    [`${'9'.repeat(400)}`, 'number out of range at byte 0'],
    ['01', 'number with a leading zero at byte 0'],
    ['-01', 'number with a leading zero at byte 0'],
    ['1.', 'expected a digit at the end of the text, byte 2'],
    ['.5', 'expected a JSON value at byte 0'],
    ['+1', 'expected a JSON value at byte 0'],
    ['-', 'expected a digit at the end of the text, byte 1'],
    ['1e', 'expected a digit at the end of the text, byte 2'],
    ['1e+', 'expected a digit at the end of the text, byte 3'],
    ['0x10', 'unexpected content after the JSON value at byte 1'],
    ['1n', 'unexpected content after the JSON value at byte 1'],
    ['NaN', 'expected a JSON value at byte 0'],
    ['-Infinity', 'expected a digit at byte 1'],
    ['undefined', 'expected a JSON value at byte 0'],
    ['tru', 'expected a JSON value at byte 0'],
    ['True', 'expected a JSON value at byte 0'],
    ['nulll', 'unexpected content after the JSON value at byte 4'],
    ['{} {}', 'unexpected content after the JSON value at byte 3'],
    ['{}\u0000', 'unexpected content after the JSON value at byte 2'],
    ['[1,]', 'expected a JSON value at byte 3'],
    ['[,1]', 'expected a JSON value at byte 1'],
    ['[1 2]', 'expected a comma or ] at byte 3'],
    ['[1', 'expected a comma or ] at the end of the text, byte 2'],
    ['[1}', 'expected a comma or ] at byte 2'],
    ['{"a":1,}', 'expected an object key in double quotes at byte 7'],
    ["{'a':1}", 'expected an object key in double quotes at byte 1'],
    ['{a:1}', 'expected an object key in double quotes at byte 1'],
    ['{"a" 1}', 'expected a colon after the object key at byte 5'],
    ['{"a"}', 'expected a colon after the object key at byte 4'],
    ['{"a":}', 'expected a JSON value at byte 5'],
    ['{"a":1', 'expected a comma or } at the end of the text, byte 6'],
    ['{', 'expected an object key in double quotes at the end of the text, byte 1'],
    ['"a', 'string without an end at the end of the text, byte 2'],
    ['"a\\', 'string without an end at the end of the text, byte 3'],
    ['"\\n', 'string without an end at the end of the text, byte 3'],
    ['"a\nb"', 'control character in a string at byte 2'],
    ['"\\n\u0000"', 'control character in a string at byte 3'],
    ['"\\x41"', 'unknown escape in a string at byte 1'],
    ['"\\U0041"', 'unknown escape in a string at byte 1'],
    ['"\\u00g1"', '\\u needs four hexadecimal digits at byte 1'],
    ['"\\u004"', '\\u needs four hexadecimal digits at byte 1'],
    ['// note\n1', 'expected a JSON value at byte 0'],
    ['{"é":tru}', 'expected a JSON value at byte 6'],
  ])('%j is refused', (text, message) => {
    expect(refusal(bytesOf(text))).toBe(message);
  });

  test.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22], 1],
    ['a byte that never occurs', [0x22, 0x61, 0xff, 0x22], 2],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22], 1],
    ['an overlong three-byte form', [0x22, 0xe0, 0x80, 0xaf, 0x22], 1],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22], 1],
    ['a code point beyond U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1],
    ['a character that is cut short', [0x22, 0xc3, 0xa9, 0xe2, 0x82], 3],
    ['a UTF-16 byte-order mark', [0xff, 0xfe, 0x31, 0x00], 0],
  ])('invalid UTF-8 is refused: %s', (_name, bytes, offset) => {
    expect(refusal(Uint8Array.from(bytes))).toBe(`the body is not valid UTF-8 at byte ${offset}`);
  });

  test('the offset of invalid UTF-8 is right wherever the damage is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ unit: 'binary' }), (before, after) => {
        const prefix = bytesOf(before);
        const body = Uint8Array.from([...prefix, 0xff, ...bytesOf(after)]);
        expect(refusal(body)).toBe(`the body is not valid UTF-8 at byte ${prefix.length}`);
      }),
    );
  });

  test('nesting is accepted to a depth of 32 and not beyond', () => {
    const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    expect(parse(arrays(32))).toStrictEqual(JSON.parse(arrays(32)));
    expect(parse(objects(32))).toStrictEqual(JSON.parse(objects(32)));
    expect(refusal(bytesOf(arrays(33)))).toBe('nesting deeper than 32 at byte 32');
    expect(refusal(bytesOf(objects(33)))).toBe('nesting deeper than 32 at byte 160');
    expect(refusal(bytesOf('['.repeat(1_000_000)))).toBe('nesting deeper than 32 at byte 32');
  });

  test('__proto__ is an ordinary own property', () => {
    const value = parse('{"__proto__":{"polluted":true},"a":1}') as Record<string, JsonValue>;
    expect(Object.keys(value)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value.polluted).toBeUndefined();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true},"a":1}');
  });

  test('a view into a larger buffer is read within its bounds', () => {
    const whole = bytesOf('xx{"a":"é"}yy');
    expect(parseStrictJson(whole.subarray(2, whole.length - 2))).toStrictEqual({ a: 'é' });
  });

  test('what JSON.stringify writes is read back', () => {
    fc.assert(
      fc.property(jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        // By way of JSON.parse, because JSON has no way to write a negative zero that JSON.stringify uses.
        expect(parse(text)).toStrictEqual(JSON.parse(text));
        expect(JSON.stringify(parse(text))).toBe(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });

  test('random bytes are read as JSON.parse reads them, or refused', () => {
    const check = (bytes: Uint8Array): void => {
      let value: JsonValue;
      try {
        value = parseStrictJson(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
        return;
      }
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      expect(value).toStrictEqual(JSON.parse(text));
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 20 }), check), { numRuns: 500 });
    const token = fc.constantFrom(
      ...'{}[],:"\\ueE+-.019afnrtls \n\t',
      '"a"',
      '"a":',
      'true',
      'null',
      '\\ud83d',
      '\\ude00',
      'é',
    );
    const tokens = fc.array(token, { maxLength: 12 }).map((parts) => bytesOf(parts.join('')));
    fc.assert(fc.property(tokens, check), { numRuns: 5000 });
  });

  test('whatever JSON.parse accepts is refused only for a reason of ours', () => {
    const reasons = /^(duplicate object key|lone surrogate|number out of range|nesting deeper)/;
    const token = fc.constantFrom(
      '"a":',
      '"b":',
      '1',
      '-0',
      '1.5',
      '1e400',
      '"x"',
      '"\\ud83d"',
      '{}',
      '[]',
      'null',
      'true',
    );
    const wrapped = fc.array(token, { maxLength: 6 }).map((parts) => [`{${parts.join('')}}`, `[${parts.join(',')}]`]);
    fc.assert(
      fc.property(wrapped, (texts) => {
        for (const text of texts) {
          let expected: unknown;
          try {
            expected = JSON.parse(text);
          } catch {
            refusal(bytesOf(text));
            continue;
          }
          try {
            expect(parse(text)).toStrictEqual(expected);
          } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            expect(error.message).toMatch(reasons);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('large bodies take time in proportion to their length', () => {
    const members = Array.from({ length: 150_000 }, (_, index) => `"k${index}":${index % 10}`).join(',');
    const hostile = [
      `{${members}}`,
      `"${'a'.repeat(2_000_000)}"`,
      `"${'\\u0041'.repeat(330_000)}"`,
      `[${'{"a":1},'.repeat(250_000)}1]`,
    ];
    for (const text of hostile) {
      // Anything quadratic would take minutes and run into the time-out of the test.
      expect(parseStrictJson(bytesOf(text))).toBeDefined();
    }
    expect(refusal(bytesOf(`{${members},"k0":1}`))).toMatch(/^duplicate object key "k0"/);
  });
});

describe('redactJson', () => {
  const token = 'eyJhbGciOi.J9';
  const path = 'parameters.rootUsers.*.oauthProviders.*.oidcToken';

  test('replaces the value and keeps every other character', () => {
    const providers = `[{"oidcToken" : "${token}", "x":1.0}, {"y":"${token}"}]`;
    const text = `{ "parameters" :\n{"rootUsers":[ {"oauthProviders":${providers}},\t{} ] },"n":1e2}`;
    const expected = text.replace(`"${token}", "x"`, `"${sha256(token)}", "x"`);
    expect(redactJson(text, [path])).toBe(expected);
  });

  test.each([
    ['a string is hashed unescaped', '{"a":"\\u0041\\n\\ud83d\\ude00"}', ['a'], `{"a":"${sha256('A\n😀')}"}`],
    ['an escaped key is the same key', '{"\\u0061":"x"}', ['a'], `{"\\u0061":"${sha256('x')}"}`],
    ['null stays null', '{"a": null}', ['a'], '{"a": null}'],
    ['a number is hashed by its text', '{"a": 1.0 }', ['a'], `{"a": "${sha256('1.0')}" }`],
    ['a boolean is hashed by its text', '[true]', ['*'], `["${sha256('true')}"]`],
    ['an object is hashed by its text', '{"a":{ "b": [1] }}', ['a'], `{"a":"${sha256('{ "b": [1] }')}"}`],
    ['the shorter path wins', '{"a":{"b":"x"}}', ['a.b', 'a'], `{"a":"${sha256('{"b":"x"}')}"}`],
    ['several paths', '{"a":"x","b":"y","c":"z"}', ['a', 'c'], `{"a":"${sha256('x')}","b":"y","c":"${sha256('z')}"}`],
    ['a star is not an object key', '{"*":"x"}', ['*'], '{"*":"x"}'],
    ['a key is not an array index', '["x"]', ['0'], '["x"]'],
    ['a path through a scalar ends', '{"a":"x"}', ['a.b'], '{"a":"x"}'],
    ['nested arrays', '[["x"],[],["y"]]', ['*.*'], `[["${sha256('x')}"],[],["${sha256('y')}"]]`],
    ['no path', ' {"a":"x"} ', [], ' {"a":"x"} '],
    ['every copy of a repeated key', '{"a":"x","a":"y"}', ['a'], `{"a":"${sha256('x')}","a":"${sha256('y')}"}`],
    ['names of the prototype', '{"b":"x"}', ['__proto__.b', 'constructor'], '{"b":"x"}'],
    ['__proto__ as a key', '{"__proto__":"x"}', ['__proto__'], `{"__proto__":"${sha256('x')}"}`],
  ])('%s', (_name, text, paths, expected) => {
    expect(redactJson(text, paths)).toBe(expected);
  });

  test.each(['', '{"a":"x"', '{"a":"x"}}', '{"a" "x"}', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`])(
    'text that is not JSON is refused: %j',
    (text) => {
      expect(() => redactJson(text, ['a.a', 'b'])).toThrow(ApiError);
    },
  );
});

/** The same on a parsed value, one path at a time and the longest first: where two overlap, the shorter one wins. */
function redacted(value: JsonValue, paths: readonly string[]): JsonValue {
  const steps = paths.map((path) => path.split('.')).sort((one, other) => other.length - one.length);
  return steps.reduce(redactedAt, value);
}

function redactedAt(value: JsonValue, [step, ...rest]: readonly string[]): JsonValue {
  if (value === null) return null;
  if (step === undefined) return sha256(typeof value === 'string' ? value : JSON.stringify(value));
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return step === '*' ? value.map((element) => redactedAt(element, rest)) : value;
  const copy = JSON.parse(JSON.stringify(value));
  if (!Object.hasOwn(copy, step) || step === '*') return copy;
  const inner = redactedAt(copy[step], rest);
  Object.defineProperty(copy, step, { value: inner, writable: true, enumerable: true, configurable: true });
  return copy;
}

describe('redactJson on any value', () => {
  const paths = ['a', 'b.a', 'b.*', '*.a', '*.*.b', 'c.*.a', '__proto__.a'];
  const keyed = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', maxDepth: 4 },
      fc.constantFrom<JsonValue>(null, true, 0, 1.5, -3, 1e300, '', 'x', '\u0000"\\é😀'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', '*', '0', '__proto__', 'toString'), tie('value'), { maxKeys: 4 }),
    ) as fc.Arbitrary<JsonValue>,
  })).value;

  test('is the parsed value with the values at the paths replaced', () => {
    fc.assert(
      fc.property(keyed, (value) => {
        const text = JSON.stringify(value);
        expect(parse(redactJson(text, paths))).toStrictEqual(redacted(parse(text), paths));
      }),
      { numRuns: 1000 },
    );
  });

  test('is the same for any spelling where the secrets are strings', () => {
    const text = '{ "a" : "\\u0041" , "b":[ 1.0, {"a":"\\/"} ], "c" : 1e2 }';
    expect(parse(redactJson(text, ['a', 'b.*.a']))).toStrictEqual(redacted(parse(text), ['a', 'b.*.a']));
  });
});
