import type { TokenUse } from '../../authn/identity/tokens.ts';
import type { AuthenticationMethod, MfaProof, MfaRequirement, MfaStep } from '../../core/model.ts';

/** The all-zero id, by which a step names the session without a profile (protocol/login 10.2). */
const DEFAULT_SESSION = '00000000-0000-0000-0000-000000000000';

/** What a stamp can prove of its user. */
export interface MfaEvidence {
  /** Undefined for a credential that proves nothing that a step could ask for. */
  readonly method: AuthenticationMethod | undefined;
  readonly credentialId: string;
  readonly digest: string;
  /** The token that the proof would use up. */
  readonly token?: TokenUse | undefined;
}

/** The state of a user's proofs after one more piece of evidence. Pure. */
export function credit(requirement: MfaRequirement, evidence: MfaEvidence, nowMs: number): MfaRequirement {
  const step = requirement.steps[requirement.proofs.length];
  // A factor that comes too early is discarded, and no signed body proves two steps.
  const { method, credentialId, digest } = evidence;
  const isFresh = requirement.proofs.every((proof) => proof.digest !== digest);
  if (step === undefined || method === undefined || !isFresh || !meets(step, method)) return requirement;
  const proof: MfaProof = { method, credentialId, digest, atMs: nowMs };
  const proofs = [...requirement.proofs, proof];
  const satisfied = proofs.length === requirement.steps.length;
  return { ...requirement, proofs, satisfiedAtMs: satisfied ? nowMs : undefined };
}

export const isSatisfied = ({ satisfiedAtMs }: MfaRequirement): boolean => satisfiedAtMs !== undefined;

/** Whether one such proof meets all the steps there are. */
export const isMetAtOnce = (
  [step, ...further]: readonly MfaStep[],
  method: AuthenticationMethod | undefined,
): boolean => step !== undefined && method !== undefined && further.length === 0 && meets(step, method);

function meets({ any }: MfaStep, { type, id }: AuthenticationMethod): boolean {
  return any.some(
    (method) => method.type === type && (method.id === undefined || method.id === (id ?? DEFAULT_SESSION)),
  );
}
