import type { Span } from './errors.ts';

interface NodeBase extends Span {
  /** Counts from 0 in each tree, children before their parents; tables about a tree are arrays by id. */
  readonly id: number;
}

export interface BoolNode extends NodeBase {
  readonly kind: 'bool';
  readonly value: boolean;
}

export interface IntegerNode extends NodeBase {
  readonly kind: 'integer';
  readonly value: bigint;
}

export interface StringNode extends NodeBase {
  readonly kind: 'string';
  readonly value: string;
}

export interface ListNode extends NodeBase {
  readonly kind: 'list';
  readonly items: readonly Node[];
}

/** A keyword or a lambda variable. */
export interface NameNode extends NodeBase {
  readonly kind: 'name';
  readonly name: string;
}

/** `Timestamp(...)`, `CronSpan(...)`. */
export interface CallNode extends NodeBase {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Node[];
}

/** `x.f`, and `x.count` without parentheses. */
export interface FieldNode extends NodeBase {
  readonly kind: 'field';
  readonly target: Node;
  readonly name: string;
  readonly nameSpan: Span;
}

export interface MethodNode extends NodeBase {
  readonly kind: 'method';
  readonly target: Node;
  readonly name: string;
  readonly nameSpan: Span;
  readonly args: readonly Node[];
}

export type Quantifier = 'any' | 'all' | 'filter';

export interface QuantifierNode extends NodeBase {
  readonly kind: 'quantifier';
  readonly target: Node;
  readonly quantifier: Quantifier;
  readonly variable: string;
  readonly body: Node;
}

export interface IndexNode extends NodeBase {
  readonly kind: 'index';
  readonly target: Node;
  readonly index: Node;
}

export interface SliceNode extends NodeBase {
  readonly kind: 'slice';
  readonly target: Node;
  readonly from: Node;
  readonly to: Node;
}

export interface NotNode extends NodeBase {
  readonly kind: 'not';
  readonly operand: Node;
}

export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in';

export interface CompareNode extends NodeBase {
  readonly kind: 'compare';
  readonly operator: CompareOperator;
  readonly left: Node;
  readonly right: Node;
}

/** A whole chain of one operator: `a && b && c` is one node, so that a long chain is not a deep tree. */
export interface LogicNode extends NodeBase {
  readonly kind: 'logic';
  readonly operator: '&&' | '||';
  readonly operands: readonly Node[];
}

export type Node =
  | BoolNode
  | IntegerNode
  | StringNode
  | ListNode
  | NameNode
  | CallNode
  | FieldNode
  | MethodNode
  | QuantifierNode
  | IndexNode
  | SliceNode
  | NotNode
  | CompareNode
  | LogicNode;

/** The parts of a node, in the order of their evaluation. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'bool':
    case 'integer':
    case 'string':
    case 'name':
      return [];
    case 'list':
      return node.items;
    case 'call':
      return node.args;
    case 'field':
      return [node.target];
    case 'method':
      return [node.target, ...node.args];
    case 'quantifier':
      return [node.target, node.body];
    case 'index':
      return [node.target, node.index];
    case 'slice':
      return [node.target, node.from, node.to];
    case 'not':
      return [node.operand];
    case 'compare':
      return [node.left, node.right];
    case 'logic':
      return node.operands;
  }
}

/** The node and everything below it, parents first. */
export function* descend(node: Node): Generator<Node> {
  const open: Node[] = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    open.push(...childrenOf(next).toReversed());
  }
}
