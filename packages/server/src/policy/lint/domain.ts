import { constantOf } from '../evaluate/constants.ts';
import { foldAscii, foldKey } from '../evaluate/values.ts';
import type { CompareNode, CompareOperator, Node } from '../language/ast.ts';
import { descend } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { printTree } from '../language/printer.ts';
import { isNumber, isText, type Type } from '../language/types.ts';

/** What a condition demands of one value that it reads: a set of texts or numbers, or a range. */
export interface Domain {
  readonly allowed: ReadonlySet<string | bigint> | undefined;
  readonly excluded: ReadonlySet<string | bigint>;
  readonly min: bigint | undefined;
  readonly max: bigint | undefined;
}

/** One demand: the value that it is about, in canonical text, and what it may be. */
export interface Demand extends Domain {
  readonly key: string;
}

const EVERYTHING: Domain = { allowed: undefined, excluded: new Set(), min: undefined, max: undefined };

/** The parts that must all be true for the whole to be. */
export function conjunctsOf(node: Node): readonly Node[] {
  if (node.kind === 'logic' && node.operator === '&&') return node.operands.flatMap(conjunctsOf);
  return [node];
}

/** What the conjuncts of a condition demand together, by the value they are about. */
export function domainsOf(tree: CheckedTree, conjuncts: readonly Node[]): ReadonlyMap<string, Domain> {
  const domains = new Map<string, Domain>();
  for (const conjunct of conjuncts) {
    const demand = demandOf(tree, conjunct);
    if (demand === undefined) continue;
    const { key, ...domain } = demand;
    domains.set(key, intersect(domains.get(key) ?? naturalDomain(tree, conjunct, key), domain));
  }
  return domains;
}

/** Whether no value can meet a domain. */
export function isEmpty({ allowed, excluded, min, max }: Domain): boolean {
  if (allowed !== undefined) return ![...allowed].some((value) => !excluded.has(value) && inRange(value, min, max));
  return min !== undefined && max !== undefined && min > max;
}

/** Whether every value of the inner domain also meets the outer one. */
export function isWithin(inner: Domain, outer: Domain): boolean {
  if (inner.allowed !== undefined) {
    return [...inner.allowed]
      .filter((value) => !inner.excluded.has(value) && inRange(value, inner.min, inner.max))
      .every((value) => accepts(outer, value));
  }
  if (outer.allowed !== undefined) return false;
  if ([...outer.excluded].some((value) => !inner.excluded.has(value) && inRange(value, inner.min, inner.max)))
    return false;
  const isAbove = outer.min === undefined || (inner.min !== undefined && inner.min >= outer.min);
  const isBelow = outer.max === undefined || (inner.max !== undefined && inner.max <= outer.max);
  return isAbove && isBelow;
}

const accepts = ({ allowed, excluded, min, max }: Domain, value: string | bigint): boolean =>
  (allowed === undefined || allowed.has(value)) && !excluded.has(value) && inRange(value, min, max);

const inRange = (value: string | bigint, min: bigint | undefined, max: bigint | undefined): boolean =>
  typeof value === 'string' || ((min === undefined || value >= min) && (max === undefined || value <= max));

export function intersect(left: Domain, right: Domain): Domain {
  const allowed =
    left.allowed === undefined || right.allowed === undefined
      ? (left.allowed ?? right.allowed)
      : new Set([...left.allowed].filter((value) => right.allowed?.has(value)));
  return {
    allowed,
    excluded: new Set([...left.excluded, ...right.excluded]),
    min: left.min === undefined || (right.min !== undefined && right.min > left.min) ? right.min : left.min,
    max: left.max === undefined || (right.max !== undefined && right.max < left.max) ? right.max : left.max,
  };
}

/** A comparison of something that is read with a literal, a list of literals or a time; or a bool by itself. */
export function demandOf(tree: CheckedTree, node: Node): Demand | undefined {
  if (node.kind === 'not') {
    const { operand } = node;
    if (operand.kind === 'compare') {
      const opposite = OPPOSITES[operand.operator];
      return opposite === undefined ? undefined : demandOfCompare(tree, { ...operand, operator: opposite });
    }
    return isClosedBool(tree, operand)
      ? { ...EVERYTHING, key: printTree(operand), allowed: new Set(['false']) }
      : undefined;
  }
  if (node.kind === 'compare') return demandOfCompare(tree, node);
  if (node.kind === 'method' && node.name === 'contains')
    return demandOfMember(tree, node.args[0] as Node, node.target);
  return isClosedBool(tree, node) ? { ...EVERYTHING, key: printTree(node), allowed: new Set(['true']) } : undefined;
}

const OPPOSITES: Readonly<Record<CompareOperator, CompareOperator | undefined>> = {
  '==': '!=',
  '!=': '==',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
  in: undefined,
};

const MIRRORED: Readonly<Record<CompareOperator, CompareOperator>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
  in: 'in',
};

function demandOfCompare(tree: CheckedTree, { operator, left, right }: CompareNode): Demand | undefined {
  if (operator === 'in') return demandOfMember(tree, left, right);
  const [subject, literal, relation] =
    literalOf(tree, right) === undefined ? [right, left, MIRRORED[operator]] : [left, right, operator];
  const value = literalOf(tree, literal);
  if (value === undefined || !isSubject(tree, subject)) return undefined;
  const key = printTree(subject);
  const normal = normalize(value, typeOf(tree, subject));
  switch (relation) {
    case '==':
      return { ...EVERYTHING, key, allowed: new Set([normal]) };
    case '!=':
      return { ...EVERYTHING, key, excluded: new Set([normal]) };
    case '<':
      return { ...EVERYTHING, key, max: (normal as bigint) - 1n };
    case '<=':
      return { ...EVERYTHING, key, max: normal as bigint };
    case '>':
      return { ...EVERYTHING, key, min: (normal as bigint) + 1n };
    case '>=':
      return { ...EVERYTHING, key, min: normal as bigint };
    case 'in':
      return undefined;
  }
}

function demandOfMember(tree: CheckedTree, item: Node, list: Node): Demand | undefined {
  const constant = constantOf(list);
  if (constant === undefined || !isSubject(tree, item)) return undefined;
  const type = typeOf(tree, item);
  const values = constant.map((value) => normalize(typeof value === 'boolean' ? String(value) : value, type));
  return { ...EVERYTHING, key: printTree(item), allowed: new Set(values) };
}

const typeOf = (tree: CheckedTree, node: Node): Type => tree.types[node.id] as Type;

/**
 * Reads keywords and no variables, so that the same text means the same value throughout; and has a type we can weigh.
 */
function isSubject(tree: CheckedTree, node: Node): boolean {
  const type = typeOf(tree, node);
  const isWeighable = isText(type) || type.kind === 'bool' || type.kind === 'timestamp' || isNumber(type);
  return (
    isWeighable && type.kind !== 'looseNumber' && literalOf(tree, node) === undefined && readsKeywordsOnly(tree, node)
  );
}

const isClosedBool = (tree: CheckedTree, node: Node): boolean =>
  (node.kind === 'field' || node.kind === 'quantifier') && isSubject(tree, node);

function readsKeywordsOnly(tree: CheckedTree, node: Node): boolean {
  let reads = false;
  const bound = new Set<number>();
  for (const part of descend(node)) {
    if (part.kind === 'quantifier') bound.add(tree.slots.get(part.id) as number);
    if (part.kind !== 'name') continue;
    const slot = tree.slots.get(part.id);
    if (slot === undefined) reads = true;
    else if (!bound.has(slot)) return false;
  }
  return reads;
}

function literalOf(tree: CheckedTree, node: Node): string | bigint | undefined {
  if (node.kind === 'string' || node.kind === 'integer') return node.value;
  if (node.kind === 'bool') return String(node.value);
  const call = node.kind === 'call' ? tree.timeCalls.get(node.id) : undefined;
  return call?.kind === 'timestamp' ? call.instant : undefined;
}

/**
 * Hex compares without regard to case, and what may be hex is treated so: two texts that may be equal count as equal.
 */
function normalize(value: string | bigint, { kind }: Type): string | bigint {
  if (typeof value !== 'string' || kind === 'string' || kind === 'bool') return value;
  return kind === 'key' ? foldKey(value) : foldAscii(value);
}

/** What a value is before anything is demanded: a count is not negative, and somebody has always approved. */
function naturalDomain(tree: CheckedTree, conjunct: Node, key: string): Domain {
  if (tree.kind === 'consensus' && /^(?:approvers|credentials)\.count(?:\(\))?$/.test(key))
    return { ...EVERYTHING, min: 1n };
  const isCount = conjunct.kind === 'compare' && /\.count(?:\(\))?$/.test(key);
  return isCount ? { ...EVERYTHING, min: 0n } : EVERYTHING;
}

/** Whether a condition can be true, as far as its own demands tell. */
export function canBeTrue(tree: CheckedTree, node: Node): boolean {
  if (node.kind === 'bool') return node.value;
  if (node.kind === 'logic' && node.operator === '||') return node.operands.some((operand) => canBeTrue(tree, operand));
  const conjuncts = conjunctsOf(node);
  if ([...domainsOf(tree, conjuncts).values()].some(isEmpty)) return false;
  return node.kind !== 'logic' || conjuncts.every((conjunct) => canBeTrue(tree, conjunct));
}
