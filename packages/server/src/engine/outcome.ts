import type { Activity, OpenTo, StoredError, Vote } from '../core/model.ts';
import { MfaRequirements, NewEvaluations } from '../core/rules.ts';
import { UsedTokenStore } from '../core/store/used-tokens.ts';
import { ApiError } from '../lib/errors.ts';
import type { Decision, PolicyEvaluation, PolicyTrace, TraceNode, VoteEvaluation } from '../policy/index.ts';
import type { Stores } from '../storage/stores.ts';
import { type ActivityEvent, type ActivityMover, moveOn } from './activities/status.ts';
import type { Outcome } from './authorize.ts';
import { denialReason } from './denial.ts';

/** More users than this are not named; whoever else asks is told that the approval may count. */
const NAMED_MAX = 1000;

/** Who may still approve, as the flags of an activity tell it; votes themselves are always decided anew. */
export function openToOf({ openTo }: Decision): OpenTo {
  const userIds = [...new Set(openTo.policies.flatMap((policy) => policy.userIds))];
  const anyone = openTo.policies.some((policy) => policy.anyone) || userIds.length > NAMED_MAX;
  return { anyone, userIds: anyone ? [] : userIds };
}

/** What an outcome that executes nothing makes of the activity. */
export function afterOutcome(
  activity: Activity,
  outcome: Exclude<Outcome, { kind: 'execute' }>,
  by: ActivityMover,
): Activity {
  const moved = (event: ActivityEvent): Activity => ({ ...activity, status: moveOn(activity.status, event, by) });
  switch (outcome.kind) {
    case 'deny': {
      const denial = { errorCode: 'REQUEST_NOT_AUTHORIZED', message: outcome.why ?? denialReason(outcome.decision) };
      return { ...moved('denied'), denial, openTo: undefined };
    }
    case 'authenticate': {
      // Who may approve besides stays as it is until this approval counts.
      const openTo = activity.openTo ?? openToOf(outcome.decision);
      return { ...moved('proofs-missing'), openTo, hasMfa: true };
    }
    case 'wait':
      return {
        ...moved('approvals-missing'),
        openTo: openToOf(outcome.decision),
        hasMfa: activity.hasMfa || outcome.requirements.length > 0,
      };
  }
}

/** It was allowed, and what it did was refused. */
export const failedWith = (activity: Activity, failure: StoredError, by: ActivityMover): Activity => ({
  ...activity,
  status: moveOn(activity.status, 'failed', by),
  failure,
  openTo: undefined,
});

/** Its proposer or the key that proposed it is gone, and nothing runs as somebody else (docs/decisions/0032). */
export const abandonedWith = (activity: Activity, failure: StoredError): Activity => ({
  ...activity,
  status: moveOn(activity.status, 'abandoned', 'service'),
  failure,
  openTo: undefined,
});

export const evaluationsOf = (outcome: Pick<Outcome, 'decision'>): readonly PolicyEvaluation[] =>
  told(outcome.decision?.evaluations ?? []);

/** Where factors are missing, the policies that would allow it, now or after further approvals, wait for them first. */
function atVote(outcome: Outcome): readonly VoteEvaluation[] {
  const evaluations = evaluationsOf(outcome);
  if (outcome.kind !== 'authenticate') return evaluations;
  const deciding = new Set(outcome.decision.decidingPolicyIds);
  return evaluations.map((evaluation) =>
    deciding.has(evaluation.policyId) ? { ...evaluation, outcome: 'OUTCOME_REQUIRES_AUTHENTICATORS' } : evaluation,
  );
}

/** Keeps with the vote what led to its outcome. */
export async function keepReasons(
  stores: Stores,
  { organizationId, id }: Activity,
  vote: Vote,
  outcome: Outcome,
): Promise<void> {
  const evaluations = atVote(outcome);
  if (evaluations.length > 0) {
    await stores(NewEvaluations).insertEvaluation(organizationId, {
      activityId: id,
      voteId: vote.id,
      evaluations: trimmed(evaluations, outcome.decision?.decidingPolicyIds ?? []),
      createdAtMs: vote.createdAtMs,
    });
  }
  if (outcome.kind === 'deny') return;
  for (const requirement of outcome.requirements)
    await stores(MfaRequirements).putRequirement(organizationId, requirement);
  for (const { issuerId, tokenId, expiresAtMs } of outcome.spent) {
    // One token proves at most one step of one activity (protocol/login 10.3).
    const use = { tokenId, purpose: 'proof', activityId: id, expiresAtMs };
    if (!(await stores(UsedTokenStore).useToken(issuerId, use, vote.createdAtMs))) {
      throw new ApiError('INVALID_VERIFICATION_TOKEN', 'this token has already proven a factor');
    }
  }
}

/** Some 80 KB. */
const NODES_KEPT_MAX = 400;

const OUTCOMES_KEPT_MAX = 1000;

/** Of very many policies, those whose condition is false are left out first: they said nothing. */
function told(evaluations: readonly PolicyEvaluation[]): readonly PolicyEvaluation[] {
  if (evaluations.length <= OUTCOMES_KEPT_MAX) return evaluations;
  let room = OUTCOMES_KEPT_MAX - evaluations.filter(({ reason }) => reason !== 'CONDITION_FALSE').length;
  return evaluations
    .filter(({ reason }) => {
      if (reason !== 'CONDITION_FALSE') return true;
      room -= 1;
      return room >= 0;
    })
    .slice(0, OUTCOMES_KEPT_MAX);
}

/** Trees of many policies would outweigh the activity, so only some are kept, those of the deciding policies first. */
function trimmed(evaluations: readonly VoteEvaluation[], decidingIds: readonly string[]): VoteEvaluation[] {
  const deciding = new Set(decidingIds);
  let left = NODES_KEPT_MAX;
  const keeps = new Set<VoteEvaluation>();
  for (const evaluation of [...evaluations].sort(
    (one, other) => Number(deciding.has(other.policyId)) - Number(deciding.has(one.policyId)),
  )) {
    const nodes = countNodes(evaluation.trace);
    if (nodes > left) continue;
    left -= nodes;
    keeps.add(evaluation);
  }
  return evaluations.map((evaluation) => {
    if (keeps.has(evaluation)) return evaluation;
    const { trace: _left, ...rest } = evaluation;
    return rest;
  });
}

const countNodes = (trace: PolicyTrace | undefined): number =>
  trace === undefined
    ? 0
    : [trace.time, ...trace.conditions, trace.consensus].reduce((sum, tree) => sum + sizeOf(tree), 0);

const sizeOf = (tree: TraceNode | undefined): number =>
  tree === undefined ? 0 : tree.children.reduce((sum, child) => sum + sizeOf(child), 1);
