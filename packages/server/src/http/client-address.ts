import type { IncomingHttpHeaders } from 'node:http';
import { contains, parseAddress } from '../lib/network.ts';

/**
 * Where a request came from: the peer, or, behind proxies that the operator trusts, the right-most address of
 * X-Forwarded-For that is none of them. Undefined when a trusted proxy did not say; nobody else's header is read.
 */
export function clientAddress(
  peer: string | undefined,
  headers: IncomingHttpHeaders,
  trustedProxies: readonly string[],
): string | undefined {
  if (peer === undefined || !isTrusted(peer, trustedProxies)) return peer;
  const header = headers['x-forwarded-for'];
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((hop) => hop.trim());
  for (const hop of hops.reverse()) {
    if (parseAddress(hop) === undefined) return undefined;
    if (!isTrusted(hop, trustedProxies)) return hop;
  }
  return undefined;
}

function isTrusted(text: string, trustedProxies: readonly string[]): boolean {
  if (trustedProxies.length === 0) return false;
  const address = parseAddress(text);
  return address !== undefined && trustedProxies.some((cidr) => contains(cidr, address));
}
