import type { OtpType } from '../../core/contact.ts';
import type { Oauth2CredentialId, OtpId, UserId } from '../../lib/ids.ts';

/** A one-time code that was sent to a contact. */
export interface Otp {
  readonly id: OtpId;
  readonly type: OtpType;
  readonly contact: string;
  /** The user that the code was made for; undefined where it proves a contact only. */
  readonly userId: UserId | undefined;
  /** Whether attempts come encrypted; those of the other kind are refused. */
  readonly isEncrypted: boolean;
  readonly sealedOtp: Uint8Array;
  readonly expiresAtMs: number;
  readonly createdAtMs: number;
}

export type Oauth2Provider = 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD';

export interface Oauth2Credential {
  readonly id: Oauth2CredentialId;
  readonly provider: Oauth2Provider;
  readonly clientId: string;
  /** As it was submitted. */
  readonly encryptedClientSecret: string;
  readonly sealedSecret: Uint8Array;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
