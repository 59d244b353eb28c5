import type { IncomingHttpHeaders } from 'node:http';

const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Somebody on this machine who did not come through a proxy: may read metrics and the detail of readiness
 * (protocol/http 1.5).
 */
export function isPrivilegedPeer(request: {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}): boolean {
  const address = request.socket.remoteAddress ?? '';
  const isLoopback = address === '::1' || /^(::ffff:)?127\./.test(address);
  return isLoopback && FORWARDING_HEADERS.every((name) => request.headers[name] === undefined);
}
