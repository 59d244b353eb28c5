import type { TokenUse } from '../../identity/tokens.ts';
import { ApiError } from '../../lib/errors.ts';
import type { UserId } from '../../lib/ids.ts';
import { type AuthenticationMethod, treeRoot } from '../../lib/model.ts';
import type { ExecuteContext } from '../define.ts';
import { markVerified } from '../users/contacts.ts';

/** By what a user is logged in. */
export interface LoginProof {
  readonly userId: UserId;
  readonly method: AuthenticationMethod;
  readonly token: TokenUse;
  /** A verification token logs in once (AUTH 7.4). */
  readonly isSingleUse: boolean;
}

/** Uses the token up, and marks the contact that it proves. */
export async function consumeForLogin(context: ExecuteContext, proof: LoginProof): Promise<void> {
  const { store, actor, activityId, nowMs } = context;
  const { userId, method, token, isSingleUse } = proof;
  if (isSingleUse) {
    const { issuerId, tokenId, expiresAtMs } = token;
    const use = { tokenId, purpose: 'login', activityId, expiresAtMs };
    if (!(await store.logins.useToken(issuerId, use, nowMs))) {
      throw new ApiError('INVALID_VERIFICATION_TOKEN', 'this verification token has already logged in');
    }
  }
  const contact =
    method.type === 'AUTHENTICATION_TYPE_EMAIL_OTP'
      ? 'email'
      : method.type === 'AUTHENTICATION_TYPE_SMS_OTP'
        ? 'phone'
        : undefined;
  if (contact === undefined) return;
  const place = { organizationId: actor.organizationId, rootId: treeRoot(actor.organization) };
  await markVerified(store, place, userId, contact, 'leave', nowMs);
}
