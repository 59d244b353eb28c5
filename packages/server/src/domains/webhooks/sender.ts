import { WEBHOOKS_LENGTH_MAX } from '@custos/keyring';
import type { Clock } from '../../lib/clock.ts';
import { deliveryHeaders } from './headers.ts';
import type { WebhookEndpoint, WebhookEvent } from './model.ts';
import type { Poster } from './poster/poster.ts';
import type { Receipt } from './poster/posting.ts';
import type { EndpointSigner } from './share.ts';

/** One event for one endpoint, signed at a moment. */
export interface SignedPosting {
  /** By the time that passes. */
  readonly signedAtMs: number;
  /** Never rejects. */
  post(): Promise<Receipt>;
}

/** Signs one event for one endpoint; rejects when that cannot be done now. */
export type WebhookSender = (
  endpoint: Pick<WebhookEndpoint, 'organizationId' | 'id' | 'url'>,
  event: Pick<WebhookEvent, 'id' | 'type' | 'aboutId' | 'body'>,
) => Promise<SignedPosting>;

export const createWebhookSender =
  (sign: EndpointSigner, poster: Poster, vendorNames: boolean, elapsed: Clock): WebhookSender =>
  async (endpoint, event) => {
    // Nothing as large is announced; if ever, it must not hold up what comes behind it for three days.
    if (event.body.length > WEBHOOKS_LENGTH_MAX) {
      return { signedAtMs: Number.POSITIVE_INFINITY, post: async () => ({ latencyMs: 0, error: 'too-large' }) };
    }
    // Before it is signed: the moment that the signature names is not earlier.
    const signedAtMs = elapsed();
    const signed = await sign(endpoint, event);
    const headers = deliveryHeaders({ event, ...signed }, vendorNames);
    return {
      signedAtMs,
      post: () => poster.deliver({ url: endpoint.url, headers, body: event.body }),
    };
  };
