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
