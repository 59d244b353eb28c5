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
import type { App } from './app.ts';
import type { CredentialEffect } from './define.ts';
import type { Court } from './hold.ts';
import { conditionFacts, type Matter } from './matter.ts';
import type { Rulebook } from './rulebooks.ts';
import { credit, isSatisfied, type MfaEvidence } from './rules/mfa.ts';
import { type Scales, weigh } from './weigh.ts';

/** One matter before the rules of its organization, in one state of the database. */
export interface Hearing {
  readonly app: App;
  /** The database as the transaction sees it, or as it is outside of one. */
  readonly read: ReadStores;
  /** The organization that decides. */
  readonly organization: Organization;
  /** The organization acted on. */
  readonly target: Organization;
  readonly rules: Rulebook;
  readonly matter: Matter;
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
export interface Party {
  readonly organization: Organization;
  readonly userId: UserId;
  readonly evidence: MfaEvidence;
}

interface Heard {
  readonly decision: Decision;
  /** What somebody has to prove, with what is proven now. */
  readonly requirements: readonly MfaRequirement[];
  /** Tokens that are used up as proofs. */
  readonly spent: readonly TokenUse[];
}

/** What an approval leads to. */
export type Verdict =
  | {
      readonly kind: 'deny';
      readonly decision: Decision | undefined;
      /** Said in place of what the decision says, where the operation itself refused a right. */
      readonly why?: string;
    }
  /** Somebody has to prove more before the approval counts, or before the login is done. */
  | (Heard & { readonly kind: 'authenticate'; readonly owedBy: UserId })
  | (Heard & { readonly kind: 'wait' })
  | (Heard & { readonly kind: 'execute' });

/**
 * What a session with a profile may never do, whatever its scope says: it could hand itself what the scope withholds.
 */
const CLOSED_TO_PROFILES: ReadonlySet<CredentialEffect> = new Set<CredentialEffect>(['mints', 'redirects', 'removes']);

export async function openHearing(
  app: App,
  { court, ...about }: Pick<Hearing, 'read' | 'matter' | 'activityId' | 'nowMs'> & { readonly court: Court },
): Promise<Hearing> {
  const { authority, target } = court;
  const rules = await app.rulebooks.of(authority, about.read);
  return { ...about, app, organization: authority, target, rules };
}

export const scalesOf = ({ read, organization, rules, matter, nowMs }: Hearing): Scales => ({
  read,
  organization,
  policies: rules.policies,
  matter,
  nowMs,
});

/** How many trees are kept of every decision, so that it can be explained later. */
const TREES_KEPT = 10;

/**
 * The user who is logged in, where somebody else asks for it, with what its code or token proves (protocol/login 2.2).
 */
export async function subjectOf({ target, matter }: Hearing, actor: Actor, digest: string): Promise<Party | undefined> {
  const subject = await matter.subject();
  if (subject === undefined || subject.userId === actor.userId) return undefined;
  const { userId, method, credentialId, token } = subject;
  return { organization: target, userId, evidence: { method, credentialId, digest, token } };
}

/** What is put before the rules. */
interface Given {
  readonly approvals: readonly Approval[];
  readonly parties: () => Promise<readonly Party[]>;
  /** What users were asked to prove before. */
  readonly known: (userId: UserId) => MfaRequirement | undefined;
  readonly phase: DecisionInput['phase'];
}

/**
 * Policy and quorum, then MFA (protocol/policies 8.3, step 10): a denied request asks for no factors. Several may have
 * to prove something: whoever approves, and the user of a login; the first who still owes something is waited for. The
 * session covers it. Only what is not denied learns why it cannot be done, and who is logged in is not asked before.
 */
export async function hear(hearing: Hearing, { approvals, parties, known, phase }: Given): Promise<Verdict> {
  const decision = await weigh(scalesOf(hearing), approvals, phase, TREES_KEPT);
  if (decision.outcome === 'OUTCOME_DENY_EXPLICIT' || decision.outcome === 'OUTCOME_DENY_IMPLICIT') {
    return { kind: 'deny', decision };
  }
  const requirements: MfaRequirement[] = [];
  const spent: TokenUse[] = [];
  let owedBy: UserId | undefined;
  for (const party of await parties()) {
    const demanded = known(party.userId) ?? (await requirementOf(hearing, party));
    if (demanded === undefined) continue;
    const proven = credit(demanded, party.evidence, hearing.nowMs);
    if (proven !== demanded && party.evidence.token !== undefined) spent.push(party.evidence.token);
    if (!isSatisfied(proven)) owedBy ??= party.userId;
    requirements.push(proven);
  }
  const refusal = hearing.matter.refusal();
  if (refusal !== undefined) throw refusal;
  if (owedBy !== undefined) return { kind: 'authenticate', decision, requirements, spent, owedBy };
  return { kind: decision.outcome === 'OUTCOME_ALLOW' ? 'execute' : 'wait', decision, requirements, spent };
}

/** Whether the session that stamped the request covers the matter. A key without a profile covers everything. */
export async function isInScope({ app, read, matter }: Hearing, actor: Actor): Promise<boolean> {
  const profileId = sessionProfileIdOf(actor);
  if (profileId === undefined) return true;
  if (CLOSED_TO_PROFILES.has(matter.operation.credentials)) return false;
  const profile = await read(SessionProfiles).find(treeRoot(actor.organization), profileId);
  const scope = profile && app.rulebooks.expressions.compile('condition', profile.scope);
  // A profile that is gone or no longer parses narrows to nothing.
  if (scope === undefined || !scope.ok) return false;
  return scopeCovers(scope.expression, await conditionFacts(matter)).holds;
}

/** The MFA policy that is enforced on the user for this matter: the first that it calls for (protocol/policies 9.2). */
export async function enforcedMfa(
  { app, read, matter }: Hearing,
  { organization, userId }: Pick<Party, 'organization' | 'userId'>,
): Promise<MfaPolicy | undefined> {
  const policies = await app.rulebooks.mfaOf(organization, userId, read);
  if (policies.length === 0) return undefined;
  const facts = await conditionFacts(matter);
  const budget = newGuardBudget();
  return policies.find(({ condition }) => {
    if (condition === '') return true;
    const compiled = app.rulebooks.expressions.compile('condition', condition);
    // One that no longer parses is enforced: to drop it would open what its author closed.
    return !compiled.ok || mfaApplies(compiled.expression, facts, budget).holds;
  });
}

/** What the user has to prove, frozen for this activity. */
async function requirementOf(hearing: Hearing, party: Party): Promise<MfaRequirement | undefined> {
  const { userId } = party;
  const enforced = await enforcedMfa(hearing, party);
  return (
    enforced && {
      activityId: hearing.activityId,
      userId,
      mfaPolicyId: enforced.id,
      steps: enforced.steps,
      proofs: [],
      satisfiedAtMs: undefined,
      createdAtMs: hearing.nowMs,
    }
  );
}
