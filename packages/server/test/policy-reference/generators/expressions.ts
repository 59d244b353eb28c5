// Random well-typed expressions over the keywords of a field. Every function returns text; depth bounds recursion.
// Constructs that can be read in two ways are left out; README.md lists them.
import fc from 'fast-check';
import type { Type } from '../reference/types.ts';
import { dynamicBools } from './dynamic-expressions.ts';
import {
  DECIMAL_TEXTS,
  HEX_LITERALS,
  KEY_TEXTS,
  NUMBERS,
  oneOf,
  quote,
  SMALL_NUMBERS,
  TEXTS,
  weighted,
} from './pools.ts';
import { atLeast, bind, type Piece, pathTo, type Scope, type Term, variableNames } from './terms.ts';

const HEX_NUMBER_LITERALS = [
  'ff',
  '0xFF',
  '0x0',
  `0x${'f'.repeat(64)}`,
  `${'0'.repeat(65)}`,
  '0x',
  '',
  'zz',
  '-1',
  '0xg',
];
const SLICE_BOUNDS = ['0..0', '0..1', '0..1', '0..2', '1..1', '0..10', '2..10', '138..202', '2..1', '-1..1', '0..99'];
const INDICES = ['0', '0', '0', '0', '0', '0', '1', '2', '-1', '- 1', '99', String(2n ** 256n - 1n)];
const ORDER_OPERATORS = ['==', '!=', '<', '<=', '>', '>='];
const EQUALITY_OPERATORS = ['==', '!='];

const isNumber = ({ kind }: Type): boolean => kind === 'int' || kind === 'uint';
const isText = ({ kind }: Type): boolean => kind === 'string' || kind === 'hex' || kind === 'key' || kind === 'address';
const isListOf =
  (isElement: (type: Type) => boolean) =>
  (type: Type): boolean =>
    type.kind === 'list' && isElement(type.element);

const postfix = (text: string): Piece => ({ text, level: 3 });
const comparison = (text: string): Piece => ({ text, level: 2 });

/** A bool expression. */
export function bools(depth: number, scope: Scope): fc.Arbitrary<Piece> {
  const leaves = [
    weighted(1, () => oneOf(['true', 'false']).map(postfix)),
    weighted(4, () => numberComparisons(depth, scope)),
    weighted(5, () => textComparisons(depth, scope)),
    ...whenReachable(
      2,
      pathTo(scope, ({ kind }) => kind === 'bool'),
      ({ text }) => fc.constant(postfix(text)),
    ),
    ...whenReachable(
      1,
      pathTo(scope, ({ kind }) => kind === 'loose'),
      looseComparisons,
    ),
    ...whenReachable(3, pathTo(scope, isDynamicMap), ({ text }) => dynamicBools(text)),
  ];
  if (depth === 0) return fc.oneof(...leaves);
  return fc.oneof(
    ...leaves,
    weighted(4, () => junctions(depth - 1, scope)),
    weighted(1, () => bools(depth - 1, scope).map((piece) => postfix(`!${atLeast(piece, 3)}`))),
    weighted(1, () => boolComparisons(depth - 1, scope)),
    weighted(3, () => memberships(depth - 1, scope)),
    weighted(5, () => quantifications(depth - 1, scope)),
  );
}

function whenReachable(
  weight: number,
  path: fc.Arbitrary<Term> | undefined,
  use: (term: Term) => fc.Arbitrary<Piece>,
): fc.WeightedArbitrary<Piece>[] {
  return path === undefined ? [] : [weighted(weight, () => path.chain(use))];
}

const isDynamicMap = (type: Type): boolean => type.kind === 'map' && type.element.kind === 'any';

function junctions(depth: number, scope: Scope): fc.Arbitrary<Piece> {
  const operands = fc.array(bools(depth, scope), { minLength: 2, maxLength: 3 });
  return fc
    .tuple(operands, fc.boolean())
    .map(([pieces, isAnd]) =>
      isAnd
        ? { text: pieces.map((piece) => atLeast(piece, 1)).join(' && '), level: 1 }
        : { text: pieces.map((piece) => piece.text).join(' || '), level: 0 },
    );
}

function boolComparisons(depth: number, scope: Scope): fc.Arbitrary<Piece> {
  const operand = bools(depth, scope).map((piece) => atLeast(piece, 3));
  return fc
    .tuple(operand, oneOf(EQUALITY_OPERATORS), fc.oneof(operand, oneOf(['true', 'false'])))
    .map(([left, operator, right]) => comparison(`${left} ${operator} ${right}`));
}

function numberComparisons(depth: number, scope: Scope): fc.Arbitrary<Piece> {
  return fc
    .tuple(numbers(depth, scope), oneOf(ORDER_OPERATORS), fc.oneof(numberLiterals(), numbers(depth, scope)))
    .map(([left, operator, right]) => comparison(`${left} ${operator} ${right}`));
}

function textComparisons(depth: number, scope: Scope): fc.Arbitrary<Piece> {
  return fc
    .tuple(texts(depth, scope), oneOf(EQUALITY_OPERATORS), fc.oneof(textLiterals(), texts(depth, scope)))
    .map(([left, operator, right]) => comparison(`${left} ${operator} ${right}`));
}

/** The two fields of protocol/policies 5.4 that compare with numbers and with their decimal text. */
function looseComparisons({ text }: Term): fc.Arbitrary<Piece> {
  return fc.oneof(
    fc
      .tuple(oneOf(ORDER_OPERATORS), numberLiterals())
      .map(([operator, right]) => comparison(`${text} ${operator} ${right}`)),
    fc
      .tuple(oneOf(EQUALITY_OPERATORS), oneOf(DECIMAL_TEXTS))
      .map(([operator, right]) => comparison(`${text} ${operator} ${quote(right)}`)),
  );
}

function memberships(depth: number, scope: Scope): fc.Arbitrary<Piece> {
  return fc
    .oneof(
      fc.tuple(numbers(depth, scope), lists(depth, scope, isNumber), fc.boolean()),
      fc.tuple(texts(depth, scope), lists(depth, scope, isText), fc.boolean()),
    )
    .map(([element, list, asMethod]) =>
      asMethod ? postfix(`${list.text}.contains(${element})`) : comparison(`${element} in ${list.text}`),
    );
}

function quantifications(depth: number, scope: Scope): fc.Arbitrary<Piece> {
  const quantified = lists(depth, scope).chain((list) =>
    variableNames().chain((name) =>
      bools(depth, bind(scope, name, elementOf(list))).map(({ text }) => ({ list, name, text })),
    ),
  );
  return fc.oneof(
    fc
      .tuple(oneOf(['any', 'all']), quantified)
      .map(([quantifier, { list, name, text }]) => postfix(`${list.text}.${quantifier}(${name}, ${text})`)),
    fc
      .tuple(quantified, oneOf(['count', 'count()']), oneOf(ORDER_OPERATORS), oneOf(['0', '1', '2']))
      .map(([{ list, name, text }, count, operator, right]) =>
        comparison(`${list.text}.filter(${name}, ${text}).${count} ${operator} ${right}`),
      ),
  );
}

function elementOf({ type }: Term): Type {
  if (type.kind !== 'list') throw new Error('a list was asked for');
  return type.element;
}

function numbers(depth: number, scope: Scope): fc.Arbitrary<string> {
  const path = pathTo(scope, isNumber);
  const choices = [
    weighted(2, numberLiterals),
    ...(path === undefined ? [] : [weighted(5, () => path.map(({ text }) => text))]),
  ];
  if (depth === 0) return fc.oneof(...choices);
  return fc.oneof(
    ...choices,
    weighted(2, () =>
      fc.tuple(lists(depth - 1, scope), oneOf(['count', 'count()'])).map(([list, count]) => `${list.text}.${count}`),
    ),
    weighted(1, () =>
      fc
        .tuple(lists(depth - 1, scope, isNumber), indices(depth - 1, scope))
        .map(([list, index]) => `${list.text}[${index}]`),
    ),
    weighted(1, () =>
      fc.oneof(oneOf(HEX_NUMBER_LITERALS).map(quote), slices(scope)).map((text) => `${text}.hex_to_uint()`),
    ),
  );
}

function texts(depth: number, scope: Scope): fc.Arbitrary<string> {
  const path = pathTo(scope, isText);
  const map = pathTo(scope, (type) => type.kind === 'map' && type.element.kind === 'string');
  const choices = [
    weighted(1, textLiterals),
    ...(path === undefined ? [] : [weighted(6, () => path.map(({ text }) => text))]),
    ...(map === undefined ? [] : [weighted(1, () => map.chain(({ text }) => mapEntries(text)))]),
  ];
  if (depth === 0) return fc.oneof(...choices);
  return fc.oneof(
    ...choices,
    weighted(1, () => slices(scope)),
    weighted(1, () =>
      fc.tuple(texts(depth - 1, scope), indices(depth - 1, scope)).map(([text, index]) => `${text}[${index}]`),
    ),
    weighted(1, () =>
      fc
        .tuple(lists(depth - 1, scope, isText), indices(depth - 1, scope))
        .map(([list, index]) => `${list.text}[${index}]`),
    ),
  );
}

const mapEntries = (map: string): fc.Arbitrary<string> =>
  oneOf(['kind', 'env', 'mint', 'constructor', '__proto__']).map((key) => `${map}[${quote(key)}]`);

function slices(scope: Scope): fc.Arbitrary<string> {
  return fc.tuple(texts(0, scope), oneOf(SLICE_BOUNDS)).map(([text, bounds]) => `${text}[${bounds}]`);
}

function indices(depth: number, scope: Scope): fc.Arbitrary<string> {
  return fc.oneof(
    weighted(9, () => oneOf(INDICES)),
    weighted(1, () => numbers(Math.max(depth - 1, 0), scope)),
  );
}

/** A list whose elements are of the wanted kind: a path, a literal, or a part of one. */
function lists(depth: number, scope: Scope, isElement: (type: Type) => boolean = () => true): fc.Arbitrary<Term> {
  const path = pathTo(scope, isListOf(isElement));
  const choices = [
    ...literalLists(isElement).map((literal) => weighted(1, () => literal)),
    ...(path === undefined ? [] : [weighted(6, () => path)]),
  ];
  if (depth === 0) return fc.oneof(...choices);
  return fc.oneof(
    ...choices,
    weighted(1, () =>
      fc
        .tuple(lists(depth - 1, scope, isElement), oneOf(SLICE_BOUNDS.slice(0, 4)))
        .map(([list, bounds]) => ({ ...list, text: `${list.text}[${bounds}]` })),
    ),
    weighted(1, () =>
      lists(depth - 1, scope, isElement).chain((list) =>
        variableNames().chain((name) =>
          bools(depth - 1, bind(scope, name, elementOf(list))).map(({ text }) => ({
            ...list,
            text: `${list.text}.filter(${name}, ${text})`,
          })),
        ),
      ),
    ),
  );
}

function literalLists(isElement: (type: Type) => boolean): fc.Arbitrary<Term>[] {
  const scalars: [element: Type, first: fc.Arbitrary<string>, further: fc.Arbitrary<string>][] = [
    [{ kind: 'int' }, numberLiterals(), numberLiterals()],
    [{ kind: 'string' }, textLiterals(), textLiterals()],
    [{ kind: 'bool' }, oneOf(['true', 'false']), oneOf(['true', '!true', '1 < 2'])],
    // The first item gives the elements their type, `[]` fits it.
    [{ kind: 'list', element: { kind: 'int' } }, fc.constant('[1, 2]'), oneOf(['[3]', '[]'])],
  ];
  return scalars
    .filter(([element]) => isElement(element))
    .map(([element, first, further]) =>
      fc.tuple(first, fc.array(further, { maxLength: 3 })).map(([item, items]) => ({
        text: `[${[item, ...items].join(', ')}]`,
        type: { kind: 'list', element },
      })),
    );
}

function numberLiterals(): fc.Arbitrary<string> {
  return fc.oneof(oneOf(SMALL_NUMBERS), oneOf(NUMBERS)).map(String);
}

function textLiterals(): fc.Arbitrary<string> {
  return fc
    .oneof(
      weighted(4, () => oneOf(TEXTS)),
      weighted(4, () => oneOf(HEX_LITERALS)),
      weighted(1, () => oneOf(KEY_TEXTS)),
    )
    .map(quote);
}
