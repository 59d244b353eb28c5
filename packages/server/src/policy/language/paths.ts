import { childrenOf, descend, type Node } from './ast.ts';
import type { CheckedTree } from './checker.ts';
import { fieldOf } from './types.ts';

/** The names of a chain of fields that starts at a keyword, such as eth, tx, value; undefined for anything else. */
export function accessPath(tree: CheckedTree, node: Node): readonly string[] | undefined {
  if (node.kind === 'name') return tree.slots.has(node.id) ? undefined : [node.name];
  if (node.kind !== 'field') return undefined;
  const target = accessPath(tree, node.target);
  const type = tree.types[node.target.id];
  if (target === undefined || type?.kind !== 'struct') return undefined;
  return [...target, fieldOf(type, node.name)?.name ?? node.name];
}

const GROUPS: ReadonlySet<string> = new Set(['eth', 'solana', 'tron', 'bitcoin', 'tempo']);

/** The namespace of a path, such as `eth.tx` or `wallet`; parameters are `activity.params`. */
export function namespaceOf(path: readonly string[]): string | undefined {
  const [root = '', member] = path;
  if (GROUPS.has(root)) return member === undefined ? undefined : `${root}.${member}`;
  if (root === 'activity') return member === 'params' ? 'activity.params' : undefined;
  return root;
}

/** Every namespace that an expression reads anywhere. */
export function namespacesRead(tree: CheckedTree, node: Node = tree.root): ReadonlySet<string> {
  const read = new Set<string>();
  for (const part of descend(node)) {
    const path = accessPath(tree, part);
    const namespace = path === undefined ? undefined : namespaceOf(path);
    if (namespace !== undefined) read.add(namespace);
  }
  return read;
}

/** Parts that every evaluation reaches: all of them but the bodies of lambdas, which an empty list leaves out. */
export function* alwaysEvaluated(node: Node): Generator<Node> {
  const open: Node[] = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    open.push(...strictParts(next).toReversed());
  }
}

const strictParts = (node: Node): readonly Node[] => (node.kind === 'quantifier' ? [node.target] : childrenOf(node));
