import { circumstancesOf } from './circumstances.ts';
import { type ConsensusProgress, consensusProgress } from './consensus-progress.ts';
import { decide } from './decide.ts';
import type { Decision, DecisionInput, PendingPolicy } from './decision.ts';
import { consensusShape } from './policy-set.ts';
import { isIncluded } from './reachability.ts';

/** A policy that waits, and how far its consensus is. */
export interface AwaitedPolicy extends PendingPolicy {
  readonly policyName: string | undefined;
  /** How many approvals count for it. */
  readonly given: number;
  /** How many it asks for, where its text tells. */
  readonly required: number | undefined;
}

export interface Awaited {
  readonly decision: Decision;
  readonly policies: readonly AwaitedPolicy[];
}

/** What a request waits for: the decision on the approvals so far, with how far each policy is that waits. */
export function awaited(input: DecisionInput): Awaited {
  const decision = decide(input);
  const { activity, policies } = input;
  if (activity.governedBy !== 'policy' || decision.openTo.policies.length === 0) return { decision, policies: [] };
  const { consensus: facts, approved, search } = circumstancesOf(input, activity);
  return {
    decision,
    policies: decision.openTo.policies.map((pending): AwaitedPolicy => {
      const { policy, consensus } = policies.byId.get(pending.policyId) ?? {};
      const progress: ConsensusProgress | undefined = consensus && consensusProgress(consensus, facts);
      const serves = (user: (typeof approved.users)[number]): boolean => {
        if (consensus === undefined) return true;
        const credentials = approved.credentials.filter((credential) => credential.user_id === user.id);
        return isIncluded(consensus, consensusShape(consensus), user, credentials, search);
      };
      return {
        ...pending,
        policyName: policy?.name,
        given: progress?.given ?? approved.users.filter(serves).length,
        required: progress?.required,
      };
    }),
  };
}
