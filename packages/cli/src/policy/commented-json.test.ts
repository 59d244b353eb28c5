import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonTextError, parseCommentedJson } from './commented-json.ts';

const problemOf = (text: string): string => {
  try {
    parseCommentedJson(text);
  } catch (error) {
    if (error instanceof JsonTextError) return `${error.place.line}:${error.place.column} ${error.message}`;
    throw error;
  }
  return 'none';
};

describe('what it reads', () => {
  test('any JSON, as JSON.parse does', () => {
    const integers = fc.maxSafeInteger();
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'binary' }),
        integers,
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(fc.string(), tie('value')),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (sample, indent) => {
        const text = JSON.stringify(sample, null, indent);
        expect(parseCommentedJson(text).value).toEqual(JSON.parse(text));
      }),
    );
  });

  test('comments, and commas after the last element', () => {
    const text =
      '\uFEFF// first\n{ /* a /* b */ "list": [1, 2, /* last */ ], // to the end\n "url": "http://x/*y*/", }\n//';
    expect(parseCommentedJson(text).value).toEqual({ list: [1, 2], url: 'http://x/*y*/' });
  });

  test('names that every object has', () => {
    expect(Object.keys(parseCommentedJson('{ "__proto__": 1, "toString": 2 }').value as object)).toEqual([
      '__proto__',
      'toString',
    ]);
  });

  test('the place of a value, or of what holds it', () => {
    const { placeOf } = parseCommentedJson('{\n  "a": [\n    "x",\n    { "😀": 1, "b": 2 }\n  ]\n}');
    expect(placeOf(['a', 0])).toEqual({ line: 3, column: 5 });
    expect(placeOf(['a', 1, 'b'])).toEqual({ line: 4, column: 15 });
    expect(placeOf(['a', 1, 'c', 'd'])).toEqual({ line: 4, column: 5 });
    expect(placeOf([])).toEqual({ line: 1, column: 1 });
  });
});

describe('what it refuses', () => {
  test.each([
    ['', '1:1 expected a value, but the text ends here'],
    ['{"a" 1}', "1:6 expected ':'"],
    ['{"a": 1 "b": 2}', "1:9 expected ',' or '}'"],
    ['[1 2]', "1:4 expected ',' or ']'"],
    ['[1,,2]', '1:4 expected a value'],
    ['[,]', '1:2 expected a value'],
    ['{a: 1}', '1:2 expected a name in double quotes'],
    ["{\n 'a': 1}", '2:2 expected a name in double quotes; texts stand in double quotes'],
    ['["a\nb"]', '1:2 this text is not closed on its line'],
    ['["\\x"]', '1:2 this text has an escape that JSON does not know'],
    ['{"a": 1,\n "a": 2}', '2:2 "a" occurs twice'],
    ['[1.5]', '1:2 1.5 is not an integer; write it as a text'],
    ['[0x10]', '1:2 0x10 is not an integer; write it as a text'],
    ['[01]', '1:2 01 is not an integer; write it as a text'],
    ['[9007199254740993]', '1:2 9007199254740993 would be rounded; write it as a text: "9007199254740993"'],
    ['[yes]', '1:2 expected a value; texts stand in double quotes'],
    ['[1] [2]', '1:5 expected nothing more'],
    ['[1 /* ]', '1:4 this comment is never closed'],
    ['['.repeat(70), '1:66 nested more than 64 deep'],
  ])('%j', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });
});
