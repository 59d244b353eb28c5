import {
  ALL_TYPES,
  isTypeFact,
  NO_TYPES,
  OTHER_TYPES,
  type TypeFact,
  type TypeSet,
  typesWith,
} from '../catalog/type-set.ts';
import { constantOf } from '../evaluate/constants.ts';
import type { CompareNode, MethodNode, Node } from '../language/ast.ts';
import { descend } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { accessPath, namespacesRead } from '../language/paths.ts';
import { isText } from '../language/types.ts';

/** For which activity types a condition may be true and may be false, as far as its text tells. Never too small. */
export interface Possible {
  readonly true: TypeSet;
  readonly false: TypeSet;
}

const ANYTHING: Possible = { true: ALL_TYPES, false: ALL_TYPES };
const either = (types: TypeSet): Possible => ({
  true: types | OTHER_TYPES,
  false: (ALL_TYPES & ~types) | OTHER_TYPES,
});

/** Reads what a condition says about `activity.type`, `kind`, `resource` and `action`, and nothing else. */
export function possibleTypes(tree: CheckedTree, node: Node = tree.root): Possible {
  switch (node.kind) {
    case 'bool':
      return { true: node.value ? ALL_TYPES : NO_TYPES, false: node.value ? NO_TYPES : ALL_TYPES };
    case 'not': {
      const operand = possibleTypes(tree, node.operand);
      return { true: operand.false, false: operand.true };
    }
    case 'logic': {
      const operands = node.operands.map((operand) => possibleTypes(tree, operand));
      const all = (value: 'true' | 'false') => operands.reduce((set, operand) => set & operand[value], ALL_TYPES);
      const some = (value: 'true' | 'false') => operands.reduce((set, operand) => set | operand[value], NO_TYPES);
      return node.operator === '&&'
        ? { true: all('true'), false: some('false') }
        : { true: some('true'), false: all('false') };
    }
    case 'compare':
      return possibleOfCompare(tree, node);
    case 'method':
      return possibleOfContains(tree, node);
    default:
      return ANYTHING;
  }
}

function possibleOfCompare(tree: CheckedTree, { operator, left, right }: CompareNode): Possible {
  if (operator === 'in') return possibleOfMember(tree, left, right);
  if (operator !== '==' && operator !== '!=') return ANYTHING;
  const [fact, literal] = left.kind === 'string' ? [right, left] : [left, right];
  const name = typeFactOf(tree, fact);
  if (name === undefined || literal.kind !== 'string') return ANYTHING;
  const equal = either(typesWith(name, literal.value));
  return operator === '==' ? equal : { true: equal.false, false: equal.true };
}

const possibleOfContains = (tree: CheckedTree, { name, target, args }: MethodNode): Possible =>
  name === 'contains' ? possibleOfMember(tree, args[0] as Node, target) : ANYTHING;

function possibleOfMember(tree: CheckedTree, item: Node, list: Node): Possible {
  const name = typeFactOf(tree, item);
  const constant = constantOf(list);
  if (name === undefined || constant === undefined) return ANYTHING;
  return either(constant.reduce((set: TypeSet, value) => set | typesWith(name, String(value)), NO_TYPES));
}

/** `activity.kind` and the like, when `activity` is the keyword and not a variable of that name. */
export function typeFactOf(tree: CheckedTree, node: Node): TypeFact | undefined {
  const path = accessPath(tree, node);
  return path?.length === 2 && path[0] === 'activity' && isTypeFact(path[1] as string)
    ? (path[1] as TypeFact)
    : undefined;
}

/** Which requests must be evaluated by a condition although it cannot be true for them. */
export interface Hazard {
  /** Whether it might fail in a way that counts, on any request. */
  readonly always: boolean;
  /** Namespaces whose facts might make it fail in a way that counts. */
  readonly namespaces: ReadonlySet<string>;
}

const HARMLESS: Hazard = { always: false, namespaces: new Set() };

/**
 * When a condition might end in R_INT_RANGE or R_LIMIT, which make a DENY policy deny (protocol/policies 8.1) whatever
 * the rest of it says: nothing short-circuits. A condition that only compares texts and bools with literals cannot; any
 * other might, once the namespaces it reads are there.
 */
export function hazardOf(tree: CheckedTree): Hazard {
  if (isHarmless(tree, tree.root)) return HARMLESS;
  const namespaces = namespacesRead(tree);
  // Without facts to read, only a loop over the literals of the text itself can go wrong.
  const loops = [...descend(tree.root)].some((node) => node.kind === 'quantifier');
  return { always: loops, namespaces };
}

function isHarmless(tree: CheckedTree, node: Node): boolean {
  switch (node.kind) {
    case 'bool':
      return true;
    case 'not':
      return isHarmless(tree, node.operand);
    case 'logic':
      return node.operands.every((operand) => isHarmless(tree, operand));
    case 'compare': {
      const { operator, left, right } = node;
      if (operator === 'in') return isPlainRead(tree, left) && constantOf(right) !== undefined;
      const isLiteral = ({ kind }: Node) => kind === 'string' || kind === 'bool';
      return (isPlainRead(tree, left) && isLiteral(right)) || (isPlainRead(tree, right) && isLiteral(left));
    }
    case 'method':
      return (
        node.name === 'contains' && isPlainRead(tree, node.args[0] as Node) && constantOf(node.target) !== undefined
      );
    default:
      return isPlainRead(tree, node);
  }
}

/** A chain of fields from a keyword to a text or a bool. */
function isPlainRead(tree: CheckedTree, node: Node): boolean {
  const type = tree.types[node.id];
  return type !== undefined && (isText(type) || type.kind === 'bool') && accessPath(tree, node) !== undefined;
}
