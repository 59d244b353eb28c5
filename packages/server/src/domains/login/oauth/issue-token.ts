import { KeyringError, sealForClient } from '@custos/keyring';
import type { PrepareContext } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { Oauth2Credential } from '../model.ts';
import type { Exchanged } from '../oauth2/exchange.ts';

const TOKEN_SECONDS = 600;

interface Code {
  readonly authCode: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly nonce: string;
  /** The key to which the provider's access token is to be encrypted. */
  readonly bearerKey: Uint8Array | undefined;
}

/** Has the code exchanged, and says in a token of ours whose it was (protocol/login 8.3). */
export async function exchangeForToken(
  context: PrepareContext,
  credential: Oauth2Credential,
  { nonce, bearerKey, ...code }: Code,
): Promise<{ readonly oidcToken: string; readonly expiresAtMs: number }> {
  const { keyring, nowMs } = context;
  const { accessToken, subject } = await exchange(context, credential, code);
  const issuedAt = Math.floor(nowMs / 1000);
  const oidcToken = await keyring.signIdToken({
    iss: context.ownIssuer().issuer,
    aud: credential.clientId,
    sub: subject,
    nonce,
    iat: issuedAt,
    exp: issuedAt + TOKEN_SECONDS,
    ...(bearerKey !== undefined && { encrypted_bearer_token: sealAccessToken(bearerKey, accessToken) }),
  });
  return { oidcToken, expiresAtMs: (issuedAt + TOKEN_SECONDS) * 1000 };
}

/** The secret is lent for this one call (protocol/login 8.1). */
async function exchange(
  context: PrepareContext,
  { id, provider, clientId, sealedSecret }: Oauth2Credential,
  code: Omit<Code, 'nonce' | 'bearerKey'>,
): Promise<Exchanged> {
  const clientSecret = await context.keyring.lendOauthSecret(holderOf(context, id), sealedSecret);
  try {
    return await context.oauth2({ provider, clientId, clientSecret, ...code });
  } finally {
    clientSecret.fill(0);
  }
}

function sealAccessToken(key: Uint8Array, accessToken: string): string {
  try {
    return sealForClient(key, Buffer.from(accessToken, 'utf8'));
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    // The key was checked before, so that only the length is left.
    throw new ApiError('OAUTH2_EXCHANGE_FAILED', 'the access token of the provider is too long to be encrypted', {
      cause: error,
    });
  }
}
