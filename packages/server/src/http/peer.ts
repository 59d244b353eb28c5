import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackHost } from '../config/message-ways.ts';

const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

interface Call {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/**
 * Somebody on this machine who did not come through a proxy: may read metrics and the detail of readiness
 * (protocol/http 1.5).
 */
export function isPrivilegedPeer(request: Call): boolean {
  const address = request.socket.remoteAddress ?? '';
  const isLoopback = address === '::1' || /^(::ffff:)?127\./.test(address);
  return isLoopback && FORWARDING_HEADERS.every((name) => request.headers[name] === undefined);
}

/**
 * Somebody on this machine who meant this machine (protocol/messages 4.2): a page that had its own name point here has
 * another Host.
 */
export function isLocalCaller(request: Call): boolean {
  const name = request.headers.host?.replace(/:\d{1,5}$/, '') ?? '';
  return isPrivilegedPeer(request) && isLoopbackHost(name);
}

/** Whether a page of this very address made the call: browsers name the page's origin with every POST. */
export function isOwnPage({ headers }: Pick<Call, 'headers'>): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  return origin === `http://${host}` && (site === undefined || site === 'same-origin');
}

/** Whether any page in a browser made the call. */
export const isPage = ({ headers }: Pick<Call, 'headers'>): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
