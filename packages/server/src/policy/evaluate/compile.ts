import { assert } from '../../lib/assert.ts';
import type {
  CallNode,
  CompareNode,
  FieldNode,
  IndexNode,
  LogicNode,
  MethodNode,
  NameNode,
  Node,
  QuantifierNode,
  SliceNode,
} from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { ROOTS } from '../language/checker.ts';
import { type Missing, RuntimeFailure, type Span } from '../language/errors.ts';
import type { TimeFacts } from '../language/structs.ts';
import { type Field, fieldOf, isText, type StructType, type Type } from '../language/types.ts';
import { inCronSpan } from '../time/cron.ts';
import { elementEqualityOf, equalityOf, requireNumbers } from './compare.ts';
import { constantOf, membershipOf } from './constants.ts';
import { type Run, spend } from './frame.ts';
import { loaderOf } from './load.ts';
import { dynamicAccess, elementAt, hexToUint, lengthOf, listIn, slice, valueAt } from './operations.ts';

/**
 * Wraps the closure of a node. The plain evaluator has no wrapping, so that explanations cost nothing until asked for.
 */
export type Wrap = (node: Node, run: Run) => Run;

const plain: Wrap = (_node, run) => run;

/**
 * A node as a closure over its parts. Evaluation runs from left to right, never stops early because a result is known
 * (protocol/policies 4.2), and ends at the first failure.
 */
export function compileNode(tree: CheckedTree, root: Node, wrap: Wrap = plain): Run {
  const typeOf = (node: Node): Type => tree.types[node.id] as Type;

  const compile = (node: Node): Run => wrap(node, counted(node, build(node)));

  const build = (node: Node): Run => {
    switch (node.kind) {
      case 'bool':
      case 'integer':
      case 'string': {
        const { value } = node;
        return () => value;
      }
      case 'list': {
        const constant = constantOf(node);
        if (constant !== undefined) return () => constant;
        const items = node.items.map(compile);
        return (frame) => items.map((item) => item(frame));
      }
      case 'name':
        return compileName(node);
      case 'call':
        return compileCall(node);
      case 'field':
        return compileField(node);
      case 'method':
        return compileMethod(node);
      case 'quantifier':
        return compileQuantifier(node);
      case 'index':
        return compileIndex(node);
      case 'slice':
        return compileSlice(node);
      case 'not': {
        const operand = compile(node.operand);
        return (frame) => !operand(frame);
      }
      case 'compare':
        return node.operator === 'in' ? compileIn(node) : compileCompare(node);
      case 'logic':
        return compileLogic(node);
    }
  };

  const compileName = (node: NameNode): Run => {
    const load = loaderOf(typeOf(node));
    const slot = tree.slots.get(node.id);
    if (slot !== undefined) return (frame) => load(frame.slots[slot], node);
    const { field } = fieldOf(ROOTS[tree.kind], node.name) ?? unknown();
    return readField((frame) => frame.roots, node.name, field, node);
  };

  const compileCall = (node: CallNode): Run => {
    const call = tree.timeCalls.get(node.id) ?? unknown();
    if (call.kind === 'timestamp') return () => call.instant;
    return (frame) => {
      spend(frame, CRON_SPAN_STEPS, node);
      const now = (frame.roots as TimeFacts).time?.now;
      assert(now !== undefined, 'a time expression is evaluated at a time');
      // Windows begin and end at whole milliseconds, so the rest of a nanosecond clock cannot matter.
      return inCronSpan(call.cron, call.durationMs, call.zone, Number(now / 1_000_000n));
    };
  };

  const compileField = (node: FieldNode): Run => {
    const target = compile(node.target);
    const type = typeOf(node.target);
    if (type.kind !== 'struct') return (frame) => lengthOf(target(frame), node);
    const { name, field } = fieldOf(type as StructType, node.name) ?? unknown();
    return readField(target, name, field, node);
  };

  const compileMethod = (node: MethodNode): Run => {
    const target = compile(node.target);
    if (node.name === 'count') return (frame) => lengthOf(target(frame), node);
    if (node.name === 'hex_to_uint') return (frame) => hexToUint(target(frame), node);
    const argument = node.args[0] ?? unknown();
    const value = compile(argument);
    const contains = membership(argument, node.target, node);
    return (frame) => {
      const list = target(frame);
      return contains(value(frame), list, frame);
    };
  };

  const compileIn = (node: CompareNode): Run => {
    const left = compile(node.left);
    const right = compile(node.right);
    const contains = membership(node.left, node.right, node);
    return (frame) => contains(left(frame), right(frame), frame);
  };

  /** Compares with every element, also after a match: an element that cannot be read is an error wherever it stands. */
  const membership = (item: Node, list: Node, span: Span) => {
    const itemType = typeOf(item);
    const listType = typeOf(list);
    const elementType: Type = listType.kind === 'list' ? listType.of : { kind: 'any' };
    const constant = constantOf(list);
    if (constant !== undefined && itemType.kind !== 'any') return membershipOf(constant, span);
    const equal = elementEqualityOf(itemType, elementType);
    const load = loaderOf(elementType);
    return (value: unknown, raw: unknown, frame: Parameters<Run>[0]): boolean => {
      let found = false;
      for (const element of listIn(raw, span)) {
        spend(frame, 1, span);
        if (equal(value, load(element, span), frame, span)) found = true;
      }
      return found;
    };
  };

  const compileQuantifier = (node: QuantifierNode): Run => {
    const target = compile(node.target);
    const body = compile(node.body);
    const slot = tree.slots.get(node.id) ?? unknown();
    const { quantifier } = node;
    return (frame) => {
      const list = listIn(target(frame), node.target);
      const kept: unknown[] = [];
      let count = 0;
      for (const element of list) {
        frame.slots[slot] = element;
        if (body(frame) !== true) continue;
        count += 1;
        if (quantifier === 'filter') kept.push(element);
      }
      if (quantifier === 'filter') return kept;
      return quantifier === 'any' ? count > 0 : count === list.length;
    };
  };

  const compileIndex = (node: IndexNode): Run => {
    const target = compile(node.target);
    const index = compile(node.index);
    const type = typeOf(node.target);
    const load = loaderOf(typeOf(node));
    if (isText(type)) return (frame) => elementAt(target(frame), index(frame), frame, node);
    if (type.kind === 'map') return (frame) => load(valueAt(target(frame), index(frame), node), node);
    if (type.kind === 'list') return (frame) => load(elementAt(target(frame), index(frame), frame, node), node);
    return (frame) => {
      const value = target(frame);
      return load(dynamicAccess(value, index(frame), frame, node), node);
    };
  };

  const compileSlice = (node: SliceNode): Run => {
    const target = compile(node.target);
    const from = compile(node.from);
    const to = compile(node.to);
    return (frame) => {
      const value = target(frame);
      const first = from(frame);
      return slice(value, first, to(frame), frame, node);
    };
  };

  const compileCompare = (node: CompareNode): Run => {
    const left = compile(node.left);
    const right = compile(node.right);
    const [leftType, rightType] = [typeOf(node.left), typeOf(node.right)];
    if (node.operator === '==' || node.operator === '!=') {
      const equal = equalityOf(leftType, rightType);
      const wanted = node.operator === '==';
      return (frame) => equal(left(frame), right(frame), frame, node) === wanted;
    }
    const holds = ORDERS[node.operator as keyof typeof ORDERS];
    const isDynamic = leftType.kind === 'any' || rightType.kind === 'any';
    return (frame) => {
      const a = left(frame);
      const b = right(frame);
      if (isDynamic) requireNumbers(a, b, node);
      return holds(a as bigint, b as bigint);
    };
  };

  const compileLogic = (node: LogicNode): Run => {
    const operands = node.operands.map(compile);
    const decisive = node.operator === '||';
    return (frame) => {
      let result = !decisive;
      for (const operand of operands) {
        if (operand(frame) === decisive) result = decisive;
      }
      return result;
    };
  };

  return compile(root);
}

/** A window costs more than other nodes: it walks up to nine days. */
export const CRON_SPAN_STEPS = 100;

const ORDERS = {
  '<': (left: bigint, right: bigint) => left < right,
  '<=': (left: bigint, right: bigint) => left <= right,
  '>': (left: bigint, right: bigint) => left > right,
  '>=': (left: bigint, right: bigint) => left >= right,
} as const;

const counted =
  (node: Node, run: Run): Run =>
  (frame) => {
    spend(frame, 1, node);
    return run(frame);
  };

function unknown(): never {
  throw new Error('assertion failed: a checked tree names something that does not exist');
}

/** What an absent field means, by how its table declares it. */
const MISSING: Readonly<Record<'optional' | 'always' | 'keyword' | 'parameter', Missing>> = {
  optional: 'field',
  always: 'field',
  keyword: 'keyword',
  parameter: 'parameter',
};

function readField(target: Run, name: string, { type, presence }: Field, node: NameNode | FieldNode): Run {
  const load = loaderOf(type);
  if (presence === 'defaulted') {
    const fallback = defaultOf(type);
    return (frame) => load((target(frame) as Record<string, unknown>)[name] ?? fallback, node);
  }
  const failure = new RuntimeFailure('R_MISSING_FIELD', node, `this request has no ${name}`, MISSING[presence]);
  return (frame) => {
    const raw = (target(frame) as Record<string, unknown>)[name];
    if (raw === undefined) throw failure;
    return load(raw, node);
  };
}

function defaultOf(type: Type): unknown {
  if (type.kind === 'int') return 0n;
  if (type.kind === 'struct') return {};
  assert(type.kind === 'string', 'only strings, ints and structs have a default');
  return '';
}
