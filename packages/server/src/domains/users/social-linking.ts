import { GOOGLE, type IdToken } from '../../authn/oidc/id-token.ts';
import type { Place } from '../../core/place.ts';
import { type TreeProxy, TreeTrust } from '../../core/rules.ts';
import type { ExecuteContext } from '../../engine/define.ts';
import { markVerified } from './contacts.ts';
import { UserStore } from './store/users.ts';

/**
 * The email that a Google sign-in proves (protocol/login 7.8). Anybody can get a token for a client of their own, so
 * that only those clients count which the sign-up proxy of the tree names.
 */
export function linkedEmail(proxy: TreeProxy | undefined, token: IdToken): string | undefined {
  const isTrusted = proxy?.enabled === true && proxy.settings.socialLinkingClientIds.includes(token.audience);
  const isProven = isTrusted && token.issuer === GOOGLE && token.emailVerified && token.email !== undefined;
  // Compared without regard to case some unusual characters are ordinary letters, and another's address.
  return isProven && token.email.normalize('NFKC') === token.email ? token.email : undefined;
}

/**
 * Marks the email of a user as proven by such a sign-in. Only users of sub-organizations are found by a proven contact.
 */
export async function linkEmail(
  { store, nowMs }: Pick<ExecuteContext, 'store' | 'nowMs'>,
  place: Place,
  userId: string,
  token: IdToken,
): Promise<void> {
  if (place.organizationId === place.rootId || token.issuer !== GOOGLE) return;
  const proven = linkedEmail(await store(TreeTrust).ofOrganization(place.rootId), token);
  const { email } = await store(UserStore).get(place.organizationId, userId);
  if (proven === undefined || proven.toLowerCase() !== email?.toLowerCase()) return;
  await markVerified(store, place, userId, 'email', 'leave', nowMs);
}
