import { type IdToken, UnknownIssuerError } from '../../../authn/oidc/id-token.ts';
import { isBoundTo } from '../../../authn/oidc/nonce.ts';
import { useOidcToken } from '../../../authn/oidc/token-uses.ts';
import { treeRoot } from '../../../core/model.ts';
import type { DescribeContext, ExecuteContext, LoginSubject } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { UserId } from '../../../lib/ids.ts';
import { OauthReader, OauthStore } from '../../users/store/oauth.ts';

/** The user of the organization for whom a token was issued. */
interface Identified {
  readonly userId: UserId;
  readonly providerId: string;
  readonly subject: LoginSubject;
  readonly token: IdToken;
}

/**
 * Whom a token logs in: it must be bound to the key that the login is for, spelled as it was sent (protocol/login 7.3).
 */
export async function identify(
  { read, actor, tokens }: DescribeContext,
  oidcToken: string,
  publicKeyText: string,
): Promise<Identified> {
  const { organizationId } = actor;
  const token = await tokens.oidc(oidcToken).catch((error: unknown) => {
    // Of an issuer that the tree does not know, nobody has an identity.
    throw error instanceof UnknownIssuerError ? notRegistered() : error;
  });
  if (!isBoundTo(token, publicKeyText)) {
    throw new ApiError('INVALID_OIDC_TOKEN', 'the nonce of the OIDC token does not match the public key');
  }
  const provider = await read(OauthReader).findProvider(organizationId, token);
  if (provider === undefined) throw notRegistered();
  const { userId, id: providerId } = provider;
  const { tokenId, expiresAtMs } = token;
  return {
    userId,
    providerId,
    token,
    subject: {
      userId,
      method: { type: 'AUTHENTICATION_TYPE_OAUTH', id: providerId },
      credentialId: providerId,
      token: { issuerId: treeRoot(actor.organization), tokenId, expiresAtMs },
    },
  };
}

/** Uses the token up. The identity may have been taken from the user since the token was looked at. */
export async function consumeIdentified(context: ExecuteContext, { providerId, token }: Identified): Promise<void> {
  const { store, actor } = context;
  if (!(await store(OauthStore).hasProvider(actor.organizationId, providerId))) throw notRegistered();
  await useOidcToken(context, treeRoot(actor.organization), token, 'login');
}

const notRegistered = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', 'no user of this organization has this OAuth identity');
