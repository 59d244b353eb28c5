import { assert } from '../../lib/assert.ts';
import { activityType } from '../catalog/activity-types.ts';
import { typeSetOf } from '../catalog/type-set.ts';
import type { ConditionFacts, PolicyCredential } from '../language/structs.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { instantFromMs } from '../time/timestamp.ts';
import { weightOfApprovers } from './approver-requirements.ts';
import type { Decision, DecisionInput, DecisionOptions, GovernedActivity } from './decision.ts';
import type { Circumstances } from './outcome.ts';
import type { Cost } from './policy-index.ts';
import { type PreparedPolicy, presentNamespaces } from './policy-set.ts';
import type { Approved, Member } from './reachability.ts';

/** 9999-12-31T23:59:59.999Z, the last instant that a Timestamp can name. */
const NOW_MS_MAX = 253_402_300_799_999;

/** Stops on input that could only be our own mistake, and that would decide wrongly. */
export function requireSound({ organization, activity, approvals, nowMs }: DecisionInput): void {
  const { rootThreshold } = organization;
  // A threshold of nothing would allow everything.
  assert(Number.isSafeInteger(rootThreshold) && rootThreshold >= 1, 'a root quorum needs at least one approval');
  assert(Number.isSafeInteger(nowMs) && nowMs >= 0 && nowMs <= NOW_MS_MAX, 'the time is in milliseconds since 1970');
  assert(approvals.length > 0, 'the submission is the first approval');
  // Without an element there would be nothing to deny.
  assert(activity.governedBy !== 'policy' || activity.elements.length > 0, 'a request has at least one element');
  const row = activityType(activity.type);
  assert(row === undefined || row.governedBy === activity.governedBy, 'the activity is governed as its type says');
}

export interface RootQuorum {
  readonly isMet: boolean;
  /** Whether all approvers are of the quorum, and the rest of it could still agree. */
  readonly isWaiting: boolean;
  readonly missingUserIds: readonly string[];
  readonly summary: Decision['rootQuorum'];
}

export function rootQuorumOf({ organization, approvals, members: users }: DecisionInput): RootQuorum {
  const { rootThreshold, rootUserIds } = organization;
  const members = new Set(rootUserIds);
  const live = new Set([...rootUserIds, ...users.map(({ id }) => id)]);
  const approvers = new Set(approvals.map(({ userId }) => userId).filter((userId) => live.has(userId)));
  const given = [...approvers].filter((userId) => members.has(userId)).length;
  const isReachable = members.size >= rootThreshold;
  return {
    isMet: given >= rootThreshold,
    isWaiting: isReachable && given > 0 && given === approvers.size,
    missingUserIds: isReachable ? [...members].filter((userId) => !approvers.has(userId)) : [],
    summary: { required: rootThreshold, given, isReachable },
  };
}

function approvedOf({ members, approvals }: DecisionInput): Approved {
  const byId = new Map(members.map((member) => [member.id, member]));
  const users = new Map<string, Member>();
  const credentials = new Map<string, PolicyCredential>();
  for (const { userId, credential } of approvals) {
    const member = byId.get(userId);
    // Whoever is no longer a user of the organization does not count.
    if (member === undefined) continue;
    assert(credential.user_id === userId, 'an approval is given with a credential of the approver');
    users.set(userId, member);
    credentials.set(credential.id, credential);
  }
  return { users: [...users.values()], credentials: [...credentials.values()] };
}

/** What the policies of a decision are evaluated on. */
export function circumstancesOf(
  input: DecisionInput,
  activity: GovernedActivity,
  { trace = false, traceNodesMax }: DecisionOptions = {},
): Circumstances {
  const { type, kind, resource, action, params } = activity;
  const approved = approvedOf(input);
  return {
    time: { time: { now: instantFromMs(input.nowMs) } },
    conditions: activity.elements.map(
      (namespaces): ConditionFacts => ({ ...namespaces, activity: { type, kind, resource, action, params } }),
    ),
    consensus: { approvers: approved.users, credentials: approved.credentials },
    approved,
    members: input.members,
    budget: { steps: POLICY_LIMITS.decisionSteps },
    search: { steps: POLICY_LIMITS.searchSteps },
    tracing: trace
      ? {
          nodesMax: traceNodesMax ?? POLICY_LIMITS.traceNodes,
          // Whoever sets a bound of its own has room for it.
          nodesLeft: traceNodesMax === undefined ? POLICY_LIMITS.decisionTraceNodes : Number.POSITIVE_INFINITY,
        }
      : undefined,
  };
}

/**
 * Does a part of a decision with the policies that it takes: all of a small number; of many, those that can concern the
 * activity. Of these it first tries those alone whose comparisons hold, and does the part again with the rest if
 * `needsRest` says so, or if evaluating them could have used up what the decision may cost (docs/decisions/0048).
 */
export function withPolicies<T>(
  input: DecisionInput,
  activity: GovernedActivity,
  options: DecisionOptions,
  part: (policies: readonly PreparedPolicy[], circumstances: Circumstances) => T,
  needsRest: (result: T) => boolean = () => false,
): T {
  const { policies } = input;
  const circumstances = circumstancesOf(input, activity, options);
  const listAll = options.listAll ?? policies.policies.length <= POLICY_LIMITS.listedPolicies;
  if (listAll) return part(policies.policies, circumstances);
  const types = typeSetOf(activity);
  const present = presentNamespaces(activity.elements);
  const { conditions, approved, budget, search } = circumstances;
  const weight = weightOfApprovers(approved.users);
  const isLeft = ({ once, perElement, perApprover }: Cost): boolean => {
    const searched = perApprover * weight;
    return budget.steps > once + perElement * conditions.length + searched && search.steps > searched;
  };
  const concerned = (): readonly PreparedPolicy[] => policies.concerned(types, present);
  const sought = { conditions, approvers: approved.users };
  // Where what may be left out could cost too much, finding it may too, and would be for nothing.
  const matching = policies.matching(types, present, sought, isLeft);
  if (matching === undefined) return part(concerned(), circumstances);
  const result = part(matching.policies, circumstances);
  if (isLeft(matching.leftOut) && !needsRest(result)) return result;
  return part(concerned(), circumstancesOf(input, activity, options));
}
