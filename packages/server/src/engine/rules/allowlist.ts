import type { IpAllowlist } from '../../core/model.ts';
import { contains, parseAddress } from '../../lib/network.ts';

/** Whether a request may come from this address. Pure. */
export function isAllowedFrom(
  lists: readonly IpAllowlist[],
  publicKey: string | undefined,
  address: string | undefined,
): boolean {
  const list = judging(lists, publicKey);
  if (list === undefined) return true;
  const parsed = address === undefined ? undefined : parseAddress(address);
  if (parsed === undefined) return list.onEvaluationError === 'ALLOW';
  return list.rules.some(({ cidr }) => contains(cidr, parsed));
}

/**
 * A key's own list with a rule decides it, enforced always; else the organization's, where it is enabled
 * (protocol/organizations 8.2).
 */
function judging(lists: readonly IpAllowlist[], publicKey: string | undefined): IpAllowlist | undefined {
  const own = publicKey === undefined ? undefined : lists.find((list) => list.publicKey === publicKey);
  if (own !== undefined && own.rules.length > 0) return own;
  const organization = lists.find((list) => list.publicKey === undefined);
  return organization?.enabled ? organization : undefined;
}
