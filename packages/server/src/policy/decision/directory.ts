import { foldKey } from '../evaluate/values.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { requireSound, rootQuorumOf, withPolicies } from './circumstances.ts';
import type { ConsensusNames, ConsensusShape } from './consensus-shape.ts';
import type { DecisionInput, DecisionOptions } from './decision.ts';
import { evaluatePolicy } from './outcome.ts';
import { consensusShape } from './policy-set.ts';

/** Users whom a decision wants to know, so that nobody has to load a whole organization. */
export interface DirectoryNeeds {
  readonly userIds: readonly string[];
  /** Everyone who carries one of these tags. */
  readonly tagIds: readonly string[];
  readonly emails: readonly string[];
  readonly aliases: readonly string[];
  readonly credentialIds: readonly string[];
  readonly passkeyIds: readonly string[];
  readonly publicKeys: readonly string[];
  /** Users who hold a credential of such a type, as many as `others`. */
  readonly credentialTypes: readonly string[];
  /** How many further users, whoever they are, besides those above and those who approved. */
  readonly others: number;
}

/**
 * Whom to hand in as `members` besides the approvers: whoever the consensus expressions name that further approvals could
 * still make true, and as many others as their largest number. Undefined when nobody is needed.
 */
export function directoryNeeds(input: DecisionInput, options: DecisionOptions = {}): DirectoryNeeds | undefined {
  requireSound(input);
  if (input.activity.governedBy !== 'policy' || rootQuorumOf(input).isMet) return undefined;
  const approvers = new Set(input.approvals.map(({ userId }) => userId));
  const members = input.members.filter(({ id }) => approvers.has(id));
  const untraced = { ...options, trace: false };
  const shapes = withPolicies({ ...input, members }, input.activity, untraced, (policies, circumstances) =>
    policies.flatMap((policy) =>
      policy.consensus !== undefined && evaluatePolicy(policy, circumstances).isAwaited
        ? [consensusShape(policy.consensus)]
        : [],
    ),
  );
  return shapes.length === 0 ? undefined : needsOf(shapes);
}

/** Whom these consensus expressions name, and as many others as their largest number. */
export function needsOf(shapes: readonly ConsensusShape[]): DirectoryNeeds {
  const named = (set: Exclude<keyof ConsensusNames, 'looksInside'>): string[] => [
    ...new Set(shapes.flatMap(({ names }) => [...names[set]])),
  ];
  return {
    userIds: named('userIds'),
    tagIds: named('tagIds'),
    emails: named('emails'),
    aliases: named('aliases'),
    credentialIds: named('credentialIds'),
    passkeyIds: named('passkeyIds'),
    // In the spelling under which keys are stored.
    publicKeys: named('publicKeys').map(foldKey),
    credentialTypes: named('credentialTypes'),
    others: shapes.reduce(
      (most, { names, largestNumber }) =>
        Math.max(most, names.looksInside ? POLICY_LIMITS.consensusUsers : largestNumber),
      0,
    ),
  };
}
