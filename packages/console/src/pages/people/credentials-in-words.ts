import type { ListUserSummariesResponse } from '@custos/sdk';
import { count } from '../../lib/amounts.ts';
import { relative } from '../../lib/time.ts';

export type UserSummary = ListUserSummariesResponse['users'][number];

const SOON_MS = 7 * 86_400_000;

/** "2 passkeys, 1 API key"; "no credentials" where there are none. */
export function credentialsInWords(user: UserSummary): string {
  const parts = [
    user.passkeyCount > 0 && count(user.passkeyCount, 'passkey'),
    user.apiKeyCount > 0 && count(user.apiKeyCount, 'API key'),
    user.oauthCount > 0 && count(user.oauthCount, 'login elsewhere', 'logins elsewhere'),
    user.sessionCount > 0 && count(user.sessionCount, 'session'),
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'no credentials' : parts.join(', ');
}

/** "ends in 3 days", and whether that is soon. */
export function endInWords(expiresAt: string, nowMs: number): { readonly text: string; readonly isSoon: boolean } {
  const leftMs = Date.parse(expiresAt) - nowMs;
  if (leftMs <= 0) return { text: `ended ${relative(expiresAt, nowMs)}`, isSoon: true };
  return { text: `ends ${relative(expiresAt, nowMs)}`, isSoon: leftMs < SOON_MS };
}
