import { type Bytes, concat, fromHex, toBytes, toUtf8 } from '../bytes.ts';
import { type DeliveryHeaders, readHeaders, type WebhookHeaders } from './headers.ts';
import { findKey, type PublicKey, type WebhookKeys } from './keys.ts';
import { failure, memberOf, settle, type WebhookFailure, type WebhookVerification } from './result.ts';

/** Five minutes, to either side: a delivery that somebody caught and sends again is refused afterwards. */
export const WEBHOOK_MAX_AGE_MS = 300_000;

/** The body as it came. A text is taken as UTF-8; what was parsed and written again does not verify. */
export type WebhookBody = Uint8Array | ArrayBuffer | string;

export interface VerifyWebhookOptions {
  readonly headers: WebhookHeaders;
  readonly body: WebhookBody;
  readonly keys: WebhookKeys;
  /** How far the time of the signature may be from now. Default: five minutes. */
  readonly maxAgeMs?: number;
  /** Instead of the clock. */
  readonly nowMs?: number;
}

/** A delivery of which all is checked that needs no key. */
export type ReadDelivery = DeliveryHeaders & { readonly timestampMs: number; readonly body: unknown };

/**
 * Whether a delivery was signed by one of the keys, lately, and is unchanged. It never throws, whatever it is given:
 * the answer has the first reason in the order of WEBHOOK_FAILURE_REASONS. Verify before you parse the body.
 */
export async function verifyWebhook(options: VerifyWebhookOptions): Promise<WebhookVerification> {
  return await settle(async () => {
    const delivery = readDelivery(options);
    if (!delivery.ok) return delivery;
    const key = findKey(memberOf(options, 'keys'), delivery.keyId);
    return key.ok ? await checkSignature(delivery, key) : key;
  });
}

/** Everything up to the key, in the order in which the public clients check it. */
export function readDelivery(options: unknown): ReadDelivery | WebhookFailure {
  const maxAgeMs = numberOf(options, 'maxAgeMs', () => WEBHOOK_MAX_AGE_MS);
  if (maxAgeMs === undefined || maxAgeMs < 0) return failure('invalid_max_timestamp_age');
  const nowMs = numberOf(options, 'nowMs', Date.now);
  if (nowMs === undefined) return failure('invalid_now');
  const headers = readHeaders(memberOf(options, 'headers'));
  if (!headers.ok) return headers;
  const timestampMs = /^[0-9]+$/.test(headers.timestamp) ? Number(headers.timestamp) : Number.NaN;
  if (!Number.isSafeInteger(timestampMs)) return failure('invalid_timestamp');
  if (Math.abs(nowMs - timestampMs) > maxAgeMs) return failure('stale_timestamp');
  if (headers.version !== 'v1') return failure('unsupported_signature_version');
  if (headers.algorithm !== 'ed25519') return failure('unsupported_signature_algorithm');
  return { ...headers, timestampMs, body: memberOf(options, 'body') };
}

export async function checkSignature(delivery: ReadDelivery, key: PublicKey): Promise<WebhookVerification> {
  const { version, algorithm, keyId, timestamp, timestampMs, eventId, eventType, organizationId } = delivery;
  if (eventId.includes('.')) return failure('invalid_event_id');
  const body = readBody(delivery.body);
  if (body === undefined) return failure('invalid_body');
  // The service writes lower case. Another spelling of the same signature would be a change that goes unnoticed.
  const signature = /^[0-9a-f]{128}$/.test(delivery.signature) ? fromHex(delivery.signature) : undefined;
  if (signature === undefined) return failure('invalid_signature');
  const signed = concat(toUtf8(`${version}.${algorithm}.${keyId}.${timestamp}.${eventId}.`), body);
  // Not every browser and runtime has the curve. It is loaded here, so that pages without webhooks do without.
  const { ed25519 } = await import('@noble/curves/ed25519.js');
  if (!ed25519.verify(signature, signed, key.bytes, { zip215: false })) return failure('invalid_signature');
  return {
    ok: true,
    eventId,
    keyId,
    timestampMs,
    ...(eventType !== undefined && { eventType }),
    ...(organizationId !== undefined && { organizationId }),
  };
}

/** Undefined unless it is a finite number, or absent and so the default. */
function numberOf(options: unknown, name: string, fallback: () => number): number | undefined {
  const value = memberOf(options, name);
  const number = value === undefined ? fallback() : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Buffers and views also of another realm, such as that of a test runner. */
function readBody(body: unknown): Bytes | undefined {
  try {
    if (typeof body === 'string') return toUtf8(body);
    if (ArrayBuffer.isView(body)) return toBytes(body);
    // Slicing works on a real buffer alone.
    return new Uint8Array(ArrayBuffer.prototype.slice.call(body as ArrayBuffer, 0));
  } catch {
    return undefined;
  }
}
