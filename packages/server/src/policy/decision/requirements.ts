import { CRON_SPAN_STEPS } from '../evaluate/compile.ts';
import { constantOf } from '../evaluate/constants.ts';
import { TEXT_PER_STEP } from '../evaluate/frame.ts';
import { foldKey, textOf } from '../evaluate/values.ts';
import type { CompareNode, Node } from '../language/ast.ts';
import { descend } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { accessPath } from '../language/paths.ts';
import { isNumber, isText, type Type } from '../language/types.ts';

/** Something that expressions read of a request, or of one approver, under the name that all of them share. */
export interface Read {
  readonly column: string;
  readonly type: Type;
  readonly tree: CheckedTree;
  readonly node: Node;
}

/** A value that a column must have. */
export interface Match {
  readonly column: string;
  readonly value: string;
}

/** An expression holds only where one of these matches does; with none of them it never holds. */
export type Requirement = readonly Match[];

/** What an expression reads that has a value whenever its reads have, and what it requires of them. */
export interface Comparisons {
  readonly reads: readonly Read[];
  /** Each is necessary by itself. */
  readonly requirements: readonly Requirement[];
  /** No evaluation takes more steps where all reads are usable. */
  readonly steps: number;
}

/** Longer lists are cheaper to evaluate than to keep, and nobody needs more ways to be found. */
const MATCHES_MAX = 64;
const REQUIREMENTS_MAX = 8;
/** What is read costs steps by its length; up to here they cannot add up to the limit of one expression. */
const TEXT_LENGTH_MAX = 1_024;
const TEXT_STEPS_MAX = 16;
const LIST_LENGTH_MAX = 64;

/** Names what a node reads; undefined for a node that reads something else, or nothing. */
export type ColumnOf = (node: Node) => string | undefined;

/**
 * The comparisons of a condition (docs/decisions/0048). Undefined unless it must have a value wherever all its reads are
 * usable: only then does a failed comparison mean that the condition is false, and not an error.
 */
export const comparisonsOf = (tree: CheckedTree): Comparisons | undefined =>
  comparisonsIn(tree, tree.root, (node) => columnOf(tree, node));

/** The same for any part of an expression whose reads the caller names. */
export function comparisonsIn(tree: CheckedTree, root: Node, nameOf: ColumnOf): Comparisons | undefined {
  const read = readsOf(tree, root, nameOf);
  if (read === undefined) return undefined;
  const requirements = requirementsOf(root, true, nameOf)
    .toSorted((one, other) => Number(isAboutKind(one)) - Number(isAboutKind(other)))
    .slice(0, REQUIREMENTS_MAX);
  return { ...read, requirements };
}

const isAboutKind = (requirement: Requirement): boolean =>
  requirement.some(({ column }) => column.startsWith('activity.') && !column.startsWith('activity.params.'));

/** Whether nothing that an expression does with a value can fail. The value is what the read came to. */
export function isUsable(type: Type, value: unknown): boolean {
  if (type.kind === 'list') return (value as readonly unknown[]).length <= LIST_LENGTH_MAX;
  if (type.kind === 'key') return (textOf(value) as string).length <= TEXT_LENGTH_MAX;
  return type.kind !== 'any' || textOf(value) !== undefined;
}

/** Equal values share it, in whatever spelling; so may others. */
export const spellingOf = (value: unknown): string => {
  const text = textOf(value);
  return text === undefined ? String(value) : foldKey(text);
};

/** `eth.tx.to`, `eth.tx.data[0..10]`, `eth.tx.contract_call_args['to']`. */
function columnOf(tree: CheckedTree, node: Node): string | undefined {
  if (node.kind === 'slice') {
    const { target, from, to } = node;
    if (from.kind !== 'integer' || to.kind !== 'integer' || to.value > BigInt(TEXT_LENGTH_MAX)) return undefined;
    const path = isText(typeIn(tree, target)) ? accessPath(tree, target) : undefined;
    return path && `${path.join('.')}[${from.value}..${to.value}]`;
  }
  if (node.kind === 'index') {
    const { target, index } = node;
    if (index.kind !== 'string' || typeIn(tree, target).kind !== 'map') return undefined;
    const path = accessPath(tree, target);
    return path && `${path.join('.')}[${JSON.stringify(index.value)}]`;
  }
  return accessPath(tree, node)?.join('.');
}

const typeIn = (tree: CheckedTree, node: Node): Type => tree.types[node.id] as Type;

/** Every read of an expression of the simple kind, or undefined: one that could fail although its reads are usable. */
function readsOf(tree: CheckedTree, root: Node, nameOf: ColumnOf): Pick<Comparisons, 'reads' | 'steps'> | undefined {
  const reads = new Map<string, Read>();
  // Each node once, and each literal looked at once.
  let steps = tree.nodeCount + Math.ceil((root.end - root.start) / TEXT_PER_STEP);

  const read = (node: Node, isFit: (type: Type) => boolean): boolean => {
    const type = typeIn(tree, node);
    const column = isFit(type) ? nameOf(node) : undefined;
    if (column === undefined) return false;
    if (!reads.has(column)) reads.set(column, { column, type, tree, node });
    if (type.kind === 'list') steps += LIST_LENGTH_MAX;
    if (type.kind === 'key' || node.kind === 'slice') steps += TEXT_STEPS_MAX;
    return true;
  };
  const isSimple = (node: Node): boolean => {
    switch (node.kind) {
      case 'bool':
        return true;
      case 'not':
        return isSimple(node.operand);
      case 'logic':
        return node.operands.every(isSimple);
      case 'compare':
        return node.operator === 'in' ? isSimpleMember(node.left, node.right) : isSimpleCompare(node);
      case 'method':
        return node.name === 'contains' && isSimpleMember(node.args[0] as Node, node.target);
      default:
        return read(node, isBool);
    }
  };
  const isSimpleCompare = ({ operator, left, right }: CompareNode): boolean => {
    if (isNumber(typeIn(tree, left)) && isNumber(typeIn(tree, right))) {
      return [left, right].every((side) => side.kind === 'integer' || read(side, isNumber));
    }
    if (operator !== '==' && operator !== '!=') return false;
    if (isBool(typeIn(tree, left)) && isBool(typeIn(tree, right))) return isSimple(left) && isSimple(right);
    const [literal, other] = left.kind === 'string' ? [left, right] : [right, left];
    return literal.kind === 'string' && read(other, mayBeText);
  };
  const isSimpleMember = (item: Node, list: Node): boolean => {
    const constant = constantOf(list);
    if (constant === undefined) return item.kind === 'string' && read(list, isListOfStrings);
    steps += constant.length;
    const areTexts = constant.every((value) => typeof value === 'string');
    return read(item, (type) => isText(type) || isNumber(type) || isBool(type) || (type.kind === 'any' && areTexts));
  };

  return isSimple(root) ? { reads: [...reads.values()], steps } : undefined;
}

const isBool = ({ kind }: Type): boolean => kind === 'bool';
const mayBeText = (type: Type): boolean => isText(type) || type.kind === 'any';
const isListOfStrings = (type: Type): boolean => type.kind === 'list' && type.of.kind === 'string';

/** What must match for a node to be true, or to be false. */
function requirementsOf(node: Node, wanted: boolean, nameOf: ColumnOf): readonly Requirement[] {
  switch (node.kind) {
    case 'bool':
      return node.value === wanted ? [] : [[]];
    case 'not':
      return requirementsOf(node.operand, !wanted, nameOf);
    case 'logic': {
      const parts = node.operands.map((operand) => requirementsOf(operand, wanted, nameOf));
      // All operands have to be so, or one of them.
      return (node.operator === '&&') === wanted ? parts.flat() : anyOf(parts.map(shortest));
    }
    case 'compare': {
      const { operator, left, right } = node;
      if (operator === 'in') return wanted ? matching(nameOf, left, right) : [];
      return operator === (wanted ? '==' : '!=') ? equal(nameOf, left, right) : [];
    }
    case 'method':
      return wanted && node.name === 'contains' ? matching(nameOf, node.args[0] as Node, node.target) : [];
    default:
      return [];
  }
}

/** One of several must hold, so each needs a requirement of its own. */
export function anyOf(parts: readonly (Requirement | undefined)[]): readonly Requirement[] {
  const known = parts.filter((part) => part !== undefined);
  return known.length === parts.length ? bounded(known.flat()) : [];
}

export const shortest = (requirements: readonly Requirement[]): Requirement | undefined =>
  requirements.reduce<Requirement | undefined>(
    (best, next) => (best === undefined || next.length < best.length ? next : best),
    undefined,
  );

const bounded = (requirement: Requirement): readonly Requirement[] =>
  requirement.length > MATCHES_MAX ? [] : [requirement];

function equal(nameOf: ColumnOf, left: Node, right: Node): readonly Requirement[] {
  const [literal, other] = isLiteral(left) ? [left, right] : [right, left];
  const column = nameOf(other);
  return column === undefined || !isLiteral(literal) ? [] : [[{ column, value: spellingOf(literal.value) }]];
}

const isLiteral = (node: Node): node is Extract<Node, { readonly kind: 'string' | 'integer' }> =>
  node.kind === 'string' || node.kind === 'integer';

/** A member of a list of literals, or a literal in a list that is read: its column has several values at once. */
function matching(nameOf: ColumnOf, item: Node, list: Node): readonly Requirement[] {
  const constant = constantOf(list);
  const column = nameOf(constant === undefined ? list : item);
  if (column === undefined) return [];
  if (constant !== undefined) return bounded(constant.map((value) => ({ column, value: spellingOf(value) })));
  return item.kind === 'string' ? [[{ column, value: spellingOf(item.value) }]] : [];
}

/** How many steps a time expression takes at most; undefined for one that does more than compare, and so may fail. */
export function stepsOfTime(time: CheckedTree): number | undefined {
  let steps = time.nodeCount;
  for (const { kind } of descend(time.root)) {
    if (!PLAIN_TIME.has(kind)) return undefined;
    if (kind === 'call') steps += CRON_SPAN_STEPS;
  }
  return steps;
}

const PLAIN_TIME: ReadonlySet<Node['kind']> = new Set([
  'bool',
  'string',
  'name',
  'field',
  'call',
  'compare',
  'not',
  'logic',
] as const);
