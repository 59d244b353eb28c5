import type {
  ApiKeyParams,
  AuthenticatorParams,
  CreateWalletParameters,
  OauthProviderParams,
} from '../generated/operations.ts';
import type { ClientSignature } from '../login/client-signature.ts';
import type { AppProof } from '../verify-app-proof.ts';

// What the sign-up proxy takes and answers (protocol/sign-up-proxy 3). Its calls are no activities, so that they are
// not generated.

export interface ProxyAccountRequest {
  readonly filterType:
    | 'EMAIL'
    | 'PHONE_NUMBER'
    | 'OIDC_TOKEN'
    | 'OIDC_CLAIMS'
    | 'PUBLIC_KEY'
    | 'CREDENTIAL_ID'
    | 'NAME'
    | 'USERNAME';
  readonly filterValue: string;
  /** Needed for `EMAIL` and `PHONE_NUMBER` unless the configuration says otherwise. */
  readonly verificationToken?: string;
  readonly oidcToken?: string;
}

export interface ProxyAccount {
  /** Absent when there is no such account: then sign up. */
  readonly organizationId?: string;
}

export interface ProxyOtpInitRequest {
  readonly otpType: 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS';
  readonly contact: string;
  readonly emailCustomization?: { readonly templateId?: string };
}

export interface ProxyOtp {
  readonly otpId: string;
}

export interface ProxyEncryptedOtp extends ProxyOtp {
  /** For `encryptOtpCode`. */
  readonly otpEncryptionTargetBundle: string;
}

export interface ProxyOtpVerifyRequest {
  readonly otpId: string;
  readonly otpCode: string;
  readonly publicKey?: string;
}

export interface ProxyOtpVerifyV2Request {
  readonly otpId: string;
  /** What `encryptOtpCode` answered. */
  readonly encryptedOtpBundle: string;
}

export interface ProxyVerification {
  readonly verificationToken: string;
}

export interface ProxyOtpLoginRequest {
  readonly verificationToken: string;
  /** The session key. */
  readonly publicKey: string;
  readonly invalidateExisting?: boolean;
  /** Whose account; found by the contact of the token unless given. */
  readonly organizationId?: string;
  readonly clientSignature?: ClientSignature;
}

export interface ProxyOtpLoginV2Request extends ProxyOtpLoginRequest {
  readonly clientSignature: ClientSignature;
}

export interface ProxyOauthLoginRequest {
  readonly oidcToken: string;
  readonly publicKey: string;
  readonly invalidateExisting?: boolean;
  readonly organizationId?: string;
}

export interface ProxySession {
  /** For `verifySession`. */
  readonly session: string;
}

export interface ProxyOauth2Request {
  readonly provider: 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD';
  readonly authCode: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  /** `oidcNonceOf` the session key. */
  readonly nonce: string;
  readonly clientId: string;
}

export interface ProxyOidcToken {
  readonly oidcToken: string;
}

export interface ProxySignupRequest {
  readonly userEmail?: string;
  readonly userPhoneNumber?: string;
  readonly userTag?: string;
  readonly userName?: string;
  readonly organizationName?: string;
  readonly verificationToken?: string;
  /** The three lists are required, empty where unused. */
  readonly apiKeys: readonly ApiKeyParams[];
  readonly authenticators: readonly AuthenticatorParams[];
  readonly oauthProviders: readonly OauthProviderParams[];
  readonly wallet?: CreateWalletParameters;
  readonly clientSignature?: ClientSignature;
  /** Have the service sign what it did: `appProofs` in the answer. */
  readonly generateAppProofs?: boolean;
}

export interface ProxySignup {
  readonly organizationId: string;
  readonly userId: string;
  readonly wallet?: { readonly walletId: string; readonly addresses: readonly string[] };
  readonly appProofs?: readonly AppProof[];
}

export interface ProxyConfig {
  readonly organizationId: string;
  readonly enabledProviders: readonly string[];
  readonly sessionExpirationSeconds: string;
  readonly oauthClientIds?: Readonly<Record<string, string>>;
  readonly oauthRedirectUrl?: string;
  readonly otpAlphanumeric?: boolean;
  readonly otpLength?: string;
}

export interface ProxyClientParams {
  readonly turnstileSiteKey?: string;
}
