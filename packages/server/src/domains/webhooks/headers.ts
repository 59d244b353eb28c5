import type { WebhookEvent } from './model.ts';

export interface SignedDelivery {
  readonly event: Pick<WebhookEvent, 'id' | 'type' | 'aboutId'>;
  readonly keyId: string;
  readonly timestampMs: number;
  /** Hexadecimal. */
  readonly signature: string;
}

/** The version of what is signed and of the algorithm, in headers and key set alike. */
export const SIGNATURE_VERSION = 'v1';
export const SIGNATURE_ALGORITHM = 'ed25519';

/** The last three are not signed. */
const NAMES = [
  'Signature',
  'Signature-Key-Id',
  'Signature-Algorithm',
  'Signature-Version',
  'Timestamp',
  'Event-Id',
  'Organization-Id',
  'Event-Type',
  'Webhook-Version',
] as const;
const OWN_NAMES = NAMES.map((name) => `X-Service-${name}`);
/** A second family, of the names that the public helper reads. */
const VENDOR_NAMES = NAMES.map((name) => `X-Turnkey-${name}`);

/** Names and values in turn. */
export function deliveryHeaders(delivery: SignedDelivery, vendorNames: boolean): string[] {
  const { event, keyId, timestampMs, signature } = delivery;
  const values = [
    signature,
    keyId,
    SIGNATURE_ALGORITHM,
    SIGNATURE_VERSION,
    String(timestampMs),
    event.id,
    event.aboutId,
    event.type,
    '1',
  ];
  const headers = ['Content-Type', 'application/json', 'User-Agent', 'Custos-Webhooks/1'];
  for (const [index, value] of values.entries()) headers.push(OWN_NAMES[index] as string, value);
  if (vendorNames) for (const [index, value] of values.entries()) headers.push(VENDOR_NAMES[index] as string, value);
  return headers;
}

/** Those that are made anew for each attempt. */
const MADE_ANEW = /-(?:Signature|Signature-Key-Id|Timestamp)$/;

/** The headers that every attempt at a delivery has in common, and the names of those that differ. */
export function lastingHeaders(event: SignedDelivery['event'], vendorNames: boolean) {
  const list = deliveryHeaders({ event, keyId: '', timestampMs: 0, signature: '' }, vendorNames);
  const pairs = list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1] ?? ''] as const] : []));
  return {
    headers: Object.fromEntries(pairs.filter(([name]) => !MADE_ANEW.test(name))) as Record<string, string>,
    perAttempt: pairs.map(([name]) => name).filter((name) => MADE_ANEW.test(name)),
  };
}
