import { childrenOf, type Node } from '../language/ast.ts';
import { type RuntimeError, RuntimeFailure, type Span, toRuntimeError } from '../language/errors.ts';
import { renderValue } from './values.ts';

/** What became of one sub-expression. The body of a lambda is evaluated once per element, so it is counted. */
export interface TraceNode extends Span {
  readonly kind: Node['kind'];
  /** The source, cut when long. */
  readonly text: string;
  /** 0: an error elsewhere ended the evaluation first. */
  readonly evaluations: number;
  /** How often it was true and false; both 0 for what is not a bool. */
  readonly trueCount: number;
  readonly falseCount: number;
  /** Its value, when it was evaluated once and had one. */
  readonly value?: string;
  readonly error?: RuntimeError;
  /** Whether the whole result follows from this part. */
  readonly decisive: boolean;
  readonly children: readonly TraceNode[];
  /** Some children are left out, the tree being too large. */
  readonly isCut?: boolean;
}

interface Mutable {
  evaluations: number;
  trueCount: number;
  falseCount: number;
  value: unknown;
  failure: RuntimeFailure | undefined;
}

/** Watches one evaluation. */
export interface Tracer {
  observe(node: Node, evaluate: () => unknown): unknown;
  /** The tree of what was seen. */
  tree(root: Node, text: string, nodesMax: number): TraceNode;
}

export function createTracer(nodeCount: number): Tracer {
  const records: Mutable[] = Array.from({ length: nodeCount }, () => ({
    evaluations: 0,
    trueCount: 0,
    falseCount: 0,
    value: undefined,
    failure: undefined,
  }));

  return {
    observe(node, evaluate) {
      const record = records[node.id] as Mutable;
      record.evaluations += 1;
      try {
        const value = evaluate();
        record.value = value;
        if (value === true) record.trueCount += 1;
        if (value === false) record.falseCount += 1;
        return value;
      } catch (error) {
        if (error instanceof RuntimeFailure) record.failure = error;
        throw error;
      }
    },
    tree: (root, text, nodesMax) => build(root, text, records, true, { nodes: nodesMax }),
  };
}

const SHOWN_MAX = 200;

/** How much of a tree may still be shown. */
interface Room {
  nodes: number;
}

function build(node: Node, text: string, records: readonly Mutable[], decisive: boolean, room: Room): TraceNode {
  const { evaluations, trueCount, falseCount, value, failure } = records[node.id] as Mutable;
  const source = text.slice(node.start, node.end);
  const parts = isConstant(node) ? [] : childrenOf(node);
  const reasons = decisive ? reasonsOf(node, parts, records) : [];
  room.nodes -= 1;
  // The reasons first: of a tree that is too large, they are what its reader looks for.
  const shown = new Map<Node, TraceNode>();
  for (const part of [...reasons, ...parts]) {
    if (room.nodes <= 0) break;
    if (!shown.has(part)) shown.set(part, build(part, text, records, reasons.includes(part), room));
  }
  return {
    kind: node.kind,
    start: node.start,
    end: node.end,
    text: source.length > SHOWN_MAX ? `${source.slice(0, SHOWN_MAX)}…` : source,
    evaluations,
    trueCount,
    falseCount,
    ...(evaluations === 1 && failure === undefined && { value: renderValue(value) }),
    ...(failure !== undefined && { error: toRuntimeError(failure) }),
    decisive,
    children: parts.flatMap((part) => shown.get(part) ?? []),
    ...(shown.size < parts.length && { isCut: true }),
  };
}

/** A list of literals is one value to the evaluator, and one line to its reader. */
const isConstant = (node: Node): boolean =>
  node.kind === 'list' && node.items.every(({ kind }) => kind === 'bool' || kind === 'integer' || kind === 'string');

/**
 * The parts from which the result of a node follows: the one that failed, the one that settled a chain, or all of them.
 */
function reasonsOf(node: Node, parts: readonly Node[], records: readonly Mutable[]): readonly Node[] {
  const recordOf = (part: Node): Mutable => records[part.id] as Mutable;
  if (recordOf(node).failure !== undefined) return parts.filter((part) => recordOf(part).failure !== undefined);
  if (node.kind === 'not') return parts;
  if (node.kind !== 'logic') return [];
  const settling = node.operator === '||';
  const first = node.operands.find((operand) => recordOf(operand).value === settling);
  return first === undefined ? node.operands : [first];
}
