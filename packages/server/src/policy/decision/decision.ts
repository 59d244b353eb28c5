import type { ActivityParams, Namespaces, PolicyCredential } from '../language/structs.ts';
import type { PolicyEvaluation } from './outcome.ts';
import type { PolicySet } from './policy-set.ts';
import type { Member } from './reachability.ts';

/**
 * The organization that decides: the one acted on, or its parent for what a parent runs there (protocol/consensus 5.2).
 */
export interface OrganizationFacts {
  readonly id: string;
  readonly rootThreshold: number;
  readonly rootUserIds: readonly string[];
}

/** What is requested, as policies see it. */
export type ActivityFacts =
  | {
      readonly governedBy: 'policy';
      readonly type: string;
      readonly kind: string;
      readonly resource: string;
      readonly action: string;
      readonly params: ActivityParams;
      /**
       * One for each element of a request with several transactions, payloads or secrets; otherwise just one
       * (protocol/policy-facts 3.2).
       */
      readonly elements: readonly Namespaces[];
      /** The user whose own credentials or sessions the activity is about. */
      readonly subjectUserId?: string | undefined;
    }
  | { readonly governedBy: 'rootQuorum'; readonly type: string };

/** A live approval. The submission is the first one. */
export interface Approval {
  readonly userId: string;
  readonly credential: PolicyCredential;
}

export interface DecisionInput {
  readonly organization: OrganizationFacts;
  readonly activity: ActivityFacts;
  readonly policies: PolicySet;
  /**
   * Everyone who approved, with current tags, and whoever `directoryNeeds` asks for. Approvals of others do not count.
   */
  readonly members: readonly Member[];
  /** In the order they were given; a user may occur again with another credential. */
  readonly approvals: readonly Approval[];
  /** A submission can be denied for want of a policy, a later vote cannot (protocol/policies 8.3, step 9). */
  readonly phase: 'SUBMISSION' | 'VOTE';
  /** The time of the server, once per request. */
  readonly nowMs: number;
  /** A rule of the service allows the request; only an explicit denial stands above it (protocol/sign-up-proxy 4.2). */
  readonly grantedByService?: boolean;
}

export interface DecisionOptions {
  /** Adds the tree of every evaluated expression. */
  readonly trace?: boolean;
  /** How many sub-expressions each tree shows at most; POLICY_LIMITS.traceNodes unless told. */
  readonly traceNodesMax?: number;
  /**
   * Evaluates all policies, also those that cannot concern the activity. On by default up to
   * POLICY_LIMITS.listedPolicies.
   */
  readonly listAll?: boolean;
}

export type DecisionOutcome =
  | 'OUTCOME_ALLOW'
  | 'OUTCOME_DENY_EXPLICIT'
  | 'OUTCOME_DENY_IMPLICIT'
  | 'OUTCOME_REQUIRES_CONSENSUS';

export type DecisionReason =
  | 'ROOT_QUORUM'
  /** Only the root quorum may do this, and the submitter is not of it. */
  | 'ROOT_QUORUM_ONLY'
  | 'ROOT_QUORUM_PENDING'
  | 'POLICY_DENIED'
  | 'GRANTED_BY_SERVICE'
  | 'POLICY_ALLOWED'
  | 'POLICY_PENDING'
  | 'OWN_ACCOUNT'
  /** A vote that changed nothing: the activity stays open. */
  | 'STILL_PENDING'
  | 'NO_POLICY_ALLOWS';

/** What a request may do, why, and what would change it: plain data that can be stored and shown. */
export interface Decision {
  readonly organizationId: string;
  readonly outcome: DecisionOutcome;
  readonly reason: DecisionReason;
  /** The policies that gave this outcome. */
  readonly decidingPolicyIds: readonly string[];
  /** The evaluated policies in their order; none when the root quorum decided. */
  readonly evaluations: readonly PolicyEvaluation[];
  /** How many policies were left out because they cannot concern such an activity, or do not apply to it. */
  readonly unconcernedCount: number;
  /** The rule that users manage their own account, and whether a policy took its place. */
  readonly ownAccountRule: 'APPLIED' | 'REPLACED_BY_POLICY' | 'NOT_APPLICABLE';
  readonly rootQuorum: { readonly required: number; readonly given: number; readonly isReachable: boolean };
  /** Who could still approve, of the users that were handed in; empty unless approvals are awaited. */
  readonly openTo: { readonly rootUserIds: readonly string[]; readonly policies: readonly PendingPolicy[] };
}

export interface PendingPolicy {
  readonly policyId: string;
  readonly userIds: readonly string[];
  /** Whether the consensus counts all approvers or credentials, so that anybody's approval serves it. */
  readonly anyone: boolean;
}

export type GovernedActivity = Extract<ActivityFacts, { readonly governedBy: 'policy' }>;
