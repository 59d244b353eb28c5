import type { SEND_STATUSES } from '../../core/events.ts';

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
