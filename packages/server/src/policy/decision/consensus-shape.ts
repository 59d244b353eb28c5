import { compileNode } from '../evaluate/compile.ts';
import { constantOf } from '../evaluate/constants.ts';
import type { Run } from '../evaluate/frame.ts';
import { descend, type FieldNode, type MethodNode, type Node, type QuantifierNode } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { accessPath } from '../language/paths.ts';
import { CREDENTIAL, USER } from '../language/structs.ts';
import type { StructType } from '../language/types.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { onlyGains } from './gains.ts';

/** A lambda over approvers or credentials that means the same wherever it stands: it reads no variable around it. */
export interface Clause {
  readonly target: Run;
  readonly body: Run;
  readonly slot: number;
}

/** What a consensus asks of approvers, as its text tells; found once per text. */
export interface ConsensusShape {
  readonly clauses: readonly Clause[];
  /** Whether it counts all approvers or credentials, so that everyone contributes. */
  readonly countsEveryone: boolean;
  /** Whether it looks at credentials at all. */
  readonly readsCredentials: boolean;
  /** The largest number it names: nobody needs to look at more users of one sort. */
  readonly largestNumber: number;
  /** Whether more approvals can never undo it. */
  readonly onlyGains: boolean;
  readonly names: ConsensusNames;
}

/** Whom a consensus names. Users outside these sets differ, to it, in nothing. */
export interface ConsensusNames {
  readonly userIds: ReadonlySet<string>;
  readonly tagIds: ReadonlySet<string>;
  readonly emails: ReadonlySet<string>;
  readonly aliases: ReadonlySet<string>;
  readonly credentialIds: ReadonlySet<string>;
  /** Ids that passkeys carry. */
  readonly passkeyIds: ReadonlySet<string>;
  readonly publicKeys: ReadonlySet<string>;
  readonly credentialTypes: ReadonlySet<string>;
  /** It looks into texts of users or credentials, so that no list of names tells whom it means. */
  readonly looksInside: boolean;
}

export function shapeOf(tree: CheckedTree): ConsensusShape {
  const runs = compileParts(tree);
  const clauses: Clause[] = [];
  let countsEveryone = false;
  let readsCredentials = false;
  let largest = 1n;
  for (const node of descend(tree.root)) {
    if (node.kind === 'quantifier' && isOverPeople(tree, node) && isClosed(tree, node)) {
      clauses.push({
        target: runs[node.target.id] as Run,
        body: runs[node.body.id] as Run,
        slot: tree.slots.get(node.id) as number,
      });
    }
    if ((node.kind === 'method' || node.kind === 'field') && isCountOfEveryone(tree, node)) countsEveryone = true;
    if (node.kind === 'name' && accessPath(tree, node)?.[0] === 'credentials') readsCredentials = true;
    if (node.kind === 'integer' && node.value > largest) largest = node.value;
  }
  const most = BigInt(POLICY_LIMITS.consensusUsers);
  const largestNumber = Number(largest < most ? largest : most);
  return { clauses, countsEveryone, readsCredentials, largestNumber, onlyGains: onlyGains(tree), names: namesOf(tree) };
}

/**
 * The closures of all nodes, made in one pass: lambdas nest, and compiling each by itself would repeat the inner ones.
 */
function compileParts(tree: CheckedTree): readonly Run[] {
  const runs: Run[] = new Array(tree.nodeCount);
  compileNode(tree, tree.root, (node, run) => {
    runs[node.id] = run;
    return run;
  });
  return runs;
}

function isOverPeople(tree: CheckedTree, { target }: QuantifierNode): boolean {
  const type = tree.types[target.id];
  const element: StructType | undefined = type?.kind === 'list' && type.of.kind === 'struct' ? type.of : undefined;
  return element === USER || element === CREDENTIAL;
}

/**
 * Whether a lambda reads only its own variables. Slots count from the outside, so those of the lambda are the highest.
 */
function isClosed(tree: CheckedTree, node: QuantifierNode): boolean {
  const own = tree.slots.get(node.id) as number;
  for (const part of descend(node)) {
    const slot = part.kind === 'name' ? tree.slots.get(part.id) : undefined;
    if (slot !== undefined && slot < own) return false;
  }
  return true;
}

/** `approvers.count()` and `credentials.count`, on the lists themselves. */
function isCountOfEveryone(tree: CheckedTree, node: MethodNode | FieldNode): boolean {
  return node.name === 'count' && accessPath(tree, node.target)?.length === 1;
}

type NameSet = Exclude<keyof ConsensusNames, 'looksInside'>;

/** Fields that people are named by. */
const NAMED_BY: ReadonlyMap<StructType, Readonly<Record<string, NameSet>>> = new Map<
  StructType,
  Readonly<Record<string, NameSet>>
>([
  [USER, { id: 'userIds', tags: 'tagIds', email: 'emails', alias: 'aliases' }],
  [
    CREDENTIAL,
    {
      id: 'credentialIds',
      user_id: 'userIds',
      type: 'credentialTypes',
      credential_id: 'passkeyIds',
      public_key: 'publicKeys',
    },
  ],
]);

function namesOf(tree: CheckedTree): ConsensusNames {
  const names: Record<NameSet, Set<string>> = {
    userIds: new Set(),
    tagIds: new Set(),
    emails: new Set(),
    aliases: new Set(),
    credentialIds: new Set(),
    passkeyIds: new Set(),
    publicKeys: new Set(),
    credentialTypes: new Set(),
  };
  let looksInside = false;
  /** Fields that a comparison with literals accounts for; every other use of one looks inside. */
  const accounted = new Set<number>();
  const nameSetOf = (node: Node): NameSet | undefined => {
    if (node.kind !== 'field') return undefined;
    const type = tree.types[node.target.id];
    return type?.kind === 'struct' ? NAMED_BY.get(type)?.[node.name] : undefined;
  };
  const account = (field: Node, other: Node): void => {
    const set = nameSetOf(field);
    if (set === undefined) return;
    const literals = other.kind === 'string' ? [other.value] : constantOf(other);
    // A field against a field of another lambda joins people with their credentials; it names nobody.
    if (literals === undefined && nameSetOf(other) === undefined) return;
    accounted.add(field.id);
    for (const literal of literals ?? []) names[set].add(String(literal));
  };

  for (const node of descend(tree.root)) {
    if (node.kind === 'compare') {
      account(node.left, node.right);
      account(node.right, node.left);
    } else if (node.kind === 'method' && node.name === 'contains') {
      account(node.target, node.args[0] as Node);
      account(node.args[0] as Node, node.target);
    }
    // Parents come before their parts, so whatever accounts for a field has been seen by now.
    if (nameSetOf(node) !== undefined && !accounted.has(node.id)) looksInside = true;
  }
  return { ...names, looksInside };
}
