/**
 * Why a delivery is refused: the first check that fails, in this order.
 *
 * - `invalid_headers`, `invalid_keys`, `invalid_body`: the caller gave something that is no such thing.
 * - `key_set_unavailable`: the key is not known, and the key set could not be fetched again or was fetched too short a
 *   time ago, so that nothing is known of the delivery; of `createWebhookVerifier` only. A receiver that answers 503 gets
 *   the delivery again.
 * - `invalid_event_id`: the event id holds a dot. Such an id could take in the beginning of the body, since dots divide
 *   what is signed.
 * - `verification_unavailable`: the check itself could not be done, for example since the runtime is out of memory.
 */
export const WEBHOOK_FAILURE_REASONS = [
  'invalid_max_timestamp_age',
  'invalid_now',
  'invalid_headers',
  'missing_header',
  'invalid_timestamp',
  'stale_timestamp',
  'unsupported_signature_version',
  'unsupported_signature_algorithm',
  'key_set_unavailable',
  'invalid_keys',
  'missing_key',
  'invalid_verification_key_algorithm',
  'invalid_verification_key',
  'invalid_event_id',
  'invalid_body',
  'invalid_signature',
  'verification_unavailable',
] as const;
export type WebhookFailureReason = (typeof WEBHOOK_FAILURE_REASONS)[number];

export interface WebhookFailure {
  readonly ok: false;
  readonly reason: WebhookFailureReason;
  /** With `missing_header`: which one, in lower case. */
  readonly headerName?: string;
}

export interface WebhookSuccess {
  readonly ok: true;
  /** The same each time that a delivery is repeated. */
  readonly eventId: string;
  readonly keyId: string;
  /** When this attempt was signed. */
  readonly timestampMs: number;
  /** As the header says, which is not signed: good for routing, not for a decision. */
  readonly eventType?: string;
  /** As the header says, which is not signed: what counts is in the body. */
  readonly organizationId?: string;
}

export type WebhookVerification = WebhookSuccess | WebhookFailure;

export const failure = (reason: WebhookFailureReason, headerName?: string): WebhookFailure => ({
  ok: false,
  reason,
  ...(headerName !== undefined && { headerName }),
});

/** Whatever happens, an answer. */
export async function settle(check: () => Promise<WebhookVerification>): Promise<WebhookVerification> {
  try {
    return await check();
  } catch {
    return failure('verification_unavailable');
  }
}

/** What stands for a member that cannot be read; it is of no type that any member has. */
const UNREADABLE = Symbol('unreadable');

/** A member of whatever a caller gave: reading it never throws. */
export function memberOf(value: unknown, name: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown> | null | undefined)?.[name];
  } catch {
    return UNREADABLE;
  }
}
