import type { Node, QuantifierNode } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { accessPath } from '../language/paths.ts';
import type { PolicyUser } from '../language/structs.ts';
import { anyOf, comparisonsIn, type Match, type Requirement, shortest, spellingOf } from './requirements.ts';

/**
 * With these bounds an evaluation over the approvers cannot use up its steps: no node is evaluated more often than there
 * are approvers, or looks at more than all their tags.
 */
const NODES_MAX = 200;
const APPROVERS_WEIGHT_MAX = 250;

/**
 * Whom a consensus names, if it only asks for named users, in any combination. Where nobody who approved is one of them,
 * it does not hold, and no approver is included in it (protocol/policies 8.2).
 */
export const namedApprovers = (tree: CheckedTree): Requirement | undefined =>
  tree.nodeCount > NODES_MAX ? undefined : namedIn(tree, tree.root);

function namedIn(tree: CheckedTree, node: Node): Requirement | undefined {
  switch (node.kind) {
    case 'logic':
      // Also of parts that must all hold: an approver who serves one of them is included.
      return anyOf(node.operands.map((operand) => namedIn(tree, operand)))[0];
    case 'quantifier':
      return node.quantifier === 'any' ? namedBy(tree, node) : undefined;
    case 'compare': {
      const [counted, number] =
        node.operator === '>=' || node.operator === '>' ? [node.left, node.right] : [node.right, node.left];
      const isAtLeast = node.operator === '>=' || node.operator === '<=';
      const isAbove = node.operator === '>' || node.operator === '<';
      if (number.kind !== 'integer' || !(isAtLeast || isAbove)) return undefined;
      // Nobody at all must not be enough.
      if (number.value < (isAtLeast ? 1n : 0n)) return undefined;
      const list = countedList(counted);
      return list?.kind === 'quantifier' && list.quantifier === 'filter' ? namedBy(tree, list) : undefined;
    }
    default:
      return undefined;
  }
}

const countedList = (node: Node): Node | undefined =>
  (node.kind === 'method' || node.kind === 'field') && node.name === 'count' ? node.target : undefined;

function namedBy(tree: CheckedTree, node: QuantifierNode): Requirement | undefined {
  const path = accessPath(tree, node.target);
  if (path?.length !== 1 || path[0] !== 'approvers') return undefined;
  const slot = tree.slots.get(node.id);
  const fieldOfApprover = (part: Node): string | undefined =>
    part.kind === 'field' && part.target.kind === 'name' && tree.slots.get(part.target.id) === slot
      ? `approvers.${part.name}`
      : undefined;
  return shortest(comparisonsIn(tree, node.body, fieldOfApprover)?.requirements ?? []);
}

/** How much there is to look at, counting users and their tags. */
export const weightOfApprovers = (approvers: readonly PolicyUser[]): number =>
  approvers.reduce((sum, { tags }) => sum + 1 + tags.length, 0);

/** All that approvers can be named by; undefined when they are too many to be sure of any consensus. */
export function matchesOf(approvers: readonly PolicyUser[]): readonly Match[] | undefined {
  if (weightOfApprovers(approvers) > APPROVERS_WEIGHT_MAX) return undefined;
  return approvers.flatMap(({ id, tags, email, alias }) => [
    { column: 'approvers.id', value: spellingOf(id) },
    { column: 'approvers.email', value: spellingOf(email) },
    { column: 'approvers.alias', value: spellingOf(alias) },
    ...tags.map((tag) => ({ column: 'approvers.tags', value: spellingOf(tag) })),
  ]);
}
