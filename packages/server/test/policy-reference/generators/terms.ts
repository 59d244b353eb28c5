// Building blocks of generated expressions: pieces of text with their level in the grammar, and the paths in scope.
import fc from 'fast-check';
import { type ExpressionField, keywordsOf } from '../reference/keywords.ts';
import { fieldsOf } from '../reference/structs.ts';
import type { Type } from '../reference/types.ts';
import { oneOf } from './pools.ts';

/** How tightly a piece of text holds together: 0 is `||`, 1 `&&`, 2 a comparison, 3 anything tighter. */
export interface Piece {
  readonly text: string;
  readonly level: 0 | 1 | 2 | 3;
}

/** A path, and what it yields. */
export interface Term {
  readonly text: string;
  readonly type: Type;
}

/** Bound names, innermost last. A name that is bound again replaces the outer one. */
export type Scope = readonly Term[];

/** Some names shadow a keyword, some mean something elsewhere in the grammar, one is special to JavaScript. */
const VARIABLE_NAMES = [
  'x',
  'u',
  'call',
  'v_1',
  'wallet',
  'approvers',
  'eth',
  'count',
  'any',
  'Timestamp',
  '__proto__',
];

export const atLeast = (piece: Piece, level: Piece['level']): string =>
  piece.level >= level ? piece.text : `(${piece.text})`;

export function scopeOf(field: ExpressionField): Scope {
  return [...keywordsOf(field)].map(([text, type]) => ({ text, type }));
}

export function bind(scope: Scope, name: string, type: Type): Scope {
  return [...scope.filter(({ text }) => text !== name), { text: name, type }];
}

export const variableNames = (): fc.Arbitrary<string> => oneOf(VARIABLE_NAMES);

/** A path of the wanted kind, if the scope has any: the innermost name is as likely as all others together. */
export function pathTo(scope: Scope, isWanted: (type: Type) => boolean): fc.Arbitrary<Term> | undefined {
  const byRoot = scope
    .map((root) => pathsFrom(root).filter(({ type }) => isWanted(type)))
    .filter((paths) => paths.length > 0);
  if (byRoot.length === 0) return undefined;
  return fc.oneof(oneOf(byRoot), fc.constant(byRoot.at(-1)!)).chain(oneOf);
}

const pathsByRoot = new Map<string, readonly Term[]>();

/** All paths through struct fields, the root itself included. */
function pathsFrom(root: Term): readonly Term[] {
  if (root.type.kind !== 'struct') return [root];
  const key = `${root.text} ${root.type.name}`;
  const fields = [...fieldsOf(root.type.name).values()];
  const paths =
    pathsByRoot.get(key) ?? fields.flatMap(({ name, type }) => pathsFrom({ text: `${root.text}.${name}`, type }));
  pathsByRoot.set(key, paths);
  return paths;
}
