// protocol/policies 8.2: who is included in a consensus, and whether it can still be met.
import { type CheckedExpression, type EvaluationResult, evaluate } from './language.ts';
import type { Node, QuantifierSuffix, Suffix } from './tree.ts';
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
// Brute force doubles with every credential; the reference is for small organizations.
const WAYS_MAX = 2 ** 14;

export interface ConsensusEvaluation {
  readonly result: EvaluationResult;
  /** The users for whom, or for whose credential, some lambda of the expression was true. */
  readonly includedUserIds: ReadonlySet<string>;
}

/**
 * Evaluates the consensus and watches its lambdas. Since nothing is short-circuited, one evaluation shows every lambda
 * every approver; an expression that counts an unfiltered list includes everybody. A lambda that reads the variable of one
 * around it speaks of that outer element, so it is the outer lambda that includes or does not.
 */
export function evaluateConsensus(consensus: CheckedExpression, approvals: readonly Approval[]): ConsensusEvaluation {
  const includedUserIds = new Set<string>();
  const result = evaluate(consensus, contextOf(approvals), (quantifier, element, holds) => {
    if (!holds || element.kind !== 'struct' || !readsOnlyItsElement(quantifier)) return;
    includedUserIds.add(String(element.name === 'User' ? element.fields.id : element.fields.user_id));
  });
  if (consensus.tree !== undefined && countsUnfilteredList(consensus.tree, new Set())) {
    for (const { user } of approvals) includedUserIds.add(user.id);
  }
  return { result, includedUserIds };
}

function contextOf(approvals: readonly Approval[]): JsonObject {
  return {
    approvers: approvals.map(({ user }) => user),
    credentials: approvals.flatMap(({ credentials }) => credentials),
  };
}

/**
 * True when some set of further approvals completes the consensus. `everyone` is every user with every credential; whoever
 * has approved keeps what it has approved with, and may approve again with another credential.
 */
export function isReachable(
  consensus: CheckedExpression,
  approvals: readonly Approval[],
  everyone: readonly Approval[],
): boolean {
  const readsCredentials = consensus.tree !== undefined && freeNames(consensus.tree).has('credentials');
  const ways = everyone.map((person) => waysToApprove(person, approvals, readsCredentials));
  if (ways.reduce((product, { length }) => product * length, 1) > WAYS_MAX) throw new Error('too many users');
  return choicesOf(ways).some((choice) => {
    const result = evaluate(consensus, contextOf(choice.filter((approval) => approval !== undefined)));
    return result.ok && result.value;
  });
}

/**
 * What a user may have approved with in the end; undefined for not at all. Everything comes first: it often suffices.
 */
function waysToApprove(
  { user, credentials }: Approval,
  approvals: readonly Approval[],
  readsCredentials: boolean,
): (Approval | undefined)[] {
  const given = approvals.find((approval) => approval.user.id === user.id);
  const used = given?.credentials ?? [];
  const unused = credentials.filter(({ id }) => !used.some((credential) => credential.id === id));
  const further = readsCredentials ? subsetsOf(unused) : [unused];
  const ways = further.map((more) => ({ user, credentials: [...used, ...more] }));
  const approving = ways.filter((way) => way.credentials.length > 0);
  return given === undefined ? [...approving, undefined] : approving;
}

/** The largest subset first. */
function subsetsOf<T>(items: readonly T[]): T[][] {
  const [first, ...rest] = items;
  if (first === undefined) return [[]];
  const withoutFirst = subsetsOf(rest);
  return [...withoutFirst.map((subset) => [first, ...subset]), ...withoutFirst];
}

/** One of each. */
function choicesOf<T>([first, ...rest]: readonly (readonly T[])[]): T[][] {
  if (first === undefined) return [[]];
  const others = choicesOf(rest);
  return first.flatMap((item) => others.map((choice) => [item, ...choice]));
}

const readsOnlyItsElement = ({ variable, body }: QuantifierSuffix): boolean =>
  [...freeNames(body)].every((name) => name === variable || CONSENSUS_LISTS.includes(name));

/** The names that an expression reads and does not bind itself. */
function freeNames(node: Node): Set<string> {
  switch (node.kind) {
    case 'name':
      return new Set([node.name]);
    case 'or':
    case 'and':
      return unionOf(node.operands);
    case 'not':
      return freeNames(node.operand);
    case 'compare':
      return unionOf([node.left, node.right]);
    case 'list':
      return unionOf(node.items);
    case 'call':
      return unionOf(node.args);
    case 'postfix':
      return new Set([
        ...freeNames(node.primary),
        ...node.suffixes.flatMap((suffix) => [...freeNamesOfSuffix(suffix)]),
      ]);
    default:
      return new Set();
  }
}

function freeNamesOfSuffix(suffix: Suffix): Set<string> {
  switch (suffix.kind) {
    case 'field':
      return new Set();
    case 'method':
      return unionOf(suffix.args);
    case 'quantifier':
      return new Set([...freeNames(suffix.body)].filter((name) => name !== suffix.variable));
    case 'index':
      return freeNames(suffix.index);
    case 'slice':
      return unionOf([suffix.from, suffix.to]);
  }
}

const unionOf = (nodes: readonly Node[]): Set<string> => new Set(nodes.flatMap((node) => [...freeNames(node)]));

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
