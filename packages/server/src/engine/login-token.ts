import type { TokenUse } from '../authn/identity/tokens.ts';
import { useOidcToken } from '../authn/oidc/token-uses.ts';
import type { Actor } from '../core/actor.ts';
import type { Activity } from '../core/model.ts';
import { UsedTokenStore } from '../core/store/used-tokens.ts';
import { ApiError } from '../lib/errors.ts';
import type { Stores } from '../storage/stores.ts';

/** A token that asks for a login logs in once, also where others complete it later; they do not have the token then. */
export async function spendLoginToken(stores: Stores, { credential }: Actor, activity: Activity): Promise<void> {
  if (credential.kind !== 'attested') return;
  const { issuerId, tokenId, expiresAtMs } = credential.attested.token as TokenUse;
  if (credential.attested.contact === undefined) {
    const during = { store: stores, activityId: activity.id, nowMs: activity.createdAtMs };
    await useOidcToken(during, issuerId, { tokenId, expiresAtMs }, 'login');
    return;
  }
  const use = { tokenId, purpose: 'login', activityId: activity.id, expiresAtMs };
  if (await stores(UsedTokenStore).useToken(issuerId, use, activity.createdAtMs)) return;
  throw new ApiError('INVALID_VERIFICATION_TOKEN', 'this verification token has already logged in');
}
