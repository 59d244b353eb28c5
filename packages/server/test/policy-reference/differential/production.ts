// The production engine, asked in the words of the reference.
import {
  type ActivityFacts,
  type Approval,
  compileExpression,
  createExpressionCache,
  decide,
  type Expression,
  evaluate,
  factsFromJson,
  kindOfField,
  type Member,
  mfaApplies,
  type DecisionInput as ProductionInput,
  preparePolicies,
  scopeCovers,
  voteStanding,
} from '../../../src/policy/index.ts';
import type { ActivityRequest, Decision, DecisionInput, OrganizationUser, Vote } from '../reference/decision.ts';
import type { ExpressionField } from '../reference/keywords.ts';
import type { JsonObject } from '../reference/values.ts';

/** `true`, `false` or a code. Unlike the reference, the engine is not asked about an expression that is absent. */
export function productionVerdict(text: string, field: ExpressionField, context: JsonObject): string {
  if (text === '') return 'true';
  const kind = kindOfField(field);
  const compilation = compileExpression(kind, text);
  if (!compilation.ok) return compilation.error.code;
  const evaluation = evaluate(compilation.expression, factsFromJson(kind, context));
  return evaluation.ok ? String(evaluation.value) : evaluation.error.code;
}

const condition = (text: string): Expression<'condition'> => {
  const compilation = compileExpression('condition', text);
  if (!compilation.ok) throw new Error(`${compilation.error.code} in ${text}`);
  return compilation.expression;
};

const factsOf = (contexts: readonly JsonObject[]) => contexts.map((context) => factsFromJson('condition', context));

export const productionMfaApplies = (text: string, contexts: readonly JsonObject[]): boolean =>
  mfaApplies(condition(text), factsOf(contexts)).holds;

export const productionScopeCovers = (text: string, contexts: readonly JsonObject[]): boolean =>
  scopeCovers(condition(text), factsOf(contexts)).holds;

const cache = createExpressionCache();

/** What the votes come to; `concernedOnly` leaves out the policies that cannot concern the request. */
export function productionDecision(input: DecisionInput, concernedOnly: boolean): Decision {
  const { outcome, evaluations } = decide(inputOf(input), { listAll: !concernedOnly });
  return {
    final: outcome,
    perPolicy: Object.fromEntries(evaluations.map(({ policyId, outcome: ofPolicy }) => [policyId, ofPolicy])),
  };
}

/**
 * Whether every search for approvals that could still come was finished. One that takes too long leaves a policy waiting,
 * which the protocol does not foresee.
 */
export const isProductionDecided = (input: DecisionInput): boolean =>
  decide(inputOf(input)).evaluations.every(({ reason }) => reason !== 'CONSENSUS_UNDECIDED');

export const productionMayVote = (input: DecisionInput, vote: Vote): boolean =>
  voteStanding(inputOf(input), approvalOf(input, vote)).counts;

function inputOf(input: DecisionInput): ProductionInput {
  const { org, policies, activity, now, votes } = input;
  return {
    organization: { id: 'o', rootThreshold: org.root.threshold, rootUserIds: org.root.userIds },
    activity: activityOf(activity, votes),
    policies: preparePolicies(policies, cache),
    members: org.users.map(memberOf),
    approvals: votes.map((vote) => approvalOf(input, vote)),
    phase: votes.length === 1 ? 'SUBMISSION' : 'VOTE',
    nowMs: Date.parse(now),
  };
}

function memberOf({ id, tags, email = '', alias = '', credentials = [] }: OrganizationUser): Member {
  return {
    id,
    tags,
    email,
    alias,
    credentials: credentials.map((credential) => ({
      ...credential,
      user_id: id,
      credential_id: '',
      public_key: '',
    })),
  };
}

function approvalOf({ org }: DecisionInput, { user, credType }: Vote): Approval {
  const credential = org.users
    .filter(({ id }) => id === user)
    .flatMap((found) => memberOf(found).credentials)
    .find(({ type }) => type === credType);
  if (credential === undefined) throw new Error(`${user} has no ${credType}`);
  return { userId: user, credential };
}

/** A login names no user: it is for whoever submits it. */
const LOGIN_KIND = 'STAMP_LOGIN';

function activityOf(request: ActivityRequest, [submission]: readonly Vote[]): ActivityFacts {
  const { type, kind, resource, action, params = {}, targetUserId, context, elements = [{}] } = request;
  if (kind === undefined || resource === undefined || action === undefined) return { governedBy: 'rootQuorum', type };
  const facts = elements.map((element) =>
    factsFromJson('condition', { ...context, ...element, activity: { type, kind, resource, action, params } }),
  );
  const subjectUserId = targetUserId ?? (kind === LOGIN_KIND ? submission?.user : undefined);
  return {
    governedBy: 'policy',
    type,
    kind,
    resource,
    action,
    params: facts[0]?.activity?.params ?? {},
    elements: facts.map(({ activity: _activity, ...namespaces }) => namespaces),
    subjectUserId,
  };
}
