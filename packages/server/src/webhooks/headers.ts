import type { WebhookEvent } from '../lib/webhook.ts';

export interface SignedDelivery {
  readonly event: Pick<WebhookEvent, 'id' | 'type' | 'aboutId'>;
  readonly keyId: string;
  readonly timestampMs: number;
  /** Hexadecimal. */
  readonly signature: string;
}

/** The version of what is signed and of the algorithm, in headers and key set alike (spec 6.1, 6.2). */
export const SIGNATURE_VERSION = 'v1';
export const SIGNATURE_ALGORITHM = 'ed25519';

/** spec 6.1; the last three are not signed. The second family has the names that the public helper reads. */
export function deliveryHeaders(delivery: SignedDelivery, vendorNames: boolean): Record<string, string> {
  const { event, keyId, timestampMs, signature } = delivery;
  const values: readonly (readonly [string, string])[] = [
    ['Signature', signature],
    ['Signature-Key-Id', keyId],
    ['Signature-Algorithm', SIGNATURE_ALGORITHM],
    ['Signature-Version', SIGNATURE_VERSION],
    ['Timestamp', String(timestampMs)],
    ['Event-Id', event.id],
    ['Organization-Id', event.aboutId],
    ['Event-Type', event.type],
    ['Webhook-Version', '1'],
  ];
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': 'Custos-Webhooks/1',
  };
  for (const [name, value] of values) headers[`X-Service-${name}`] = value;
  if (vendorNames) for (const [name, value] of values) headers[`X-Turnkey-${name}`] = value;
  return headers;
}
