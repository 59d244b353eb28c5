import fc from 'fast-check';
import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { ApiError } from './errors.ts';
import { decoder } from './shape.ts';

const shape = Type.Object({
  name: Type.String({ minLength: 1, 'x-trim': true, 'x-message': 'must be a name' }),
  id: Type.Optional(Type.String({ pattern: '^[a-f]+$', 'x-lower': true })),
  seconds: Type.Optional(Type.String({ pattern: '^[0-9]+$', 'x-decimal': true, 'x-message': 'must be decimal' })),
  count: Type.Optional(Type.Integer({ minimum: 1 })),
  colour: Type.Optional(Type.Enum(['RED', 'BLUE'])),
  list: Type.Optional(
    Type.Array(Type.Object({ inner: Type.String(), maybe: Type.Optional(Type.Boolean()) }), { maxItems: 2 }),
  ),
});
const decode = decoder(shape);

function violations(value: unknown, root?: string): string[] {
  try {
    decode(value, root);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).toBe('REQUEST_INVALID');
    return error.violations.map(({ field, description }) => `${field}: ${description}`);
  }
  return [];
}

describe('what is accepted', () => {
  test.each<[string, unknown, unknown]>([
    ['as it is', { name: 'a', count: 1 }, { name: 'a', count: 1 }],
    [
      'unknown fields are left out, at every depth',
      { name: 'a', x: 1, list: [{ inner: 'b', y: 2 }] },
      { name: 'a', list: [{ inner: 'b' }] },
    ],
    [
      'null in an optional field is absent',
      { name: 'a', count: null, list: [{ inner: 'b', maybe: null }] },
      { name: 'a', list: [{ inner: 'b' }] },
    ],
    ['an integer for decimal text', { name: 'a', seconds: 90 }, { name: 'a', seconds: '90' }],
    ['trimmed and lower-cased where the shape says so', { name: '  a b ', id: 'ABC' }, { name: 'a b', id: 'abc' }],
  ])('%s', (_what, value, expected) => expect(decode(value)).toEqual(expected));

  test('the value that came in is not touched', () => {
    const value = { name: ' a ', count: null, extra: [1] };
    decode(value);
    expect(value).toEqual({ name: ' a ', count: null, extra: [1] });
  });

  test('members with the names of built-ins are data like any other', () => {
    const value = JSON.parse('{"name":"a","__proto__":{"count":5},"constructor":"x"}');
    expect(decode(value)).toEqual({ name: 'a' });
    expect(Object.getPrototypeOf(decode(value))).toBe(Object.prototype);
  });
});

test('clients that know the text for something missing get exactly that', () => {
  const known = decoder(Type.Object({ code: Type.String({ minLength: 1, 'x-missing': 'code must be set' }) }));
  expect(known({ code: 'a' })).toEqual({ code: 'a' });
  const violations = [{ field: 'parameters.code', description: 'code must be set' }];
  for (const value of [{}, { code: '' }]) {
    expect(() => known(value, 'parameters')).toThrow(
      expect.objectContaining({ code: 'REQUEST_INVALID', message: 'code must be set', violations }),
    );
  }
  expect(() => known({ code: 5 }, 'parameters')).toThrow('parameters.code: must be string');
});

describe('what is refused', () => {
  test.each<[string, unknown, string]>([
    ['missing', {}, 'name: is required'],
    ['null in a required field', { name: null }, 'name:'],
    ['white space only', { name: '   ' }, 'name: must be a name'],
    ['a number for text', { name: 5 }, 'name:'],
    ['text for a number', { name: 'a', count: '1' }, 'count:'],
    ['a fraction for an integer', { name: 'a', count: 1.5 }, 'count:'],
    ['too small', { name: 'a', count: 0 }, 'count:'],
    ['a fraction for decimal text', { name: 'a', seconds: 1.5 }, 'seconds:'],
    ['an integer that is not exact', { name: 'a', seconds: 2 ** 53 }, 'seconds:'],
    ['not decimal', { name: 'a', seconds: 'ten' }, 'seconds: must be decimal'],
    ['no such choice', { name: 'a', colour: 'GREEN' }, 'colour: must be one of RED, BLUE'],
    ['an object for a list', { name: 'a', list: {} }, 'list:'],
    ['too many', { name: 'a', list: [{ inner: 'a' }, { inner: 'b' }, { inner: 'c' }] }, 'list:'],
    ['deep inside', { name: 'a', list: [{ inner: 'a' }, {}] }, 'list.1.inner: is required'],
  ])('%s', (_what, value, start) => {
    const [first = 'accepted'] = violations(value);
    expect(first.startsWith(start), first).toBe(true);
  });

  test('each wrong field is named, below the root it was given', () => {
    const found = violations({ count: 0, colour: 'x', list: [{}] }, 'parameters').map((text) => text.split(':')[0]);
    expect(found.sort()).toEqual([
      'parameters.colour',
      'parameters.count',
      'parameters.list.0.inner',
      'parameters.name',
    ]);
  });

  test('the message names the first one', () => {
    expect(() => decode({}, 'parameters')).toThrow('parameters.name: is required');
    expect(() => decode(5)).toThrow(/^body: /);
  });

  test('a long list of mistakes is cut', () => {
    const many = decoder(Type.Object({ items: Type.Array(Type.String()) }));
    try {
      many({ items: Array.from({ length: 500 }, () => 5) });
      expect.unreachable();
    } catch (error) {
      expect((error as ApiError).violations.length).toBeLessThanOrEqual(20);
    }
  });

  test('any JSON is decoded or refused with the field, never anything else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          decode(value);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
          expect((error as ApiError).violations.length).toBeGreaterThan(0);
        }
      }),
    );
  });
});
