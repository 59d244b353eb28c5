// protocol/policies 8.3, steps 2 to 10, for one vote; the votes before it are given. Authentication and the other
// checks of step 1 come before, and votes that have lapsed or still lack a factor are not handed in.
import { ACTIVITY_FACTS } from './activity-table.ts';
import {
  type Approval,
  type ConsensusEvaluation,
  type CredentialFacts,
  evaluateConsensus,
  type UserFacts,
} from './consensus.ts';
import { compile } from './language.ts';
import { type PolicyFacts, type PolicyOutcome, type PolicyText, policyOutcome } from './outcome.ts';
import type { JsonObject } from './values.ts';

export interface OrganizationUser {
  readonly id: string;
  readonly tags: readonly string[];
  readonly email?: string;
  readonly alias?: string;
  /** Absent: one API key, named after the user. */
  readonly credentials?: readonly { readonly id: string; readonly type: string }[];
}

export interface Organization {
  readonly users: readonly OrganizationUser[];
  readonly root: { readonly threshold: number; readonly userIds: readonly string[] };
}

export interface ActivityRequest {
  readonly type: string;
  readonly kind?: string;
  readonly resource?: string;
  readonly action?: string;
  readonly params?: JsonObject;
  /** The user whose credentials or session the request is about; `params.user_id` when absent. */
  readonly targetUserId?: string;
  /** The other condition keywords. */
  readonly context?: JsonObject;
  /** For requests of several elements (protocol/policy-facts 3.2): one set of keywords each, on top of `context`. */
  readonly elements?: readonly JsonObject[];
}

export interface Vote {
  readonly user: string;
  readonly credType?: string;
}

export interface DecisionInput {
  readonly org: Organization;
  readonly policies: readonly PolicyText[];
  readonly activity: ActivityRequest;
  readonly now: string;
  /** In order; the last one is being decided, and a single one is the submission. */
  readonly votes: readonly Vote[];
  /** False when an MFA policy of the voter is not satisfied yet. */
  readonly mfaSatisfied?: boolean;
}

export type FinalOutcome =
  | 'OUTCOME_ALLOW'
  | 'OUTCOME_DENY_EXPLICIT'
  | 'OUTCOME_DENY_IMPLICIT'
  | 'OUTCOME_REQUIRES_CONSENSUS'
  | 'OUTCOME_REQUIRES_AUTHENTICATORS';

export interface Decision {
  readonly final: FinalOutcome;
  readonly perPolicy: Readonly<Record<string, PolicyOutcome>>;
}

const DEFAULT_CREDENTIAL_TYPE = 'CREDENTIAL_TYPE_API_KEY_P256';
const RECOVERY_CREDENTIAL_TYPE = 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256';
const OWN_CREDENTIAL_KINDS = /^(CREATE|DELETE)_(API_KEYS|AUTHENTICATORS|OAUTH_PROVIDERS)$/;
const OWN_SESSION_KINDS = /^(STAMP_LOGIN|CREATE_READ_ONLY_SESSION|CREATE_READ_WRITE_SESSION)$/;

/** protocol/policies 8.6, for requests of several elements: the outcome further to the left is the one that is kept. */
const WORST_FIRST: readonly PolicyOutcome[] = [
  'OUTCOME_DENY_EXPLICIT',
  'OUTCOME_ERROR',
  'OUTCOME_REQUIRES_CONSENSUS',
  'OUTCOME_DENY_IMPLICIT',
  'OUTCOME_TIME_INACTIVE',
  'OUTCOME_ALLOW',
];

export function decide(input: DecisionInput): Decision {
  const decision = decideWithoutMfa(input);
  const goesOn = decision.final === 'OUTCOME_ALLOW' || decision.final === 'OUTCOME_REQUIRES_CONSENSUS';
  if (!goesOn || input.mfaSatisfied !== false) return decision;
  return { ...decision, final: 'OUTCOME_REQUIRES_AUTHENTICATORS' };
}

function decideWithoutMfa(input: DecisionInput): Decision {
  const { org, activity, votes } = input;
  const approvals = approvalsOf(org, votes);
  const isRoot = ({ user }: Approval): boolean => org.root.userIds.includes(user.id);
  const rootApprovals = approvals.filter(isRoot).length;
  const allAreRoot = rootApprovals === approvals.length;
  const isSubmission = votes.length === 1;

  if (rootApprovals >= org.root.threshold) return { final: 'OUTCOME_ALLOW', perPolicy: {} };

  if (isRootQuorumOnly(activity)) {
    const waits = !isSubmission || allAreRoot;
    return { final: waits ? 'OUTCOME_REQUIRES_CONSENSUS' : 'OUTCOME_DENY_IMPLICIT', perPolicy: {} };
  }

  const evaluations = elementContexts(activity).map((context) => outcomesOf(input, approvals, context));
  const perPolicy = mergeWorst(evaluations);
  const final = combine(evaluations);

  if (final === 'OUTCOME_DENY_EXPLICIT') {
    const rootMayOverride = org.root.threshold > 1 && allAreRoot;
    return { final: rootMayOverride ? 'OUTCOME_REQUIRES_CONSENSUS' : final, perPolicy };
  }
  if (final !== undefined) return { final, perPolicy };
  if (isAllowedByDefault(activity, votes)) return { final: 'OUTCOME_ALLOW', perPolicy };
  if (allAreRoot && isRootPathOpen(org)) return { final: 'OUTCOME_REQUIRES_CONSENSUS', perPolicy };
  return { final: isSubmission ? 'OUTCOME_DENY_IMPLICIT' : 'OUTCOME_REQUIRES_CONSENSUS', perPolicy };
}

/**
 * Whether a further vote is accepted at all: the voter is a root member while the root path is open, or is included in the
 * consensus of a policy that waits without the vote. A policy that would allow already waits for any vote that lets it;
 * while the root quorum gathers over a denial, no policy waits.
 */
export function mayVote(input: DecisionInput, vote: Vote): boolean {
  const { org, activity, policies, votes } = input;
  if (org.root.userIds.includes(vote.user) && isRootPathOpen(org)) return true;
  if (isRootQuorumOnly(activity)) return false;
  const approvals = approvalsOf(org, votes);
  const evaluations = elementContexts(activity).map((context) => outcomesOf(input, approvals, context));
  const isDenied = evaluations.some((outcomes) => Object.values(outcomes).includes('OUTCOME_DENY_EXPLICIT'));
  if (isDenied && approvals.every(({ user }) => org.root.userIds.includes(user.id))) return false;
  const voter = approvalsOf(org, [...votes, vote]).filter(({ user }) => user.id === vote.user);
  const isAllowed = evaluations.every((outcomes) => Object.values(outcomes).includes('OUTCOME_ALLOW'));
  const waiting: readonly PolicyOutcome[] = ['OUTCOME_REQUIRES_CONSENSUS', ...(isAllowed ? ALLOW : [])];
  return policies.some(
    ({ id, consensus }) =>
      evaluations.some((outcomes) => waiting.includes(outcomes[id]!)) &&
      serves(evaluateConsensus(compile(consensus, 'consensus'), voter), vote.user),
  );
}

const ALLOW: readonly PolicyOutcome[] = ['OUTCOME_ALLOW'];

/** The voter is part of the consensus, or alone the whole of it. */
function serves({ result, includedUserIds }: ConsensusEvaluation, userId: string): boolean {
  return includedUserIds.has(userId) || (result.ok && result.value);
}

type Outcomes = Readonly<Record<string, PolicyOutcome>>;

function outcomesOf(input: DecisionInput, approvals: readonly Approval[], context: JsonObject): Outcomes {
  const facts: PolicyFacts = {
    now: input.now,
    context,
    approvals,
    everyone: input.org.users.map(approvalWithEverything),
  };
  return Object.fromEntries(input.policies.map((policy) => [policy.id, policyOutcome(policy, facts)]));
}

/** Steps 4 to 6 over all elements; undefined when no policy settles every element. */
function combine(evaluations: readonly Outcomes[]): FinalOutcome | undefined {
  const finals = evaluations.map((outcomes) => {
    const present = Object.values(outcomes);
    if (present.includes('OUTCOME_DENY_EXPLICIT')) return 'OUTCOME_DENY_EXPLICIT';
    if (present.includes('OUTCOME_ALLOW')) return 'OUTCOME_ALLOW';
    return present.includes('OUTCOME_REQUIRES_CONSENSUS') ? 'OUTCOME_REQUIRES_CONSENSUS' : undefined;
  });
  if (finals.includes('OUTCOME_DENY_EXPLICIT')) return 'OUTCOME_DENY_EXPLICIT';
  if (finals.includes(undefined)) return undefined;
  return finals.includes('OUTCOME_REQUIRES_CONSENSUS') ? 'OUTCOME_REQUIRES_CONSENSUS' : 'OUTCOME_ALLOW';
}

function mergeWorst(evaluations: readonly Outcomes[]): Outcomes {
  const merged: Record<string, PolicyOutcome> = {};
  for (const [id, outcome] of evaluations.flatMap((outcomes) => Object.entries(outcomes))) {
    const known = merged[id];
    if (known === undefined || WORST_FIRST.indexOf(outcome) < WORST_FIRST.indexOf(known)) merged[id] = outcome;
  }
  return merged;
}

/** Step 7: the user whose account it is has approved. A login without a user is for whoever submitted it. */
function isAllowedByDefault(activity: ActivityRequest, votes: readonly Vote[]): boolean {
  const kind = activity.kind ?? '';
  const paramUserId = activity.params?.user_id;
  const targetUserId = activity.targetUserId ?? (typeof paramUserId === 'string' ? paramUserId : undefined);
  const ofTarget = votes.filter(({ user }) => user === targetUserId);
  if (OWN_CREDENTIAL_KINDS.test(kind)) return ofTarget.length > 0;
  if (OWN_SESSION_KINDS.test(kind)) return targetUserId === undefined || ofTarget.length > 0;
  return kind === 'RECOVER_USER' && ofTarget.some(({ credType }) => credType === RECOVERY_CREDENTIAL_TYPE);
}

const isRootQuorumOnly = ({ type }: ActivityRequest): boolean => ACTIVITY_FACTS.get(type)?.governedBy === 'rootQuorum';

const isRootPathOpen = ({ root }: Organization): boolean => root.userIds.length >= root.threshold;

function elementContexts({ type, kind, resource, action, params, context, elements }: ActivityRequest): JsonObject[] {
  const activity = { type, kind, resource, action, params: params ?? {} };
  return (elements ?? [{}]).map((element) => ({ ...context, ...element, activity }));
}

/** Each approving user once, in the order of the first vote, with every credential that voted. */
function approvalsOf(org: Organization, votes: readonly Vote[]): Approval[] {
  const userIds = [...new Set(votes.map(({ user }) => user))];
  return userIds.map((userId) => {
    const user = org.users.find(({ id }) => id === userId);
    if (user === undefined) throw new Error(`no user ${userId}`);
    const types = new Set(votes.filter((vote) => vote.user === userId).map(typeOfVote));
    return { user: userFacts(user), credentials: [...types].map((type) => credentialUsed(user, type)) };
  });
}

const typeOfVote = ({ credType }: Vote): string => credType ?? DEFAULT_CREDENTIAL_TYPE;

function approvalWithEverything(user: OrganizationUser): Approval {
  const credentials = user.credentials ?? [{ id: `c-${user.id}`, type: DEFAULT_CREDENTIAL_TYPE }];
  return { user: userFacts(user), credentials: credentials.map(({ id, type }) => credentialFacts(user.id, id, type)) };
}

function credentialUsed(user: OrganizationUser, type: string): CredentialFacts {
  const known = user.credentials?.find((credential) => credential.type === type);
  return credentialFacts(user.id, known?.id ?? `c-${user.id}`, type);
}

function credentialFacts(userId: string, id: string, type: string): CredentialFacts {
  return { id, user_id: userId, type, credential_id: '', public_key: '' };
}

function userFacts({ id, tags, email, alias }: OrganizationUser): UserFacts {
  return { id, tags, email: email ?? '', alias: alias ?? '' };
}
