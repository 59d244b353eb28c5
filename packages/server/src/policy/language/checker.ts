import { POLICY_LIMITS } from '../limits.ts';
import type {
  CallNode,
  CompareNode,
  FieldNode,
  IndexNode,
  ListNode,
  MethodNode,
  NameNode,
  Node,
  QuantifierNode,
  SliceNode,
} from './ast.ts';
import { type Span, type StaticErrorCode, StaticFailure } from './errors.ts';
import { isIntLiteral, type ParsedTree } from './parser.ts';
import { CONDITION_ROOTS, CONSENSUS_ROOTS, TIME_ROOTS } from './structs.ts';
import { type Literal, readCronSpan, readTimestamp, type TimeCall } from './time-calls.ts';
import { canEqual, canEqualLoosely, canOrder, explainMismatch, fitsAny, isComparable } from './type-rules.ts';
import {
  ANY,
  BOOL,
  describeType,
  fieldOf,
  HEX,
  INT,
  isNumber,
  isText,
  listOf,
  NEVER,
  STRING,
  type StructType,
  TEXT,
  TIMESTAMP,
  type Type,
  UINT,
  unify,
} from './types.ts';

/**
 * Which keywords and functions exist; MFA conditions and session scopes are of the kind of conditions
 * (protocol/policies 1.1).
 */
export type ExpressionKind = 'condition' | 'consensus' | 'time';

export const ROOTS: Readonly<Record<ExpressionKind, StructType>> = {
  condition: CONDITION_ROOTS,
  consensus: CONSENSUS_ROOTS,
  time: TIME_ROOTS,
};

/** A tree that is well typed, with everything that was found out about its nodes, by node id. */
export interface CheckedTree extends ParsedTree {
  readonly kind: ExpressionKind;
  readonly types: readonly Type[];
  /** The slot of the lambda variable that a name or quantifier binds or reads; absent for names that are keywords. */
  readonly slots: ReadonlyMap<number, number>;
  readonly slotCount: number;
  readonly timeCalls: ReadonlyMap<number, TimeCall>;
}

interface Variable {
  readonly name: string;
  readonly type: Type;
}

const TIME_FUNCTIONS: ReadonlyMap<string, number> = new Map([
  ['Timestamp', 1],
  ['CronSpan', 3],
]);
const METHODS: ReadonlyMap<string, number> = new Map([
  ['contains', 1],
  ['count', 0],
  ['hex_to_uint', 0],
]);
const METHOD_NAMES = [...METHODS.keys(), 'any', 'all', 'filter'].join(', ');

/** Static types of a whole tree (protocol/policies 6.1). Throws StaticFailure at the leftmost mistake. */
export function checkTree(kind: ExpressionKind, tree: ParsedTree): CheckedTree {
  const roots = ROOTS[kind];
  const types: Type[] = new Array(tree.nodeCount);
  const slots = new Map<number, number>();
  const timeCalls = new Map<number, TimeCall>();
  const scope: Variable[] = [];
  let slotCount = 0;
  let cronSpans = 0;

  const check = (node: Node): Type => {
    const type = typeOf(node);
    types[node.id] = type;
    return type;
  };

  const typeOf = (node: Node): Type => {
    switch (node.kind) {
      case 'bool':
        return BOOL;
      case 'integer':
        return isIntLiteral(node.value) ? INT : UINT;
      case 'string':
        return STRING;
      case 'list':
        return checkList(node);
      case 'name':
        return checkName(node);
      case 'call':
        return checkCall(node);
      case 'field':
        return checkField(node);
      case 'method':
        return checkMethod(node);
      case 'quantifier':
        return checkQuantifier(node);
      case 'index':
        return checkIndex(node);
      case 'slice':
        return checkSlice(node);
      case 'not':
        requireBool(node.operand, 'after !');
        return BOOL;
      case 'compare':
        return checkCompare(node);
      case 'logic':
        for (const operand of node.operands) requireBool(operand, `on each side of ${node.operator}`);
        return BOOL;
    }
  };

  const requireBool = (node: Node, where: string): void => {
    const type = check(node);
    if (type.kind !== 'bool') throw fail('E_TYPE', node, `expected a bool ${where}, found ${describeBool(type)}`);
  };

  const checkList = (node: ListNode): Type => {
    let known: Type = NEVER;
    let hasAny = false;
    for (const item of node.items) {
      const type = check(item);
      if (type.kind === 'any') {
        hasAny = true;
        continue;
      }
      const joined = unify(known, type);
      if (joined === undefined) {
        throw fail(
          'E_TYPE',
          item,
          `a list has elements of one type: expected ${describeType(known)}, found ${describeType(type)}`,
        );
      }
      known = joined;
    }
    if (!hasAny) return listOf(known);
    if (fitsAny(known)) return listOf(ANY);
    throw fail('E_TYPE', node, `${describeType(known)} and ${describeType(ANY)} do not share a list`);
  };

  const checkName = (node: NameNode): Type => {
    const slot = scope.findLastIndex((variable) => variable.name === node.name);
    if (slot >= 0) {
      slots.set(node.id, slot);
      return (scope[slot] as Variable).type;
    }
    const root = fieldOf(roots, node.name);
    if (root !== undefined) return root.field.type;
    throw fail('E_UNKNOWN_KEYWORD', node, unknownKeyword(kind, node.name), [
      ...Object.keys(roots.fields),
      ...scope.map(({ name }) => name),
    ]);
  };

  const checkCall = (node: CallNode): Type => {
    const arity = TIME_FUNCTIONS.get(node.name);
    if (arity === undefined) {
      const nameSpan = { start: node.start, end: node.start + node.name.length };
      throw fail('E_UNKNOWN_FUNCTION', nameSpan, `there is no function ${node.name}`, [...TIME_FUNCTIONS.keys()]);
    }
    if (kind !== 'time') {
      throw fail('E_UNKNOWN_FUNCTION', node, `${node.name} exists only in the time expression of a policy`);
    }
    requireArity(node, node.name, node.args, arity);
    for (const arg of node.args) {
      check(arg);
      if (arg.kind !== 'string') throw fail('E_TYPE', arg, `expected a string literal as argument of ${node.name}`);
    }
    const [first, second, third] = node.args as readonly Literal[] as [Literal, Literal, Literal];
    const call = node.name === 'Timestamp' ? readTimestamp(first) : readCronSpan(first, second, third);
    timeCalls.set(node.id, call);
    if (call.kind === 'cronSpan') cronSpans += 1;
    if (cronSpans > POLICY_LIMITS.cronSpans) {
      throw fail('E_LIMIT', node, `a time expression has at most ${POLICY_LIMITS.cronSpans} windows`);
    }
    return call.kind === 'timestamp' ? TIMESTAMP : BOOL;
  };

  const checkField = (node: FieldNode): Type => {
    const target = check(node.target);
    if (node.name === 'count' && (target.kind === 'list' || target.kind === 'any')) return INT;
    if (target.kind === 'struct') {
      const found = fieldOf(target, node.name);
      if (found !== undefined) return found.field.type;
      throw fail('E_UNKNOWN_FIELD', node.nameSpan, unknownField(target, node.name), Object.keys(target.fields));
    }
    if (target.kind === 'list') {
      throw fail('E_TYPE', node.nameSpan, `a list has no field ${node.name}; it has ${METHOD_NAMES}`);
    }
    const hint = target.kind === 'map' || target.kind === 'any' ? `, write ['${node.name}']` : '';
    throw fail('E_TYPE', node.nameSpan, `expected a struct before .${node.name}, found ${describeType(target)}${hint}`);
  };

  const checkMethod = (node: MethodNode): Type => {
    const target = check(node.target);
    const arity = METHODS.get(node.name);
    if (arity === undefined) {
      throw fail(
        'E_UNKNOWN_FUNCTION',
        node.nameSpan,
        `there is no method ${node.name}; there are ${METHOD_NAMES}`,
        METHOD_NAMES.split(', '),
      );
    }
    requireArity(node.nameSpan, node.name, node.args, arity);
    if (node.name === 'hex_to_uint') {
      if (isText(target) || target.kind === 'any') return UINT;
      throw fail('E_TYPE', node.nameSpan, `hex_to_uint is for strings, not for ${describeType(target)}`);
    }
    const element = elementOf(target, node.nameSpan, node.name);
    if (node.name === 'count') return INT;
    const argument = node.args[0] as Node;
    requireElement(check(argument), element, argument);
    return BOOL;
  };

  const checkQuantifier = (node: QuantifierNode): Type => {
    const target = check(node.target);
    const type = elementOf(target, node.target, node.quantifier);
    slots.set(node.id, scope.length);
    scope.push({ name: node.variable, type });
    slotCount = Math.max(slotCount, scope.length);
    requireBool(node.body, `as condition of ${node.quantifier}`);
    scope.pop();
    if (node.quantifier !== 'filter') return BOOL;
    return target.kind === 'list' ? target : listOf(ANY);
  };

  const checkIndex = (node: IndexNode): Type => {
    const target = check(node.target);
    const index = check(node.index);
    if (target.kind === 'map') {
      if (isText(index) || index.kind === 'any') return target.of;
      throw fail('E_TYPE', node.index, `expected a string as key of a map, found ${describeType(index)}`);
    }
    if (target.kind === 'any') {
      if (isText(index) || isNumber(index) || index.kind === 'any') return ANY;
      throw fail('E_TYPE', node.index, `expected a number or a string as index, found ${describeType(index)}`);
    }
    requirePosition(index, node.index);
    return target.kind === 'list' ? target.of : requireText(target, node.target, 'an index');
  };

  const checkSlice = (node: SliceNode): Type => {
    const target = check(node.target);
    requirePosition(check(node.from), node.from);
    requirePosition(check(node.to), node.to);
    if (target.kind === 'any' || target.kind === 'list') return target;
    return requireText(target, node.target, 'a slice');
  };

  const checkCompare = (node: CompareNode): Type => {
    const left = check(node.left);
    const right = check(node.right);
    if (node.operator === 'in') {
      requireElement(left, elementOf(right, node.right, 'in'), node.left);
      return BOOL;
    }
    const isEquality = node.operator === '==' || node.operator === '!=';
    const fits = isEquality ? canEqual(left, right) || canEqualLoosely(left, right) : canOrder(left, right);
    if (!fits) throw fail('E_TYPE', node, explainMismatch(node.operator, left, right));
    return BOOL;
  };

  const type = check(tree.root);
  if (type.kind !== 'bool') throw fail('E_NOT_BOOL', tree.root, `expected a bool, found ${describeBool(type)}`);
  return { ...tree, kind, types, slots, slotCount, timeCalls };
}

const fail = (code: StaticErrorCode, span: Span, message: string, candidates: readonly string[] = []): StaticFailure =>
  new StaticFailure(code, { start: span.start, end: span.end }, message, candidates);

const describeBool = (type: Type): string =>
  type.kind === 'any' ? `${describeType(type)}: compare it with == true` : describeType(type);

function requireArity(span: Span, name: string, args: readonly Node[], arity: number): void {
  if (args.length === arity) return;
  const wanted = arity === 1 ? '1 argument' : `${arity} arguments`;
  throw fail('E_ARITY', span, `${name} takes ${wanted}, found ${args.length}`);
}

/** The element type of a list, or of a value that must turn out to be one. */
function elementOf(type: Type, span: Span, user: string): Type {
  if (type.kind === 'list') return type.of;
  if (type.kind === 'any') return ANY;
  const where = user === 'in' ? "after 'in'" : `before .${user}`;
  throw fail('E_TYPE', span, `expected a list ${where}, found ${describeType(type)}`);
}

function requireElement(type: Type, element: Type, span: Span): void {
  if (element.kind === 'never' ? isComparable(type) : canEqual(type, element)) return;
  throw fail('E_TYPE', span, `expected an element of the list (${describeType(element)}), found ${describeType(type)}`);
}

function requirePosition(type: Type, span: Span): void {
  if (isNumber(type) || type.kind === 'any') return;
  throw fail('E_TYPE', span, `expected a number as position, found ${describeType(type)}`);
}

/** Characters of a text are of its type, except that a part of an address need not start with 0x to be hex. */
function requireText(type: Type, span: Span, what: string): Type {
  // A part of a key is no key.
  if (type.kind === 'key') return HEX;
  if (isText(type)) return type.kind === 'address' ? TEXT : type;
  throw fail('E_TYPE', span, `expected a list or a string before ${what}, found ${describeType(type)}`);
}

function unknownKeyword(kind: ExpressionKind, name: string): string {
  const others = (['condition', 'consensus', 'time'] as const).filter((other) => fieldOf(ROOTS[other], name));
  const elsewhere = others.length === 0 ? '' : ` here, it belongs to the ${others.join(' and ')} of a policy`;
  return `unknown keyword ${name}${elsewhere}; expected one of ${Object.keys(ROOTS[kind].fields).join(', ')}`;
}

function unknownField(struct: StructType, name: string): string {
  const what = struct.name === 'ActivityParams' ? 'no activity exposes a parameter' : `${struct.name} has no field`;
  return `${what} ${name}; expected one of ${Object.keys(struct.fields).join(', ')}`;
}
