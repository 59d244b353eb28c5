import { assert } from '../../lib/assert.ts';
import { type CheckedTree, checkTree, type ExpressionKind } from '../language/checker.ts';
import {
  locate,
  type RuntimeError,
  RuntimeFailure,
  type StaticError,
  StaticFailure,
  toRuntimeError,
  toStaticError,
} from '../language/errors.ts';
import { parseTree } from '../language/parser.ts';
import type { ConditionFacts, ConsensusFacts, TimeFacts } from '../language/structs.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { compileNode } from './compile.ts';
import type { Frame, Run } from './frame.ts';
import { createTracer, type TraceNode, type Tracer } from './trace.ts';

/** Where an expression stands (protocol/policies 1.1). */
export type ExpressionField = ExpressionKind | 'mfa' | 'scope';

export interface FactsByKind {
  readonly condition: ConditionFacts;
  readonly consensus: ConsensusFacts;
  readonly time: TimeFacts;
}

/** A checked expression, ready to be evaluated any number of times. */
export interface Expression<K extends ExpressionKind = ExpressionKind> {
  readonly kind: K;
  readonly text: string;
  readonly tree: CheckedTree;
  readonly run: Run;
}

export type Compilation<K extends ExpressionKind = ExpressionKind> =
  | { readonly ok: true; readonly expression: Expression<K> }
  | { readonly ok: false; readonly error: StaticError };

/** The value of an expression, or why it has none; and what it cost. */
export type Evaluation =
  | { readonly ok: true; readonly value: boolean; readonly steps: number }
  | { readonly ok: false; readonly error: RuntimeError; readonly steps: number };

/** Parses, checks and compiles a text. Never throws for any text. */
export function compileExpression<K extends ExpressionKind>(kind: K, text: string): Compilation<K> {
  try {
    const tree = checkTree(kind, parseTree(text));
    return { ok: true, expression: { kind, text, tree, run: compileNode(tree, tree.root) } };
  } catch (error) {
    if (error instanceof StaticFailure) return { ok: false, error: toStaticError(error, text) };
    throw error;
  }
}

const MESSAGE_STARTS: Readonly<Record<ExpressionField, string>> = {
  condition: 'invalid policy condition',
  consensus: 'invalid policy consensus',
  time: 'invalid policy time',
  mfa: 'invalid mfa policy condition',
  scope: 'invalid session profile scope',
};

/** The message of the 400 that refuses a text (protocol/policies 6.1). */
export const describeStaticError = (field: ExpressionField, text: string, error: StaticError): string =>
  `${MESSAGE_STARTS[field]}: ${error.message} (${locate(error, text)})`;

export const kindOfField = (field: ExpressionField): ExpressionKind =>
  field === 'mfa' || field === 'scope' ? 'condition' : field;

function start(run: Run, frame: Frame, fuel: number): Evaluation {
  try {
    const value = run(frame);
    assert(typeof value === 'boolean', 'a checked expression yields a bool');
    return { ok: true, value, steps: fuel - frame.fuel };
  } catch (error) {
    if (error instanceof RuntimeFailure) {
      return { ok: false, error: toRuntimeError(error), steps: fuel - Math.max(0, frame.fuel) };
    }
    throw error;
  }
}

/** Evaluates on facts. Never throws for any facts of the right types. */
export function evaluate<K extends ExpressionKind>(
  { run, tree }: Expression<K>,
  facts: FactsByKind[K],
  stepsMax: number = POLICY_LIMITS.steps,
): Evaluation {
  const fuel = Math.min(stepsMax, POLICY_LIMITS.steps);
  return start(run, { roots: facts, slots: new Array(tree.slotCount), fuel }, fuel);
}

/** The same evaluation, watched: what each sub-expression came to. */
export function explain<K extends ExpressionKind>(
  { tree, text }: Expression<K>,
  facts: FactsByKind[K],
  stepsMax: number = POLICY_LIMITS.steps,
  nodesMax: number = POLICY_LIMITS.traceNodes,
): { readonly evaluation: Evaluation; readonly trace: TraceNode } {
  const tracer: Tracer = createTracer(tree.nodeCount);
  const run = compileNode(tree, tree.root, (node, inner) => (frame) => tracer.observe(node, () => inner(frame)));
  const fuel = Math.min(stepsMax, POLICY_LIMITS.steps);
  const evaluation = start(run, { roots: facts, slots: new Array(tree.slotCount), fuel }, fuel);
  return { evaluation, trace: tracer.tree(tree.root, text, nodesMax) };
}
