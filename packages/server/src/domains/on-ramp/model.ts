import type { FiatOnRampCredentialId, OnRampTransactionId } from '../../lib/ids.ts';

/** Whom money is changed by. */
export const ON_RAMP_PROVIDERS = ['FIAT_ON_RAMP_PROVIDER_COINBASE', 'FIAT_ON_RAMP_PROVIDER_MOONPAY'] as const;
export type OnRampProvider = (typeof ON_RAMP_PROVIDERS)[number];

export interface OnRampCredential {
  readonly id: FiatOnRampCredentialId;
  readonly provider: OnRampProvider;
  readonly projectId: string | undefined;
  readonly publishableApiKey: string;
  /** As it was submitted, and so is the next one. */
  readonly encryptedSecretApiKey: string;
  readonly encryptedPrivateApiKey: string | undefined;
  readonly sealedSecretKey: Uint8Array;
  readonly sealedPrivateKey: Uint8Array | undefined;
  readonly isSandbox: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** `CANCELLED`: a day has passed and the provider knows of no purchase. */
export const ON_RAMP_STATUSES = ['PENDING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type OnRampStatus = (typeof ON_RAMP_STATUSES)[number];

/** A link to a provider's page that somebody was given, and what became of it. */
export interface OnRampTransaction {
  readonly id: OnRampTransactionId;
  /** The credential that it was begun with, of the organization or of its parent. */
  readonly credentialId: string;
  readonly provider: OnRampProvider;
  readonly isSandbox: boolean;
  readonly status: OnRampStatus;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
