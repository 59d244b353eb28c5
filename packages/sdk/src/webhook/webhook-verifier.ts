import { CustosError } from '../errors.ts';
import { globalFetch } from '../exchange.ts';
import { parseUrl } from '../url.ts';
import type { WebhookHeaders } from './headers.ts';
import { createKeySet } from './key-set.ts';
import { memberOf, settle, type WebhookVerification } from './result.ts';
import { checkSignature, readDelivery, WEBHOOK_MAX_AGE_MS, type WebhookBody } from './verify-webhook.ts';

const TIMEOUT_MS = 5_000;
const TIMEOUT_MS_MAX = 60_000;

export interface WebhookVerifierOptions {
  /** Where the service publishes its keys: its address and `/public/v1/discovery/webhooks/jwks`. */
  readonly jwksUrl: string;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Instead of `Date.now`. */
  readonly now?: () => number;
  /** How far the time of a signature may be from now. Default: five minutes. */
  readonly maxAgeMs?: number;
  /** For one fetch of the keys. Default: five seconds. */
  readonly timeoutMs?: number;
}

export interface WebhookVerifier {
  /** As `verifyWebhook`, with the published keys. It never throws. */
  verify(delivery: { readonly headers: WebhookHeaders; readonly body: WebhookBody }): Promise<WebhookVerification>;
}

/**
 * Verifies deliveries with the keys that the service publishes. They are fetched with the first delivery and kept as the
 * answer's Cache-Control says. For a key that is not among them they are fetched again, though not more than once in ten
 * seconds; a delivery that comes in between is answered with `key_set_unavailable`, and with `missing_key` only what came
 * before the fetch. While the service cannot be reached, known keys are used for another day, also those that it has
 * withdrawn since. One verifier serves a whole receiver.
 */
export function createWebhookVerifier(options: WebhookVerifierOptions): WebhookVerifier {
  const { jwksUrl, fetch = globalFetch, now = Date.now } = options;
  const { maxAgeMs = WEBHOOK_MAX_AGE_MS, timeoutMs = TIMEOUT_MS } = options;
  const keySet = createKeySet({
    url: checkUrl(jwksUrl),
    fetch,
    now,
    timeoutMs: checkRange('timeoutMs', timeoutMs, 1, TIMEOUT_MS_MAX),
  });
  checkRange('maxAgeMs', maxAgeMs, 0, Number.MAX_VALUE);
  return {
    verify: (given) =>
      settle(async () => {
        const { headers, body } = { headers: memberOf(given, 'headers'), body: memberOf(given, 'body') };
        const delivery = readDelivery({ headers, body, maxAgeMs, nowMs: now() });
        if (!delivery.ok) return delivery;
        const key = await keySet.find(delivery.keyId);
        return key.ok ? await checkSignature(delivery, key) : key;
      }),
  };
}

function checkUrl(jwksUrl: string): string {
  const url = typeof jwksUrl === 'string' ? parseUrl(jwksUrl) : undefined;
  // No runtime fetches an address with a name and a password in it.
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return url.href;
  throw new CustosError('INVALID_OPTION', 'jwksUrl must be an http:// or https:// address without a user');
}

function checkRange(name: string, value: number, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw new CustosError('INVALID_OPTION', `${name} must be a number from ${min} to ${max}`);
}
