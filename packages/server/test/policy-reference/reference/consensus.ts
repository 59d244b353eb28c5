// Section 13: who is included in a consensus, and whether it can still be met.
import { type CheckedExpression, type EvaluationResult, evaluate } from './language.ts';
import type { Node, Suffix } from './tree.ts';
import type { JsonObject } from './values.ts';

export interface CredentialFacts extends JsonObject {
  readonly id: string;
  readonly user_id: string;
  readonly type: string;
}

export interface UserFacts extends JsonObject {
  readonly id: string;
  readonly tags: readonly string[];
}

/** A user as an approver, with the credentials used; for someone who might still vote, with all of them. */
export interface Approval {
  readonly user: UserFacts;
  readonly credentials: readonly CredentialFacts[];
}

const CONSENSUS_LISTS: readonly string[] = ['approvers', 'credentials'];
// Brute force doubles with every user; the reference is for small organizations.
const FURTHER_USERS_MAX = 12;

export interface ConsensusEvaluation {
  readonly result: EvaluationResult;
  /** The users for whom, or for whose credential, some lambda of the expression was true. */
  readonly includedUserIds: ReadonlySet<string>;
}

/**
 * Evaluates the consensus and watches its lambdas. Since nothing is short-circuited, one evaluation shows every lambda
 * every approver; an expression that counts an unfiltered list includes everybody.
 */
export function evaluateConsensus(consensus: CheckedExpression, approvals: readonly Approval[]): ConsensusEvaluation {
  const context = {
    approvers: approvals.map(({ user }) => user),
    credentials: approvals.flatMap(({ credentials }) => credentials),
  };
  const includedUserIds = new Set<string>();
  const result = evaluate(consensus, context, (element, holds) => {
    if (!holds || element.kind !== 'struct') return;
    includedUserIds.add(String(element.name === 'User' ? element.fields.id : element.fields.user_id));
  });
  if (consensus.tree !== undefined && countsUnfilteredList(consensus.tree, new Set())) {
    for (const { user } of approvals) includedUserIds.add(user.id);
  }
  return { result, includedUserIds };
}

/** True when some set of further users, each with all credentials, completes the consensus. */
export function isReachable(
  consensus: CheckedExpression,
  approvals: readonly Approval[],
  furtherUsers: readonly Approval[],
): boolean {
  if (furtherUsers.length > FURTHER_USERS_MAX) throw new Error('too many users for brute force');
  return subsetsOf(furtherUsers).some((further) => {
    const { result } = evaluateConsensus(consensus, [...approvals, ...further]);
    return result.ok && result.value;
  });
}

function subsetsOf<T>(items: readonly T[]): T[][] {
  const [first, ...rest] = items;
  if (first === undefined) return [[]];
  const withoutFirst = subsetsOf(rest);
  return [...withoutFirst, ...withoutFirst.map((subset) => [first, ...subset])];
}

function countsUnfilteredList(node: Node, shadowed: ReadonlySet<string>): boolean {
  const inside = (child: Node): boolean => countsUnfilteredList(child, shadowed);
  switch (node.kind) {
    case 'or':
    case 'and':
      return node.operands.some(inside);
    case 'not':
      return inside(node.operand);
    case 'compare':
      return inside(node.left) || inside(node.right);
    case 'list':
      return node.items.some(inside);
    case 'call':
      return node.args.some(inside);
    case 'postfix': {
      const [first] = node.suffixes;
      const isList = node.primary.kind === 'name' && CONSENSUS_LISTS.includes(node.primary.name);
      const isKeyword = isList && !shadowed.has((node.primary as { name: string }).name);
      if (isKeyword && first !== undefined && isCount(first)) return true;
      return inside(node.primary) || node.suffixes.some((suffix) => suffixCounts(suffix, shadowed));
    }
    default:
      return false;
  }
}

function suffixCounts(suffix: Suffix, shadowed: ReadonlySet<string>): boolean {
  switch (suffix.kind) {
    case 'field':
      return false;
    case 'method':
      return suffix.args.some((arg) => countsUnfilteredList(arg, shadowed));
    case 'quantifier':
      return countsUnfilteredList(suffix.body, new Set([...shadowed, suffix.variable]));
    case 'index':
      return countsUnfilteredList(suffix.index, shadowed);
    case 'slice':
      return countsUnfilteredList(suffix.from, shadowed) || countsUnfilteredList(suffix.to, shadowed);
  }
}

const isCount = (suffix: Suffix): boolean =>
  (suffix.kind === 'field' || suffix.kind === 'method') && suffix.name === 'count';
