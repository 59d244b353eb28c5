import { OTHER_TYPES } from '../catalog/type-set.ts';
import { isWithin } from './domain.ts';
import type { Claim, Subject } from './subject.ts';

/** Whether a denial is certain to hold whenever the other policy would allow. */
export function shadows(deny: Subject, allow: Subject): boolean {
  const [denied, allowed] = [deny.prepared, allow.prepared];
  if (denied.time !== undefined && denied.time.text !== allowed.time?.text) return false;
  if (denied.consensus !== undefined && denied.consensus.text !== allowed.consensus?.text) return false;
  return deny.claims.every((claim) => isImplied(claim, allow));
}

/** Whether a part of a denial is true, and does not fail, wherever the other condition is true. */
function isImplied({ node, text, typesFalse, demand }: Claim, allow: Subject): boolean {
  if (node.kind === 'bool') return node.value;
  if (allow.texts.has(text)) return true;
  if (typesFalse !== undefined) return (allow.types & typesFalse & ~OTHER_TYPES) === 0n;
  const domain = demand === undefined ? undefined : allow.domains.get(demand.key);
  return demand !== undefined && domain !== undefined && isWithin(domain, demand);
}
