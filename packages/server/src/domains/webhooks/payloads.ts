/** What balance updates say (protocol/webhooks 3.2): one address, one operation and one asset each. */
export interface BalancePayload {
  readonly type: 'balances:confirmed' | 'balances:finalized';
  readonly organizationId: string;
  readonly parentOrganizationId: string;
  readonly msg: {
    readonly operation: 'deposit' | 'withdraw';
    readonly caip2: string;
    readonly txHash: string;
    readonly address: string;
    readonly idempotencyKey: string;
    readonly asset: {
      readonly symbol: string;
      readonly name: string;
      readonly decimals: number;
      readonly caip19: string;
      readonly amount: string;
    };
    readonly block: { readonly number: number; readonly hash: string; readonly timestamp: string };
  };
}

export const SEND_STATUSES = ['BROADCASTING', 'INCLUDED', 'FAILED'] as const;

/** What is told of a transaction that was sent for an organization (protocol/webhooks 3.3). */
export interface SendStatusPayload {
  readonly type: 'transaction:status';
  readonly organizationId: string;
  readonly parentOrganizationId: string;
  readonly msg: {
    readonly sendTransactionStatusId: string;
    readonly activityId: string;
    readonly status: (typeof SEND_STATUSES)[number];
    readonly caip2: string;
    readonly idempotencyKey: string;
    /** In seconds since 1970. */
    readonly timestamp: number;
    readonly txHash?: string;
    readonly error?: { readonly message: string; readonly eth?: unknown; readonly solana?: unknown };
  };
}
