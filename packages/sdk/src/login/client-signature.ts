import { toHex, toUtf8 } from '../bytes.ts';
import type { ApiKeyParams, AuthenticatorParams, OauthProviderParams } from '../generated/operations.ts';
import type { Signer } from '../signer.ts';
import { tokenIdOf } from './verification-token.ts';

/**
 * Shows that whoever uses a verification token holds the key that it is bound to, and what it is used for
 * (protocol/login 5.2).
 */
export interface ClientSignature {
  readonly publicKey: string;
  readonly scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256';
  readonly message: string;
  readonly signature: string;
}

export interface LoginSignatureOptions {
  /** The key that the verification token is bound to. */
  readonly key: Signer;
  readonly verificationToken: string;
  /** The session key that the login registers; that of `key` unless given. */
  readonly publicKey?: string;
}

export interface SignupSignatureOptions {
  /** The key that the verification token is bound to. */
  readonly key: Signer;
  readonly verificationToken: string;
  /** What the sign-up asks for. The service compares it with the request. */
  readonly request: {
    readonly apiKeys: readonly ApiKeyParams[];
    readonly authenticators: readonly AuthenticatorParams[];
    readonly oauthProviders: readonly OauthProviderParams[];
    readonly userEmail?: string;
    readonly userPhoneNumber?: string;
  };
}

/** The `clientSignature` of a login by one-time code. */
export async function loginClientSignature(options: LoginSignatureOptions): Promise<ClientSignature> {
  const { key, verificationToken, publicKey = key.publicKey } = options;
  const tokenId = tokenIdOf(verificationToken);
  return await signMessage(key, { login: { publicKey }, tokenId, type: 'USAGE_TYPE_LOGIN' });
}

/** The `clientSignature` of a sign-up with a verification token. */
export async function signupClientSignature(options: SignupSignatureOptions): Promise<ClientSignature> {
  const { key, verificationToken, request } = options;
  const { apiKeys, authenticators, oauthProviders, userEmail, userPhoneNumber } = request;
  const signupV2 = {
    apiKeys,
    authenticators,
    oauthProviders,
    ...(userEmail !== undefined && { email: userEmail }),
    ...(userPhoneNumber !== undefined && { phoneNumber: userPhoneNumber }),
  };
  return await signMessage(key, { signupV2, tokenId: tokenIdOf(verificationToken), type: 'USAGE_TYPE_SIGNUP' });
}

async function signMessage(key: Signer, usage: object): Promise<ClientSignature> {
  const message = JSON.stringify(usage);
  return {
    publicKey: key.publicKey,
    scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256',
    message,
    signature: toHex(await key.sign(toUtf8(message))),
  };
}
