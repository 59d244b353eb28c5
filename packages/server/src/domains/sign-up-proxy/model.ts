import type { OrganizationId, UserId } from '../../lib/ids.ts';

/** What a sign-up proxy may do and how (protocol/sign-up-proxy 1.3). */
export interface SignUpProxySettings {
  /** `*` alone for any. */
  readonly allowedOrigins: readonly string[];
  readonly allowedAuthMethods: readonly string[];
  readonly sendFromEmailAddress?: string | undefined;
  readonly replyToEmailAddress?: string | undefined;
  readonly sendFromEmailSenderName?: string | undefined;
  readonly emailAuthTemplateId?: string | undefined;
  readonly otpTemplateId?: string | undefined;
  readonly emailCustomizationParams?: Readonly<Record<string, unknown>> | undefined;
  readonly smsCustomizationParams?: Readonly<Record<string, unknown>> | undefined;
  readonly walletKitSettings?: Readonly<Record<string, unknown>> | undefined;
  readonly otpExpirationSeconds?: number | undefined;
  readonly verificationTokenExpirationSeconds?: number | undefined;
  readonly sessionExpirationSeconds?: number | undefined;
  readonly otpAlphanumeric: boolean;
  readonly otpLength: number;
  readonly verificationTokenRequiredForGetAccountPii: boolean;
  readonly socialLinkingClientIds: readonly string[];
  /** OpenID issuers, besides those of the methods, that callers of the proxy may bring tokens of. */
  readonly oidcIssuers: readonly string[];
  readonly captchaEnabled: boolean;
}

export interface SignUpProxyConfig {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly enabled: boolean;
  /** Undefined until the service has made the user and its key. */
  readonly identity:
    | { readonly userId: UserId; readonly publicKey: string; readonly sealedKey: Uint8Array }
    | undefined;
  readonly settings: SignUpProxySettings;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
