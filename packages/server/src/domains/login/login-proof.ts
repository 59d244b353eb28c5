import type { TokenUse } from '../../authn/identity/tokens.ts';
import { useOidcToken } from '../../authn/oidc/token-uses.ts';
import { type AuthenticationMethod, treeRoot } from '../../core/model.ts';
import { UsedTokenStore } from '../../core/store/used-tokens.ts';
import type { ExecuteContext } from '../../engine/define.ts';
import { ApiError } from '../../lib/errors.ts';
import type { UserId } from '../../lib/ids.ts';
import { markVerified } from '../users/contacts.ts';
import { UserStore } from '../users/store/users.ts';

/** By what a user is logged in. */
export interface LoginProof {
  readonly userId: UserId;
  readonly method: AuthenticationMethod;
  readonly token: TokenUse;
  /** The contact that a verification token proves; undefined for an OAuth identity. Either token logs in once. */
  readonly contact: string | undefined;
}

/** Uses the token up, and marks the contact that it proves. */
export async function consumeForLogin(context: ExecuteContext, proof: LoginProof): Promise<void> {
  const { store, actor, activityId, nowMs } = context;
  const { userId, method, token } = proof;
  if (proof.contact === undefined) {
    await useOidcToken(context, token.issuerId, token, 'login');
    return;
  }
  const contact = method.type === 'AUTHENTICATION_TYPE_EMAIL_OTP' ? 'email' : 'phone';
  // The contact may have become somebody else's since the user was looked up by it.
  const holder = await store(UserStore).byContact(actor.organizationId, contact, proof.contact);
  if (holder?.id !== userId) {
    throw new ApiError('INVALID_VERIFICATION_TOKEN', "the contact is no longer this user's");
  }
  const { issuerId, tokenId, expiresAtMs } = token;
  const use = { tokenId, purpose: 'login', activityId, expiresAtMs };
  if (!(await store(UsedTokenStore).useToken(issuerId, use, nowMs))) {
    throw new ApiError('INVALID_VERIFICATION_TOKEN', 'this verification token has already logged in');
  }
  const place = { organizationId: actor.organizationId, rootId: treeRoot(actor.organization) };
  await markVerified(store, place, userId, contact, 'leave', nowMs);
}
