import { setImmediate } from 'node:timers/promises';
import { type Actor, publicKeyOf, sessionProfileIdOf } from '../../../core/actor.ts';
import { Users } from '../../../core/directory.ts';
import type { IpAllowlist, VelocityControl } from '../../../core/model.ts';
import type { App } from '../../../engine/app.ts';
import {
  type Authorization,
  enforcedMfa,
  isInScope,
  openAuthorization,
  ruleInputsOf,
  subjectOf,
} from '../../../engine/authorize.ts';
import { decideByRules, standingOf } from '../../../engine/decide-by-rules.ts';
import { approvalOf, approverOf } from '../../../engine/evidence.ts';
import { requireModest } from '../../../engine/expressions.ts';
import { type Intent, openIntent } from '../../../engine/intent.ts';
import { toMember } from '../../../engine/members.ts';
import { orRefusal } from '../../../engine/rejection.ts';
import { countsAgainst, totalWith } from '../../../engine/reserve.ts';
import { isAllowedFrom } from '../../../engine/rules/allowlist.ts';
import { isMetAtOnce } from '../../../engine/rules/mfa.ts';
import {
  groupOf,
  isExhausted,
  type Motion,
  motionsFor,
  refusedUncounted,
  satisfies,
  toDecimal,
} from '../../../engine/rules/velocity.ts';
import { requireScope } from '../../../engine/submit.ts';
import { firstDuplicate } from '../../../lib/collections.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import type { ActivityId, UserId } from '../../../lib/ids.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { parseAddress } from '../../../lib/network.ts';
import { type Approval, type Decision, explainDecision, type Policy, preparePolicies } from '../../../policy/index.ts';
import { renderMfaPolicy } from '../../users/render/mfa.ts';
import { checkPolicy, textsOf } from '../new-policies.ts';
import { approversNamed, explainAll, namesFor, renderDecisionWords } from '../words/explanations.ts';
import type { Simulation, SimulationRequest } from './shapes.ts';

/** Somebody whose approval is supposed. */
interface Supposed {
  readonly userId: UserId;
  readonly approval: Approval;
}

/**
 * What the rules would make of a request, by the same evaluator that decides. Only reads and describes: `prepare` is never
 * run, so that nobody can try out codes, tokens or keys here.
 */
export async function simulate(app: App, caller: Actor, wish: SimulationRequest, nowMs: number): Promise<Simulation> {
  if (wish.sourceAddress !== undefined && parseAddress(wish.sourceAddress) === undefined) {
    throw invalidField('sourceAddress', 'must be an IPv4 or IPv6 address');
  }
  const atMs = wish.atMs === undefined ? nowMs : Number(wish.atMs);
  const submitter = await submitterOf(app, caller, wish.submitterUserId);
  const intent = await intentOf(app, submitter, wish, atMs);
  const authorization = await rehearsal(app, submitter, intent, wish, atMs);

  const first = await decideByRules(
    ruleInputsOf(authorization),
    [approvalOf(submitter)],
    'SUBMISSION',
    wish.approverUserIds?.length ? 0 : TREES_SHOWN,
  );
  const refused: string[] = [];
  const approvals: Approval[] = [approvalOf(submitter)];
  const voters: UserId[] = [submitter.userId];
  let decision = first;
  const approverIds = [...new Set(wish.approverUserIds ?? [])];
  for (const userId of approverIds) {
    // Each vote is a decision of its own, and other requests come in between.
    await setImmediate();
    const voter = await supposedOf(app, submitter, userId);
    if (
      decision.outcome !== 'OUTCOME_REQUIRES_CONSENSUS' ||
      !(await counts(authorization, approvals, voter.approval))
    ) {
      refused.push(userId);
      continue;
    }
    approvals.push(voter.approval);
    voters.push(voter.userId);
    decision = await decideByRules(ruleInputsOf(authorization), approvals, 'VOTE', 0);
  }
  if (approverIds.length > 0) {
    await setImmediate();
    const phase = approvals.length === 1 ? 'SUBMISSION' : 'VOTE';
    decision = await decideByRules(ruleInputsOf(authorization), approvals, phase, TREES_SHOWN);
  }
  const covers = await isInScope(authorization, submitter);
  const isDenied = !covers || isDenial(decision) || (await orRefusal(() => requireDescribed(intent))) !== undefined;
  const mfa = await mfaOf(authorization, submitter, voters, isDenied);
  const subject = isDenied ? undefined : await intent.subject();
  const velocity = await velocityOf(authorization, isDenied);
  const allowlists = await app.accessRules.allowlistsOf(submitter.organization, app.storage.read);
  const network = networkOf(allowlists, submitter, wish.sourceAddress);
  const words = await wordsFor(app, submitter, decision, voters, atMs);
  return {
    status: statusOf(decision, {
      isDenied,
      mfa: mfa.find(
        ({ userId, satisfied }) => !satisfied && (userId === submitter.userId || userId === subject?.userId),
      ),
      velocity,
      network,
    }),
    outcome: decision.outcome,
    reason: decision.reason,
    decidingPolicyIds: [...decision.decidingPolicyIds],
    ...words,
    unconcernedCount: decision.unconcernedCount,
    ownAccountRule: decision.ownAccountRule,
    rootQuorum: { ...decision.rootQuorum },
    openTo: {
      rootUserIds: [...decision.openTo.rootUserIds],
      policies: decision.openTo.policies.map(({ policyId, anyone, userIds }) => ({
        policyId,
        anyone,
        userIds: [...userIds],
      })),
    },
    refusedApproverUserIds: refused,
    mfa,
    ...sessionOf(submitter, covers),
    network,
    velocity,
  };
}

/** The evaluations and the whole decision in plain words. */
async function wordsFor(
  { storage: { read }, config }: App,
  { organizationId }: Actor,
  decision: Decision,
  voters: readonly UserId[],
  atMs: number,
): Promise<Pick<Simulation, 'policyEvaluations' | 'explanation'>> {
  const { rootUserIds, policies: pending } = decision.openTo;
  const awaited = [...rootUserIds, ...pending.flatMap(({ userIds }) => userIds)].slice(0, AWAITED_NAMED_MAX);
  const [names, approvers] = await Promise.all([
    namesFor(read, organizationId, config.chains, decision.evaluations, awaited),
    approversNamed(read, organizationId, voters),
  ]);
  const namesOf = (userIds: readonly string[]): string[] => userIds.map((id) => names.thing(id)?.name ?? id);
  const { explained, rendered } = explainAll(decision.evaluations, {
    names,
    atMs,
    approvers,
    pendingNames: (policyId) => {
      const open = pending.find((one) => one.policyId === policyId);
      return open === undefined || open.anyone ? undefined : namesOf(open.userIds);
    },
  });
  const explanation = explainDecision({ decision, explained, missingRootNames: namesOf(rootUserIds) });
  return { policyEvaluations: rendered, explanation: renderDecisionWords(explanation) };
}

/** A sentence names no more people. */
const AWAITED_NAMED_MAX = 100;

/** More would take the time of others. */
const TREES_SHOWN = 25;

/** No activity has it: nothing is stored for a simulation. */
const NO_ACTIVITY = '00000000-0000-0000-0000-000000000000' as ActivityId;

/** The caller with its own credential, or another user of the organization with one that it has. */
async function submitterOf(app: App, caller: Actor, userId: string | undefined): Promise<Actor> {
  const { organization, organizationId } = caller;
  const isMember = caller.homeId === organizationId;
  if (userId === undefined && !isMember) {
    throw invalidField('submitterUserId', 'is required to simulate for an organization that the caller is no user of');
  }
  if (isMember && (userId === undefined || userId === caller.userId) && caller.credential.kind !== 'read-session') {
    return caller;
  }
  const record = await recordOf(app, caller, userId ?? caller.userId, 'submitterUserId');
  const [apiKey] = record.apiKeys;
  const [authenticator] = record.authenticators;
  if (apiKey === undefined && authenticator === undefined) {
    throw invalidField('submitterUserId', 'the user has no credential to submit with');
  }
  const credential: Actor['credential'] =
    apiKey !== undefined
      ? { kind: 'api-key', apiKey }
      : { kind: 'passkey', authenticator: authenticator as NonNullable<typeof authenticator> };
  return { ...caller, home: organization, homeId: organizationId, user: record.user, userId: record.id, credential };
}

async function recordOf(app: App, { organizationId }: Actor, userId: string, field: string) {
  const [record] = await app.storage.read(Users).members(organizationId, [userId]);
  if (record === undefined) throw invalidField(field, 'is no user of this organization');
  return record;
}

/** An approver with its first credential: with which one it would vote is not known. */
async function supposedOf(app: App, submitter: Actor, userId: string): Promise<Supposed> {
  const record = await recordOf(app, submitter, userId, 'approverUserIds');
  const [credential] = toMember(record).credentials;
  if (credential === undefined)
    throw invalidField('approverUserIds', 'one of the users has no credential to vote with');
  return { userId: record.id, approval: { userId: record.id, credential } };
}

async function intentOf(app: App, submitter: Actor, { request }: SimulationRequest, nowMs: number): Promise<Intent> {
  const { organization, organizationId } = submitter;
  if (request.organizationId !== undefined && request.organizationId !== organizationId) {
    throw invalidField('request.organizationId', 'must be the organization of the simulation');
  }
  const served = app.operations.find(request.type);
  if (served === undefined) throw invalidField('request.type', 'must be a type of activity that this service executes');
  const { operation, version } = served;
  const parameters = version.decode(request.parameters);
  requireScope(operation, organization);
  const intent = openIntent(app, app.storage.read, {
    operation,
    type: request.type,
    parameters,
    proposer: submitter,
    grantedByService: false,
    nowMs,
  });
  await intent.lookUp();
  return intent;
}

/** A authorization under the stored rules and the drafts. */
async function rehearsal(
  app: App,
  { organization }: Actor,
  intent: Intent,
  { draftPolicies = [] }: SimulationRequest,
  nowMs: number,
): Promise<Authorization> {
  const authority = { decider: organization, target: organization };
  const authorization = await openAuthorization(app, {
    read: app.storage.read,
    authority,
    intent,
    activityId: NO_ACTIVITY,
    nowMs,
  });
  if (draftPolicies.length === 0) return authorization;
  requireModest(draftPolicies.flatMap(textsOf), 'draftPolicies', LIMITS.draftsLength);
  const drafts = draftPolicies.map((draft, index): Policy => {
    checkPolicy(draft, `draftPolicies.${index}`);
    return {
      ...draft,
      id: draft.policyId ?? `draft-${index}`,
      name: draft.policyName,
      effect: draft.effect as Policy['effect'],
    };
  });
  const stored = authorization.rules.policies.policies.map(({ policy }) => policy);
  const known = new Set(stored.map(({ id }) => id));
  const replaced = draftPolicies.flatMap(({ policyId }) => (policyId === undefined ? [] : [policyId]));
  if (firstDuplicate(replaced) !== undefined || !replaced.every((id) => known.has(id))) {
    throw invalidField('draftPolicies', 'a policyId must be that of a stored policy, and stand here once');
  }
  const kept = stored.filter(({ id }) => !replaced.includes(id));
  const policies = preparePolicies([...kept, ...drafts], app.accessRules.expressions);
  return { ...authorization, rules: { ...authorization.rules, policies } };
}

const counts = async (authorization: Authorization, earlier: readonly Approval[], vote: Approval): Promise<boolean> =>
  (await standingOf(ruleInputsOf(authorization), earlier, vote)).counts;

/** What each voter would have to prove; the submission's own stamp counts as the first proof if it fits. */
async function mfaOf(
  authorization: Authorization,
  submitter: Actor,
  voters: readonly UserId[],
  isDenied: boolean,
): Promise<Simulation['mfa']> {
  const found: Simulation['mfa'] = [];
  for (const userId of voters) {
    const { evidence } = approverOf(submitter, '');
    const own = { organization: authorization.organization, userId, evidence };
    // For a login the user who is logged in has to prove something too.
    const isAsked = !isDenied && userId === submitter.userId;
    const subject = isAsked ? await subjectOf(authorization, submitter, '') : undefined;
    for (const mfaSubject of subject === undefined ? [own] : [own, subject]) {
      const policy = await enforcedMfa(authorization, mfaSubject);
      if (policy === undefined) continue;
      const isShown = mfaSubject !== own || userId === submitter.userId;
      const satisfied = isShown && isMetAtOnce(policy.steps, mfaSubject.evidence.method);
      found.push({ userId: mfaSubject.userId, mfaPolicy: renderMfaPolicy(policy), satisfied });
    }
  }
  return found;
}

/** What a denied request would have moved is told as far as it can be described. */
async function velocityOf(
  { app, read, rules, intent, organization, nowMs }: Authorization,
  isDenied: boolean,
): Promise<Simulation['velocity']> {
  if (rules.controls.length === 0) return [];
  const moved = await intent.movements().catch((error: unknown) => {
    if (isDenied && error instanceof ApiError) return undefined;
    throw error;
  });
  if (moved === undefined) return [];
  const motion = { activityType: intent.type, userId: intent.proposer.userId, ...moved, walletId: moved.walletId };
  const said: Simulation['velocity'] = [];
  for (const control of rules.controls) {
    const uncounted = refusedUncounted(control, rules.controls, motion);
    const counts = countsAgainst(control, motion);
    const isFull = isExhausted(control, app.storage.fence.exhaustedAtMs, nowMs);
    for (const counted of counts.length === 0 && uncounted !== undefined ? nothingCounted(control, motion) : counts) {
      const total = await totalWith(read, organization.id, control, counted, nowMs);
      const { threshold, operator } = control.aggregation;
      said.push({
        velocityControlId: control.id,
        name: control.name,
        aggregate: toDecimal(total),
        threshold,
        operator,
        satisfied: uncounted === undefined && !isFull && satisfies(control, total),
        ...(uncounted !== undefined && { uncounted }),
      });
    }
  }
  return said;
}

/** For a control that counts nothing of the activity and refuses it all the same. */
const nothingCounted = (control: VelocityControl, motion: Motion): ReturnType<typeof countsAgainst> =>
  motionsFor(control, motion).flatMap((one) => {
    const groupKey = groupOf(control, one);
    return groupKey === undefined ? [] : [{ group: { controlId: control.id, groupKey }, amount: 0n }];
  });

function networkOf(
  allowlists: readonly IpAllowlist[],
  submitter: Actor,
  address: string | undefined,
): Simulation['network'] {
  const publicKey = publicKeyOf(submitter);
  // Without an address only lists that stop somebody make a difference.
  const isLimited = allowlists.length > 0;
  if (address === undefined) return { isLimited };
  return { isLimited, allowed: isAllowedFrom(allowlists, publicKey, address) };
}

function sessionOf(submitter: Actor, covers: boolean): Pick<Simulation, 'session'> {
  const sessionProfileId = sessionProfileIdOf(submitter);
  return sessionProfileId === undefined ? {} : { session: { sessionProfileId, covers } };
}

const isDenial = ({ outcome }: Pick<Decision, 'outcome'>): boolean =>
  outcome === 'OUTCOME_DENY_EXPLICIT' || outcome === 'OUTCOME_DENY_IMPLICIT';

/** As a submission: whatever is not denied is told why it cannot be done. */
async function requireDescribed(intent: Intent): Promise<void> {
  await intent.describe();
  const refusal = intent.refusal();
  if (refusal !== undefined) throw refusal;
}

interface Said extends Pick<Simulation, 'network' | 'velocity'> {
  readonly isDenied: boolean;
  /** Of the submitter. */
  readonly mfa: Simulation['mfa'][number] | undefined;
}

/** The status that the activity would have; by address and velocity a request is refused before there is one. */
function statusOf({ outcome, reason }: Decision, { isDenied, mfa, velocity, network }: Said): string {
  if (network.allowed === false) return 'REFUSED';
  if (isDenied) return 'ACTIVITY_STATUS_REJECTED';
  if (mfa?.satisfied === false) return 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';
  if (outcome === 'OUTCOME_REQUIRES_CONSENSUS') return 'ACTIVITY_STATUS_CONSENSUS_NEEDED';
  const isStopped = reason !== 'ROOT_QUORUM' && velocity.some(({ satisfied }) => !satisfied);
  return isStopped ? 'REFUSED' : 'ACTIVITY_STATUS_COMPLETED';
}

declare module '../../../engine/services.ts' {
  interface QueryServices {
    readonly simulate: (caller: Actor, wish: SimulationRequest, nowMs: number) => Promise<Simulation>;
  }
}
