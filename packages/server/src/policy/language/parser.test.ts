import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { POLICY_LIMITS } from '../limits.ts';
import type { Node } from './ast.ts';
import { StaticFailure, toStaticError } from './errors.ts';
import { parseTree } from './parser.ts';
import { printTree } from './printer.ts';

function refusal(text: string): string {
  try {
    parseTree(text);
  } catch (error) {
    if (!(error instanceof StaticFailure)) throw error;
    const { code, line, column, message } = toStaticError(error, text);
    return `${code} ${line}:${column} ${message}`;
  }
  return 'accepted';
}

describe('a refused text is explained at the place of the mistake', () => {
  test.each([
    ['', 'E_SYNTAX 1:1 expected a value, found the end of the expression'],
    ['1 ==', 'E_SYNTAX 1:5 expected a value, found the end of the expression'],
    ['(true', "E_SYNTAX 1:6 expected ')', found the end of the expression"],
    ['[1, 2', "E_SYNTAX 1:6 expected ',' or ']', found the end of the expression"],
    ['[1, 2,]', "E_SYNTAX 1:7 expected a value, found ']'"],
    ['true true', "E_SYNTAX 1:6 expected an operator or the end of the expression, found 'true'"],
    ['a == "b"', 'E_SYNTAX 1:6 unexpected ": strings are written in single quotes'],
    ['a = 1', "E_SYNTAX 1:3 unexpected =: equality is written '=='"],
    ['a & b', "E_SYNTAX 1:3 unexpected &: logical and is written '&&'"],
    ['a | b', "E_SYNTAX 1:3 unexpected |: logical or is written '||'"],
    ['1 + 1', 'E_SYNTAX 1:3 unexpected +: there is no arithmetic'],
    ['true // why', 'E_SYNTAX 1:6 unexpected /: there is no arithmetic and there are no comments'],
    ['007', 'E_SYNTAX 1:1 a number has no leading zeros'],
    ['0x10', 'E_SYNTAX 1:1 a number is written in decimal digits only'],
    ['1.5', "E_SYNTAX 1:3 expected a field or method name after '.', found the number 5"],
    ["'abc", 'E_SYNTAX 1:1 this string has no closing quote'],
    ["'a\\n'", "E_SYNTAX 1:3 the only escapes are \\' and \\\\"],
    ["'a\nb'", 'E_SYNTAX 1:3 a string cannot contain a line break'],
    ['a < b < c', 'E_SYNTAX 1:7 comparisons do not chain: join two of them with && or use brackets'],
    ['1 - 1', "E_SYNTAX 1:3 expected an operator or the end of the expression, found '-'"],
    ['-a', "E_SYNTAX 1:2 expected a number after '-', which only begins negative numbers, found 'a'"],
    ['a.any(x)', "E_SYNTAX 1:8 expected ',' and a condition: any(x, condition), found ')'"],
    ['a.any(1, true)', 'E_SYNTAX 1:7 expected a variable name: any(name, condition), found the number 1'],
    ['a.any(in, true)', "E_SYNTAX 1:7 expected a variable name: any(name, condition), found 'in'"],
    ['a.in', "E_SYNTAX 1:3 expected a field or method name after '.', found 'in'"],
    ['a[1..]', "E_SYNTAX 1:6 expected a value, found ']'"],
    ['Timestamp()', "E_SYNTAX 1:11 expected a value, found ')'"],
    ['true &&\n  && false', "E_SYNTAX 2:3 expected a value, found '&&'"],
    ["'😀' == 'a' $", 'E_SYNTAX 1:12 unexpected $'],
    ['true\u00a0', 'E_SYNTAX 1:5 unexpected character U+00A0: only space, tab, CR and LF separate tokens'],
    ['аctivity', 'E_SYNTAX 1:1 unexpected character U+0430'],
    ["'\ud800'", 'E_SYNTAX 1:2 the text is not well-formed Unicode'],
    [`${2n ** 256n}`, 'E_INT_RANGE 1:1 above 2^256-1, the largest number'],
    ['9'.repeat(5_000), 'E_INT_RANGE 1:1 above 2^256-1, the largest number'],
    [`-${2n ** 127n + 1n}`, 'E_INT_RANGE 1:1 below -2^127, the smallest number'],
  ])('%j', (text, message) => {
    expect(refusal(text)).toBe(message);
  });
});

describe('limits', () => {
  const nested = (open: string, close: string, levels: number) => `${open.repeat(levels)}true${close.repeat(levels)}`;

  test.each([
    ['brackets', (levels: number) => nested('(', ')', levels)],
    ['negations', (levels: number) => nested('!', '', levels)],
    ['lists', (levels: number) => nested('[', ']', levels)],
    ['indexes', (levels: number) => `a${'[0]'.repeat(levels)}`],
    ['fields', (levels: number) => `a${'.b'.repeat(levels)}`],
    ['lambdas', (levels: number) => nested('a.any(x, ', ')', levels)],
    ['indexes within indexes', (levels: number) => `${'a['.repeat(levels)}0${']'.repeat(levels)}`],
  ])('%s nest up to the limit', (_name, make) => {
    expect(refusal(make(POLICY_LIMITS.nesting))).toBe('accepted');
    expect(refusal(make(POLICY_LIMITS.nesting + 1))).toMatch(/^E_LIMIT .* nested deeper than 64 levels$/);
  });

  test('suffixes on every level add up', () => {
    const text = `${'('.repeat(40)}a${').b'.repeat(40)}`;
    expect(refusal(text)).toMatch(/^E_LIMIT/);
  });

  test('a chain is long, not deep', () => {
    expect(refusal(Array.from({ length: 2_000 }, () => 'true').join('&&'))).toBe('accepted');
    expect(refusal(Array.from({ length: 2_000 }, () => 'true').join('||'))).toBe('accepted');
  });

  test('texts are counted in code points', () => {
    const fill = (length: number, character: string) => `'${character.repeat(length - 2)}'`;
    expect(refusal(fill(POLICY_LIMITS.expressionCodePoints, '😀'))).toBe('accepted');
    expect(refusal(fill(POLICY_LIMITS.expressionCodePoints + 1, '😀'))).toMatch(/^E_LIMIT 1:1 longer than/);
    expect(refusal(fill(3 * POLICY_LIMITS.expressionCodePoints, 'a'))).toMatch(/^E_LIMIT 1:1 longer than/);
  });

  test('lists have at most 1,000 elements', () => {
    const list = (items: number) => `[${Array.from({ length: items }, () => '1').join(',')}]`;
    expect(refusal(list(POLICY_LIMITS.listItems))).toBe('accepted');
    expect(refusal(list(POLICY_LIMITS.listItems + 1))).toMatch(/^E_LIMIT .* a list has at most 1000 elements$/);
  });
});

test('a node knows the text it came from, with the brackets around its parts', () => {
  const text = '(eth.tx.value  > 5) && !wallet.imported';
  const { root } = parseTree(text);
  const texts = (node: Node): string => text.slice(node.start, node.end);
  expect(texts(root)).toBe(text);
  if (root.kind !== 'logic') throw new Error('expected a chain');
  expect(root.operands.map(texts)).toEqual(['eth.tx.value  > 5', '!wallet.imported']);
});

/** Random trees, built from the leaves so that they stay small. */
const nodes = fc.letrec<{ node: Node }>((tie) => {
  const name = fc.constantFrom('a', 'eth', 'Timestamp', 'any', 'count', '_x1');
  const base = { id: 0, start: 0, end: 0, nameSpan: { start: 0, end: 0 } };
  const node = tie('node');
  const plain = <T extends object>(shape: T) =>
    fc.record({ ...constants(base), ...shape } as never) as fc.Arbitrary<Node>;
  const constants = (values: object) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fc.constant(value)]));
  return {
    node: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      plain({ kind: fc.constant('bool'), value: fc.boolean() }),
      plain({ kind: fc.constant('integer'), value: fc.bigInt({ min: -(2n ** 127n), max: 2n ** 256n - 1n }) }),
      plain({
        kind: fc.constant('string'),
        value: fc.string({ unit: 'binary' }).filter((text) => !/[\r\n]/.test(text)),
      }),
      plain({ kind: fc.constant('name'), name }),
      plain({ kind: fc.constant('list'), items: fc.array(node, { maxLength: 3 }) }),
      plain({ kind: fc.constant('call'), name, args: fc.array(node, { minLength: 1, maxLength: 3 }) }),
      plain({ kind: fc.constant('field'), target: node, name }),
      plain({
        kind: fc.constant('method'),
        target: node,
        name: fc.constantFrom('count', 'first'),
        args: fc.array(node, { maxLength: 2 }),
      }),
      plain({
        kind: fc.constant('quantifier'),
        target: node,
        quantifier: fc.constantFrom('any', 'all', 'filter'),
        variable: name,
        body: node,
      }),
      plain({ kind: fc.constant('index'), target: node, index: node }),
      plain({ kind: fc.constant('slice'), target: node, from: node, to: node }),
      plain({ kind: fc.constant('not'), operand: node }),
      plain({
        kind: fc.constant('compare'),
        operator: fc.constantFrom('==', '!=', '<', '<=', '>', '>=', 'in'),
        left: node,
        right: node,
      }),
      plain({
        kind: fc.constant('logic'),
        operator: fc.constantFrom('&&', '||'),
        operands: fc.array(node, { minLength: 2, maxLength: 3 }),
      }),
    ),
  };
}).node;

/** A tree without its positions. */
const bare = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !['id', 'start', 'end', 'nameSpan'].includes(key));
  return Object.fromEntries(kept.map(([key, part]) => [key, bare(part)]));
};

test('printing and parsing again gives the same tree', () => {
  fc.assert(
    fc.property(nodes, (node) => {
      const text = printTree(node);
      const { root } = parseTree(text);
      expect(bare(root)).toEqual(bare(node));
      expect(printTree(root)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

const PIECES = [
  "'",
  '\\',
  '"',
  '(',
  ')',
  '[',
  ']',
  ',',
  '.',
  '..',
  '!',
  '&&',
  '||',
  '==',
  '<',
  '-',
  ' ',
  '\n',
  '1',
  '007',
  'in',
  'true',
  'any',
  'x',
  'eth',
  '\u00a0',
  '😀',
];

test('any text is parsed or refused, and nothing else happens', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(refusal(text)).toMatch(/^(accepted|E_(SYNTAX|INT_RANGE|LIMIT) )/);
    }),
    { numRuns: 5_000 },
  );
});
