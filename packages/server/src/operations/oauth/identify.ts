import { ApiError } from '../../lib/errors.ts';
import type { UserId } from '../../lib/ids.ts';
import { isBoundTo } from '../../oidc/nonce.ts';
import type { DescribeContext, ExecuteContext, LoginSubject } from '../define.ts';

/** The user of the organization for whom a token was issued. */
interface Identified {
  readonly userId: UserId;
  readonly providerId: string;
  readonly subject: LoginSubject;
}

/** Whom a token logs in: it must be bound to the key that the login is for, spelled as it was sent (AUTH 8.2). */
export async function identify(
  { read, actor, tokens }: DescribeContext,
  oidcToken: string,
  publicKeyText: string,
): Promise<Identified> {
  const { organizationId } = actor;
  const token = await tokens.oidc(oidcToken);
  if (!isBoundTo(token, publicKeyText)) {
    throw new ApiError('INVALID_OIDC_TOKEN', 'the nonce of the OIDC token does not match the public key');
  }
  const provider = await read.oauth.findProvider(organizationId, token);
  if (provider === undefined) throw notRegistered();
  const { userId, id: providerId } = provider;
  const { tokenId, expiresAtMs } = token;
  return {
    userId,
    providerId,
    subject: {
      userId,
      method: { type: 'AUTHENTICATION_TYPE_OAUTH', id: providerId },
      credentialId: providerId,
      token: { issuerId: organizationId, tokenId, expiresAtMs },
    },
  };
}

/** The identity may have been taken from the user since the token was looked at. */
export async function requireStillRegistered(
  { store, actor }: ExecuteContext,
  { providerId }: Identified,
): Promise<void> {
  if (!(await store.oauth.hasProvider(actor.organizationId, providerId))) throw notRegistered();
}

const notRegistered = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', 'no user of this organization has this OAuth identity');
