import {
  type Approval,
  createCoverage,
  type Decision,
  decide,
  type PolicyCoverage,
  voteStanding,
} from '@custos/server/policy';
import { omissionIn } from './context.ts';
import { collect, type FileProblem } from './cursor.ts';
import { differences, type Expectation, shortOutcome } from './expectation.ts';
import { type TestCase, type TestFile, userName } from './test-file.ts';

export interface CaseResult {
  readonly name: string;
  readonly passed: boolean;
  readonly expected: Expectation;
  /** How the decision differs from the expected one. */
  readonly differences: readonly string[];
  /** What became of approvals that changed nothing. */
  readonly notes: readonly string[];
  readonly decision: Decision;
}

export interface NamedCoverage extends PolicyCoverage {
  readonly policyName: string;
}

export interface FileResult {
  readonly file: string;
  readonly cases: readonly CaseResult[];
  readonly coverage: readonly NamedCoverage[];
}

/** Decides every case as the server would. Adds to the problems the cases that prove nothing. */
export function runTestFile(tests: TestFile, problems: FileProblem[]): FileResult {
  const coverage = createCoverage(tests.policySet.policies);
  const cases = collect(tests.cases, problems, (test) =>
    runCase(tests, test, (decision) => coverage.add(decision.evaluations)),
  );
  const named = coverage.report().map((policy) => ({ policyName: nameOf(tests, policy.policyId), ...policy }));
  return { file: tests.file, cases, coverage: named };
}

const nameOf = ({ policies }: TestFile, policyId: string): string =>
  policies.find(({ id }) => id === policyId)?.name ?? policyId;

/** A submission, then the votes one after the other, each judged as it comes. */
function runCase(tests: TestFile, test: TestCase, watch: (decision: Decision) => void): CaseResult {
  const { organization, policySet } = tests;
  const nameOfUser = ({ userId }: Approval): string => userName(organization.users, userId);
  const input = {
    organization: organization.facts,
    activity: test.activity,
    policies: policySet,
    members: [...organization.users.values()],
    nowMs: test.nowMs,
  };
  const judge = (approvals: readonly Approval[], phase: 'SUBMISSION' | 'VOTE'): Decision => {
    // Coverage needs the whole trees, so there is no bound on them.
    const decision = decide(
      { ...input, approvals, phase },
      { trace: true, traceNodesMax: Number.MAX_SAFE_INTEGER, listAll: true },
    );
    requireSpelledOut(test, decision);
    watch(decision);
    return decision;
  };

  const [submission, ...votes] = test.approvals as readonly [Approval, ...Approval[]];
  const given: Approval[] = [submission];
  const notes: string[] = [];
  const wrong: string[] = [];
  let decision = judge(given, 'SUBMISSION');
  for (const vote of votes) {
    const voter = nameOfUser(vote);
    const before = `${shortOutcome(decision.outcome)} was decided before ${voter} approved`;
    if (decision.outcome === 'OUTCOME_ALLOW') {
      // Whoever lists an approval believes that it is needed.
      wrong.push(`${before}: that approval is not needed`);
      break;
    }
    if (decision.outcome !== 'OUTCOME_REQUIRES_CONSENSUS') {
      notes.push(before);
      break;
    }
    if (!voteStanding({ ...input, approvals: given }, vote).counts) {
      notes.push(`the approval of ${voter} counts for nothing, so the service refuses it`);
      continue;
    }
    given.push(vote);
    decision = judge(given, 'VOTE');
  }

  const found = [...differences(test.expected, decision, (policyId) => nameOf(tests, policyId)), ...wrong];
  return { name: test.name, passed: found.length === 0, expected: test.expected, differences: found, notes, decision };
}

/** A policy that fails only because the case leaves something out says nothing about real requests. */
function requireSpelledOut({ cursor, governed, spelledOut }: TestCase, { evaluations }: Decision): void {
  if (governed === undefined || spelledOut === undefined) return;
  for (const { policyName, trace } of evaluations) {
    for (const [element, condition] of (trace?.conditions ?? []).entries()) {
      const omission = omissionIn(condition, governed, spelledOut[element] ?? []);
      if (omission === undefined) continue;
      const { name, isCertain } = omission;
      const why = isCertain
        ? 'which every such request has and the case leaves out'
        : 'and the case gives neither that nor what a request has in its place';
      cursor.fail(`policy '${policyName}' reads ${name}, ${why}`);
    }
  }
}
