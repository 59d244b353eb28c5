import { descend, type Node, type QuantifierNode } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { accessPath } from '../language/paths.ts';

/** Which way a part may change when more users approve: only from false to true, or only from true to false. */
type Direction = 'gains' | 'loses';

const opposite = (direction: Direction): Direction => (direction === 'gains' ? 'loses' : 'gains');

/**
 * Whether a consensus that holds goes on to hold with more approvals, as far as its text tells. Then everyone together is
 * the only set to try: if it does not hold for all, it holds for none.
 */
export const onlyGains = (tree: CheckedTree): boolean => moves(tree, tree.root, 'gains');

function moves(tree: CheckedTree, node: Node, direction: Direction): boolean {
  if (!readsPeople(tree, node)) return true;
  switch (node.kind) {
    case 'not':
      return moves(tree, node.operand, opposite(direction));
    case 'logic':
      return node.operands.every((operand) => moves(tree, operand, direction));
    case 'compare': {
      const { operator, left, right } = node;
      const isLeft = !readsPeople(tree, right);
      if (!isLeft && readsPeople(tree, left)) return false;
      const wanted = isLeft === (direction === 'gains') ? '>' : '<';
      return operator.startsWith(wanted) && grows(tree, countedList(isLeft ? left : right));
    }
    case 'quantifier':
      return quantifierMoves(tree, node, direction);
    default:
      return false;
  }
}

/** A longer list can only help `any` and only harm `all`. */
function quantifierMoves(tree: CheckedTree, node: QuantifierNode, direction: Direction): boolean {
  if (node.quantifier === 'filter' || !moves(tree, node.body, direction)) return false;
  if (!readsPeople(tree, node.target)) return true;
  return grows(tree, node.target) && node.quantifier === (direction === 'gains' ? 'any' : 'all');
}

/** Whether a list keeps all that it has and only ever gets more: the people themselves, or some of them by name. */
function grows(tree: CheckedTree, list: Node | undefined): boolean {
  if (list === undefined) return false;
  if (list.kind === 'name') return accessPath(tree, list) !== undefined;
  if (list.kind !== 'quantifier' || list.quantifier !== 'filter') return false;
  return grows(tree, list.target) && moves(tree, list.body, 'gains');
}

function countedList(node: Node): Node | undefined {
  return (node.kind === 'method' || node.kind === 'field') && node.name === 'count' ? node.target : undefined;
}

function readsPeople(tree: CheckedTree, node: Node): boolean {
  for (const part of descend(node)) if (part.kind === 'name' && accessPath(tree, part) !== undefined) return true;
  return false;
}
