import type { TraceNode } from '../evaluate/trace.ts';
import { descend } from '../language/ast.ts';
import type { ExpressionKind } from '../language/checker.ts';
import type { Span } from '../language/errors.ts';
import type { PolicyEvaluation } from './outcome.ts';
import type { PreparedPolicy } from './policy-set.ts';

/** A sub-expression that no case made both true and false. */
export interface UncoveredPart extends Span {
  readonly expression: ExpressionKind;
  readonly text: string;
  readonly wasTrue: boolean;
  readonly wasFalse: boolean;
}

export interface PolicyCoverage {
  readonly policyId: string;
  /** How often the policy came to each outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Bool sub-expressions, and those of them that were both true and false. */
  readonly parts: number;
  readonly coveredParts: number;
  readonly uncovered: readonly UncoveredPart[];
}

/** Collects which policies and sub-expressions the cases of a test ever made true and false. */
export interface CoverageRecorder {
  /** Takes the evaluations of a decision that was made with `trace`. */
  add(evaluations: readonly PolicyEvaluation[]): void;
  report(): readonly PolicyCoverage[];
}

interface Seen {
  readonly part: Omit<UncoveredPart, 'wasTrue' | 'wasFalse'>;
  wasTrue: boolean;
  wasFalse: boolean;
}

export function createCoverage(policies: readonly PreparedPolicy[]): CoverageRecorder {
  const outcomes = new Map(policies.map(({ policy }) => [policy.id, new Map<string, number>()]));
  const parts = new Map(policies.map((prepared) => [prepared.policy.id, partsOf(prepared)]));

  const mark = (seen: ReadonlyMap<string, Seen>, expression: ExpressionKind, node: TraceNode): void => {
    const part = seen.get(keyOf(expression, node));
    if (part !== undefined) {
      part.wasTrue ||= node.trueCount > 0;
      part.wasFalse ||= node.falseCount > 0;
    }
    for (const child of node.children) mark(seen, expression, child);
  };

  return {
    add(evaluations) {
      for (const { policyId, outcome, trace } of evaluations) {
        const counts = outcomes.get(policyId);
        const seen = parts.get(policyId);
        if (counts === undefined || seen === undefined) continue;
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
        if (trace?.time !== undefined) mark(seen, 'time', trace.time);
        for (const condition of trace?.conditions ?? []) mark(seen, 'condition', condition);
        if (trace?.consensus !== undefined) mark(seen, 'consensus', trace.consensus);
      }
    },
    report: () =>
      policies.map(({ policy }) => {
        const all = [...(parts.get(policy.id)?.values() ?? [])];
        const uncovered = all.filter(({ wasTrue, wasFalse }) => !wasTrue || !wasFalse);
        return {
          policyId: policy.id,
          outcomes: Object.fromEntries(outcomes.get(policy.id) ?? []),
          parts: all.length,
          coveredParts: all.length - uncovered.length,
          uncovered: uncovered.map(({ part, wasTrue, wasFalse }) => ({ ...part, wasTrue, wasFalse })),
        };
      }),
  };
}

const keyOf = (expression: ExpressionKind, { start, end }: Span): string => `${expression} ${start} ${end}`;

/** The bool sub-expressions of a policy, but for the literals true and false. */
function partsOf({ time, condition, consensus }: PreparedPolicy): Map<string, Seen> {
  const parts = new Map<string, Seen>();
  for (const expression of [time, condition, consensus]) {
    if (expression === undefined) continue;
    const { kind, tree, text } = expression;
    for (const node of descend(tree.root)) {
      if (tree.types[node.id]?.kind !== 'bool' || node.kind === 'bool') continue;
      const { start, end } = node;
      const part = { expression: kind, start, end, text: text.slice(start, end) };
      parts.set(keyOf(kind, node), { part, wasTrue: false, wasFalse: false });
    }
  }
  return parts;
}
