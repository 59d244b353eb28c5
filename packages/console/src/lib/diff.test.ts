import { describe, expect, test } from 'vitest';
import { diffLines, expressionLines } from './diff.ts';

const written = (before: string, after: string): readonly string[] =>
  diffLines(expressionLines(before), expressionLines(after)).map(
    ({ sign, number, parts }) =>
      `${number}${sign}${parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')}`,
  );

describe('expressions as lines', () => {
  test('one line for each part of the outermost level', () => {
    expect(expressionLines("a == 'x && y' && (b || c) && d['&&'] == 1")).toEqual([
      "a == 'x && y'",
      '&& (b || c)',
      "&& d['&&'] == 1",
    ]);
  });

  test('lines of its own stay', () => {
    expect(expressionLines('a\n&& b')).toEqual(['a', '&& b']);
    expect(expressionLines('')).toEqual([]);
  });

  test('an escaped quote does not end a text', () => {
    expect(expressionLines("a == 'it\\'s && b' && c")).toEqual(["a == 'it\\'s && b'", '&& c']);
  });
});

describe('differences', () => {
  test('a changed number is marked in both lines', () => {
    expect(written('a == 1 && amount <= 1000', 'a == 1 && amount <= 5000')).toEqual([
      '1 a == 1',
      '2-&& amount <= [1000]',
      '2+&& amount <= [5000]',
    ]);
  });

  test('a removed line before a changed one is wholly marked', () => {
    expect(written("to in ['x'] && amount <= 1", 'amount <= 2')).toEqual([
      "1-[to in ['x']]",
      '2-[&& ]amount <= [1]',
      '1+amount <= [2]',
    ]);
  });

  test('everything is new where nothing was', () => {
    expect(written('', 'a && b')).toEqual(['1+[a]', '2+[&& b]']);
    expect(written('a', '')).toEqual(['1-[a]']);
    expect(written('a', 'a')).toEqual(['1 a']);
  });

  test('very long texts are answered at once', () => {
    const long = (word: string): readonly string[] => Array.from({ length: 5000 }, (_, index) => `${word}${index}`);
    const started = performance.now();
    expect(diffLines(long('a'), long('b'))).toHaveLength(10_000);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
