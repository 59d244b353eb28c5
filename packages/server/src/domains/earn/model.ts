import type { EarnRequestId, OrganizationId, SendId } from '../../lib/ids.ts';

export const EARN_PROVIDERS = ['EARN_PROVIDER_MORPHO', 'EARN_PROVIDER_AAVE'] as const;
export type EarnProvider = (typeof EARN_PROVIDERS)[number];

/** A fee wrapper around a vault. Addresses are lower-case hex; its terms are fixed for life. */
export interface EarnWrapper {
  /** The parent organization that manages it. */
  readonly organizationId: OrganizationId;
  readonly caip2: string;
  readonly wrapperAddress: string;
  readonly splitterAddress: string;
  readonly vaultAddress: string;
  /** Undefined for a vault of neither provider. */
  readonly provider: EarnProvider | undefined;
  readonly assetAddress: string;
  readonly assetSymbol: string;
  readonly assetDecimals: number;
  readonly clientFeeBps: number;
  readonly clientFeeWallet: string;
  readonly serviceFeeBps: number;
  readonly serviceFeeWallet: string | undefined;
  readonly depositsDisabled: boolean;
  /** The request that deployed it last; more than one when the first failed. */
  readonly deployRequestId: EarnRequestId;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export const EARN_REQUEST_KINDS = ['deploy', 'deposit', 'withdraw', 'claim'] as const;
export type EarnRequestKind = (typeof EARN_REQUEST_KINDS)[number];

/** What somebody asked for; its send tells what became of it. */
export interface EarnRequest {
  /** The organization that asked. */
  readonly organizationId: OrganizationId;
  readonly id: EarnRequestId;
  readonly kind: EarnRequestKind;
  readonly caip2: string;
  readonly wrapperAddress: string;
  /** Whose deposit it is; empty for a deployment. */
  readonly walletAddress: string;
  /** In the smallest unit of the asset, decimal; MAX for all there is when it runs; empty where there is none. */
  readonly amount: string;
  /** Undefined for a wrapper that was on the chain already. */
  readonly sendId: SendId | undefined;
  readonly createdAtMs: number;
}

/** What a wallet has put into a wrapper and taken out of it, ever, by what is in blocks now. */
export interface EarnTotals {
  readonly wrapperAddress: string;
  readonly caip2: string;
  readonly deposited: bigint;
  readonly withdrawn: bigint;
  /** Transactions that took out everything there was, of which nobody has noted how much that was. */
  readonly unread: readonly string[];
}

/** A deposit or withdrawal that is in a block. */
export interface EarnMovement {
  readonly caip2: string;
  readonly wrapperAddress: string;
  readonly kind: 'deposit' | 'withdraw';
  /** Undefined where everything was taken out and nobody noted how much that was. */
  readonly amount: bigint | undefined;
  readonly atMs: number;
  readonly txHash: string | undefined;
}
