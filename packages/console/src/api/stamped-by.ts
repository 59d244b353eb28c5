import type { SignedRequest } from '@custos/sdk';

/** A further credential, or the key before this one, says nothing about the session. */
export function isStampedBy(request: SignedRequest | undefined, publicKey: string): boolean {
  if (request === undefined) return true;
  if (request.headerName.toLowerCase() !== 'x-stamp') return false;
  try {
    const stamp = JSON.parse(atob(request.headerValue.replaceAll('-', '+').replaceAll('_', '/'))) as unknown;
    return (stamp as { publicKey?: unknown } | null)?.publicKey === publicKey;
  } catch {
    return false;
  }
}
