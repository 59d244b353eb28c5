import { OTHER_TYPES } from '../catalog/type-set.ts';
import { possibleTypes, typeFactOf } from '../decision/concern.ts';
import { descend, type Node } from '../language/ast.ts';
import type { CheckedTree } from '../language/checker.ts';
import { printTree } from '../language/printer.ts';
import { demandOf, isWithin } from './domain.ts';
import type { Subject } from './subject.ts';

/** Whether a denial is certain to hold whenever the other policy would allow. */
export function shadows(deny: Subject, allow: Subject): boolean {
  const [denied, allowed] = [deny.prepared, allow.prepared];
  if (denied.time !== undefined && denied.time.text !== allowed.time?.text) return false;
  if (denied.consensus !== undefined && denied.consensus.text !== allowed.consensus?.text) return false;
  const tree = denied.condition?.tree;
  return tree === undefined || deny.conjuncts.every((conjunct) => isImplied(tree, conjunct, allow));
}

/** Whether a part of a denial is true, and does not fail, wherever the other condition is true. */
function isImplied(tree: CheckedTree, conjunct: Node, allow: Subject): boolean {
  if (conjunct.kind === 'bool') return conjunct.value;
  if (allow.texts.has(printTree(conjunct))) return true;
  if (asksOnlyForTypes(tree, conjunct)) {
    return (allow.types & possibleTypes(tree, conjunct).false & ~OTHER_TYPES) === 0n;
  }
  const demand = demandOf(tree, conjunct);
  const domain = demand === undefined ? undefined : allow.domains.get(demand.key);
  return demand !== undefined && domain !== undefined && isWithin(domain, demand);
}

/** Whether a part reads nothing but the type, kind, resource and action of the activity, in ways that cannot fail. */
function asksOnlyForTypes(tree: CheckedTree, node: Node): boolean {
  const parts = [...descend(node)];
  const isSimple = parts.every(({ kind }) => kind !== 'quantifier' && kind !== 'index' && kind !== 'slice');
  const names = parts.filter(({ kind }) => kind === 'name').length;
  return isSimple && names === parts.filter((part) => typeFactOf(tree, part) !== undefined).length;
}
