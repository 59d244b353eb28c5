import type { TokenUse } from '../authn/identity/tokens.ts';
import { type Actor, sessionProfileIdOf } from '../core/actor.ts';
import { type MfaPolicy, type MfaRequirement, type Organization, treeRoot } from '../core/model.ts';
import { SessionProfiles } from '../core/rules.ts';
import type { ActivityId, UserId } from '../lib/ids.ts';
import {
  type Approval,
  type Decision,
  type DecisionInput,
  mfaApplies,
  newGuardBudget,
  scopeCovers,
} from '../policy/index.ts';
import type { ReadStores } from '../storage/stores.ts';
import type { AccessRules } from './access-rules.ts';
import type { App } from './app.ts';
import { decideByRules, type RuleInputs } from './decide-by-rules.ts';
import type { CredentialEffect } from './define.ts';
import type { Authority } from './hold.ts';
import { conditionFacts, type Intent } from './intent.ts';
import { credit, isSatisfied, type MfaEvidence } from './rules/mfa.ts';

/** One intent before the rules of its organization, in one state of the database. */
export interface Authorization {
  readonly app: App;
  /** The database as the transaction sees it, or as it is outside of one. */
  readonly read: ReadStores;
  /** The organization that decides. */
  readonly organization: Organization;
  /** The organization acted on. */
  readonly target: Organization;
  readonly rules: AccessRules;
  readonly intent: Intent;
  readonly activityId: ActivityId;
  readonly nowMs: number;
}

/** Somebody who approves, with what the stamp shows. */
export interface Approver {
  readonly actor: Actor;
  readonly approval: Approval;
  readonly evidence: MfaEvidence;
}

/** Whose MFA policies apply, and what that user shows. */
export interface MfaSubject {
  readonly organization: Organization;
  readonly userId: UserId;
  readonly evidence: MfaEvidence;
}

interface NotDenied {
  readonly decision: Decision;
  /** What somebody has to prove, with what is proven now. */
  readonly requirements: readonly MfaRequirement[];
  /** Tokens that are used up as proofs. */
  readonly spent: readonly TokenUse[];
}

/** What an approval leads to. */
export type Outcome =
  | {
      readonly kind: 'deny';
      readonly decision: Decision | undefined;
      /** Said in place of what the decision says, where the operation itself refused a right. */
      readonly why?: string;
    }
  /** Somebody has to prove more before the approval counts, or before the login is done. */
  | (NotDenied & { readonly kind: 'authenticate'; readonly owedBy: UserId })
  | (NotDenied & { readonly kind: 'wait' })
  | (NotDenied & { readonly kind: 'execute' });

/**
 * What a session with a profile may never do, whatever its scope says: it could hand itself what the scope withholds.
 */
const CLOSED_TO_PROFILES: ReadonlySet<CredentialEffect> = new Set<CredentialEffect>(['mints', 'redirects', 'removes']);

export async function openAuthorization(
  app: App,
  about: Pick<Authorization, 'read' | 'intent' | 'activityId' | 'nowMs'> & { readonly authority: Authority },
): Promise<Authorization> {
  const { read, intent, activityId, nowMs, authority } = about;
  const { decider, target } = authority;
  const rules = await app.accessRules.of(decider, read);
  return { app, read, organization: decider, target, rules, intent, activityId, nowMs };
}

export const ruleInputsOf = ({ read, organization, rules, intent, nowMs }: Authorization): RuleInputs => ({
  read,
  organization,
  policies: rules.policies,
  intent,
  nowMs,
});

/** How many trees are kept of every decision, so that it can be explained later. */
const TREES_KEPT = 10;

/**
 * The user who is logged in, where somebody else asks for it, with what its code or token proves (protocol/login 2.2).
 */
export async function subjectOf(
  { target, intent }: Authorization,
  actor: Actor,
  digest: string,
): Promise<MfaSubject | undefined> {
  const subject = await intent.subject();
  if (subject === undefined || subject.userId === actor.userId) return undefined;
  const { userId, method, credentialId, token } = subject;
  return { organization: target, userId, evidence: { method, credentialId, digest, token } };
}

/** What is put before the rules. */
interface Given {
  readonly approvals: readonly Approval[];
  readonly mfaSubjects: () => Promise<readonly MfaSubject[]>;
  /** What users were asked to prove before. */
  readonly known: (userId: UserId) => MfaRequirement | undefined;
  readonly phase: DecisionInput['phase'];
}

/**
 * Policy and quorum, then MFA (protocol/policies 8.3, step 10): a denied request asks for no factors. Several may have
 * to prove something: whoever approves, and the user of a login; the first who still owes something is waited for. The
 * session covers it. Only what is not denied learns why it cannot be done, and who is logged in is not asked before.
 */
export async function authorize(
  authorization: Authorization,
  { approvals, mfaSubjects, known, phase }: Given,
): Promise<Outcome> {
  const decision = await decideByRules(ruleInputsOf(authorization), approvals, phase, TREES_KEPT);
  if (decision.outcome === 'OUTCOME_DENY_EXPLICIT' || decision.outcome === 'OUTCOME_DENY_IMPLICIT') {
    return { kind: 'deny', decision };
  }
  const requirements: MfaRequirement[] = [];
  const spent: TokenUse[] = [];
  let owedBy: UserId | undefined;
  for (const mfaSubject of await mfaSubjects()) {
    const demanded = known(mfaSubject.userId) ?? (await requirementOf(authorization, mfaSubject));
    if (demanded === undefined) continue;
    const proven = credit(demanded, mfaSubject.evidence, authorization.nowMs);
    if (proven !== demanded && mfaSubject.evidence.token !== undefined) spent.push(mfaSubject.evidence.token);
    if (!isSatisfied(proven)) owedBy ??= mfaSubject.userId;
    requirements.push(proven);
  }
  const refusal = authorization.intent.refusal();
  if (refusal !== undefined) throw refusal;
  if (owedBy !== undefined) return { kind: 'authenticate', decision, requirements, spent, owedBy };
  return { kind: decision.outcome === 'OUTCOME_ALLOW' ? 'execute' : 'wait', decision, requirements, spent };
}

/** Whether the session that stamped the request covers the intent. A key without a profile covers everything. */
export async function isInScope({ app, read, intent }: Authorization, actor: Actor): Promise<boolean> {
  const profileId = sessionProfileIdOf(actor);
  if (profileId === undefined) return true;
  if (CLOSED_TO_PROFILES.has(intent.operation.credentials)) return false;
  const profile = await read(SessionProfiles).find(treeRoot(actor.organization), profileId);
  const scope = profile && app.accessRules.expressions.compile('condition', profile.scope);
  // A profile that is gone or no longer parses narrows to nothing.
  if (scope === undefined || !scope.ok) return false;
  return scopeCovers(scope.expression, await conditionFacts(intent)).holds;
}

/** The MFA policy that is enforced on the user for this intent: the first that it calls for (protocol/policies 9.2). */
export async function enforcedMfa(
  { app, read, intent }: Authorization,
  { organization, userId }: Pick<MfaSubject, 'organization' | 'userId'>,
): Promise<MfaPolicy | undefined> {
  const policies = await app.accessRules.mfaOf(organization, userId, read);
  if (policies.length === 0) return undefined;
  const facts = await conditionFacts(intent);
  const budget = newGuardBudget();
  return policies.find(({ condition }) => {
    if (condition === '') return true;
    const compiled = app.accessRules.expressions.compile('condition', condition);
    // One that no longer parses is enforced: to drop it would open what its author closed.
    return !compiled.ok || mfaApplies(compiled.expression, facts, budget).holds;
  });
}

/** What the user has to prove, frozen for this activity. */
async function requirementOf(
  authorization: Authorization,
  mfaSubject: MfaSubject,
): Promise<MfaRequirement | undefined> {
  const { userId } = mfaSubject;
  const enforced = await enforcedMfa(authorization, mfaSubject);
  return (
    enforced && {
      activityId: authorization.activityId,
      userId,
      mfaPolicyId: enforced.id,
      steps: enforced.steps,
      proofs: [],
      satisfiedAtMs: undefined,
      createdAtMs: authorization.nowMs,
    }
  );
}
