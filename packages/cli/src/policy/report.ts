import { type PolicyEvaluation, renderTrace } from '@custos/server/policy';
import { shortOutcome } from './expectation.ts';
import type { CaseResult, FileResult, NamedCoverage } from './run.ts';

/**
 * What a person reads about the cases of a file: a line each, and for those that failed the reasons of the decision.
 */
export function renderFile({ file, cases, coverage }: FileResult): string {
  return [file, ...cases.flatMap(renderCase), ...renderCoverage(coverage), ''].join('\n');
}

function renderCase({ name, passed, differences, notes, decision }: CaseResult): string[] {
  if (passed) return [`  ok    ${name}`];
  const { given, required } = decision.rootQuorum;
  const body = [
    ...differences,
    ...notes,
    ...(decision.evaluations.length === 0 ? [`root quorum: ${given} of ${required} approvals`] : []),
    ...decision.evaluations.flatMap(renderEvaluation),
  ];
  return [`  FAIL  ${name}`, ...body.map((line) => `        ${line}`)];
}

function renderEvaluation({ policyName, effect, outcome, reason, element, error, trace }: PolicyEvaluation): string[] {
  const which = element === undefined ? '' : ` for element ${element}`;
  const tree = (title: string, text: string): string[] => [
    `  ${title}`,
    ...text.split('\n').map((line) => `    ${line}`),
  ];
  const conditions = trace?.conditions ?? [];
  return [
    `policy '${policyName}' (${effect}): ${shortOutcome(outcome)}${which}, ${reason}`,
    ...(error === undefined ? [] : [`  ${error.expression}: ${error.code}, ${error.message}`]),
    ...(trace?.time === undefined ? [] : tree('time', renderTrace(trace.time))),
    ...conditions.flatMap((condition, index) =>
      tree(conditions.length === 1 ? 'condition' : `condition for element ${index}`, renderTrace(condition)),
    ),
    ...(trace?.consensus === undefined ? [] : tree('consensus', renderTrace(trace.consensus))),
  ];
}

/** Outcomes of a policy that takes part in the decision. */
const APPLYING = ['OUTCOME_ALLOW', 'OUTCOME_DENY_EXPLICIT', 'OUTCOME_REQUIRES_CONSENSUS'];

/** How often a policy was evaluated, and how often it had a say. */
export function countOutcomes({ outcomes }: NamedCoverage): { readonly evaluated: number; readonly applied: number } {
  const counts = Object.entries(outcomes);
  const sum = (some: typeof counts): number => some.reduce((total, [, count]) => total + count, 0);
  return { evaluated: sum(counts), applied: sum(counts.filter(([outcome]) => APPLYING.includes(outcome))) };
}

function renderCoverage(coverage: readonly NamedCoverage[]): string[] {
  const gaps = coverage.flatMap((policy) => {
    const lines = gapsOf(policy);
    return lines.length === 0 ? [] : [`    policy '${policy.policyName}'`, ...lines.map((line) => `      ${line}`)];
  });
  const { covered, parts, percent } = totalCoverage([coverage]);
  return [`  coverage: ${covered} of ${parts} sub-expressions were both true and false (${percent}%)`, ...gaps];
}

function gapsOf(policy: NamedCoverage): string[] {
  const { evaluated, applied } = countOutcomes(policy);
  const whole =
    evaluated === 0
      ? ['was never evaluated']
      : applied === 0
        ? ['never applied']
        : applied === evaluated
          ? ['applied in every case']
          : [];
  return [
    ...whole,
    ...policy.uncovered.map(({ expression, text, wasTrue, wasFalse }) => {
      const never = wasTrue ? 'never false' : wasFalse ? 'never true' : 'never true, never false';
      return `${expression}: ${never}: ${text.replace(/\s+/g, ' ')}`;
    }),
  ];
}

/** Over several files; of no sub-expressions all are covered. */
export function totalCoverage(reports: readonly (readonly NamedCoverage[])[]): {
  readonly covered: number;
  readonly parts: number;
  readonly percent: number;
} {
  const all = reports.flat();
  const covered = all.reduce((sum, { coveredParts }) => sum + coveredParts, 0);
  const parts = all.reduce((sum, policy) => sum + policy.parts, 0);
  return { covered, parts, percent: parts === 0 ? 100 : Math.floor((100 * covered) / parts) };
}
