import { plain, type TextPart, userText } from '../../lib/text-part.ts';
import type { Decision } from '../decision/decision.ts';
import type { PolicyEvaluation, VoteEvaluation } from '../decision/outcome.ts';
import { count, joinWords } from '../words/wording.ts';
import type { Explanation } from './explain.ts';

/** Why the whole was decided so. */
export type DecisionExplanation = Pick<Explanation, 'sentence' | 'whatWouldPass'>;

export interface Explained {
  readonly evaluation: PolicyEvaluation | VoteEvaluation;
  readonly explanation: Explanation;
}

const NAMED_MAX = 3;

const named = ({ evaluation }: Explained): TextPart => userText(evaluation.policyName ?? 'the draft');

function namesOf(explained: readonly Explained[]): TextPart[] {
  const shown = explained.slice(0, NAMED_MAX);
  const more = explained.length - shown.length;
  return shown.flatMap((one, index) => {
    const isLast = index === shown.length - 1;
    const before = index === 0 ? [] : [plain(isLast && more === 0 ? ' and ' : ', ')];
    return [
      ...before,
      named(one),
      ...(isLast && more > 0 ? [plain(` and ${count(more, 'more policy', 'more policies')}`)] : []),
    ];
  });
}

const having = (explained: readonly Explained[], outcome: string): readonly Explained[] =>
  explained.filter(({ evaluation }) => evaluation.outcome === outcome);

/** The decision as the evaluations of one vote show it; the worst outcome stands (protocol/policies 8.3). */
export function explainVote(explained: readonly Explained[], isRejection: boolean): DecisionExplanation {
  if (isRejection) return { sentence: [plain('It was rejected.')] };
  if (explained.length === 0)
    return { sentence: [plain('No policy was asked: the root quorum or the user’s own account decided.')] };
  const denying = having(explained, 'OUTCOME_DENY_EXPLICIT');
  if (denying.length > 0) return deniedBy(denying);
  const allowing = having(explained, 'OUTCOME_ALLOW');
  if (allowing.length > 0) return { sentence: [plain('Allowed by '), ...namesOf(allowing), plain('.')] };
  const proving = having(explained, 'OUTCOME_REQUIRES_AUTHENTICATORS');
  if (proving.length > 0)
    return { sentence: [plain('It waits for further factors, then '), ...namesOf(proving), plain(' can allow it.')] };
  const waiting = having(explained, 'OUTCOME_REQUIRES_CONSENSUS');
  return waiting.length > 0 ? waitingFor(waiting) : notAllowed(explained);
}

function deniedBy(denying: readonly Explained[]): DecisionExplanation {
  const [only] = denying;
  // Whoever gets past one denial meets the next.
  const wish = denying.length === 1 ? only?.explanation.whatWouldPass : undefined;
  return {
    sentence: [
      plain('Denied by '),
      ...namesOf(denying),
      ...(denying.length === 1 && only !== undefined ? [plain(': '), ...only.explanation.sentence] : [plain('.')]),
    ],
    ...(wish !== undefined && { whatWouldPass: wish }),
  };
}

function waitingFor(waiting: readonly Explained[]): DecisionExplanation {
  const wishes = [...new Set(waiting.flatMap(({ explanation: { whatWouldPass } }) => whatWouldPass ?? []))];
  return {
    sentence: [plain('It waits for approvals by '), ...namesOf(waiting), plain('.')],
    ...(wishes.length > 0 && wishes.length <= NAMED_MAX && { whatWouldPass: joinWords(wishes, 'or') }),
  };
}

/** No policy allows: of those that would allow something like it, the nearest says what is missing. */
function notAllowed(explained: readonly Explained[]): DecisionExplanation {
  const allows = explained.filter(({ evaluation }) => evaluation.effect === 'EFFECT_ALLOW');
  if (allows.length === 0) return { sentence: [plain('No policy allows it: there is none that allows anything.')] };
  const [nearest] = allows
    .filter(({ explanation }) => explanation.whatWouldPass !== undefined)
    .map((one) => ({ one, failing: one.explanation.parts.filter(({ holds }) => holds !== true).length }))
    .toSorted((left, right) => left.failing - right.failing);
  if (nearest === undefined) {
    return { sentence: [plain(`No policy allows it: ${count(allows.length, 'policy was', 'policies were')} asked.`)] };
  }
  const { one } = nearest;
  const wish = one.explanation.whatWouldPass as string;
  return {
    sentence: [plain('No policy allows it. The nearest is '), named(one), plain(': '), ...one.explanation.sentence],
    whatWouldPass: `${wish}, by ${one.evaluation.policyName ?? 'the draft'}`,
  };
}

/** What can be said of the decision itself, beyond what its evaluations show. */
export interface DecisionWords {
  readonly decision: Pick<Decision, 'outcome' | 'reason' | 'decidingPolicyIds' | 'rootQuorum'>;
  readonly explained: readonly Explained[];
  /** Root users who have not approved. */
  readonly missingRootNames: readonly string[];
}

export function explainDecision({ decision, explained, missingRootNames }: DecisionWords): DecisionExplanation {
  const { required, given } = decision.rootQuorum;
  const deciding = explained.filter(({ evaluation }) => decision.decidingPolicyIds.includes(evaluation.policyId));
  switch (decision.reason) {
    case 'ROOT_QUORUM':
      return { sentence: [plain(`Allowed by the root quorum: ${given} of the ${required} approvals that it needs.`)] };
    case 'ROOT_QUORUM_ONLY':
      return {
        sentence: [plain('Only the root quorum can do this, and the submitter is no root user.')],
        whatWouldPass: 'the same request by a root user',
      };
    case 'ROOT_QUORUM_PENDING': {
      const left = required - given;
      const who =
        missingRootNames.length > 0 && missingRootNames.length <= 5 ? ` of ${joinWords(missingRootNames, 'or')}` : '';
      return {
        sentence: [plain(`It waits for the root quorum: ${given} of ${required} approvals are given.`)],
        whatWouldPass:
          left === 1
            ? `the approval${who === '' ? ' of one more root user' : who}`
            : `${left} more approvals${who === '' ? ' of root users' : who}`,
      };
    }
    case 'POLICY_DENIED':
      return deniedBy(deciding);
    case 'GRANTED_BY_SERVICE':
      return { sentence: [plain('A rule of the service allows it.')] };
    case 'POLICY_ALLOWED':
      return { sentence: [plain('Allowed by '), ...namesOf(deciding), plain('.')] };
    case 'POLICY_PENDING':
      return waitingFor(deciding);
    case 'OWN_ACCOUNT':
      return { sentence: [plain('Allowed: users manage their own account, and no policy says otherwise.')] };
    case 'STILL_PENDING':
      return { sentence: [plain('This vote changed nothing: it still waits for approvals.')] };
    case 'NO_POLICY_ALLOWS':
      return explained.length === 0
        ? { sentence: [plain('No policy allows it: no policy can concern such a request.')] }
        : notAllowed(explained);
  }
}
