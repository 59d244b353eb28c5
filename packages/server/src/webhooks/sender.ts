import { WEBHOOKS_LENGTH_MAX } from '@custos/keyring';
import type { WebhookEndpoint, WebhookEvent } from '../lib/webhook.ts';
import type { Courier, Receipt } from './courier/courier.ts';
import { deliveryHeaders } from './headers.ts';
import type { WebhookSigner } from './signer.ts';

/** Signs and sends one event to one endpoint; rejects only when it could not be signed. */
export type WebhookSender = (
  endpoint: Pick<WebhookEndpoint, 'url'>,
  event: Pick<WebhookEvent, 'id' | 'type' | 'aboutId' | 'body'>,
) => Promise<Receipt>;

export const createWebhookSender =
  (sign: WebhookSigner, courier: Courier, vendorNames: boolean): WebhookSender =>
  async ({ url }, event) => {
    // Nothing as large is announced; if ever, it must not hold up what comes behind it for three days.
    if (event.body.length > WEBHOOKS_LENGTH_MAX) return { latencyMs: 0, error: 'too-large' };
    const signed = await sign(event);
    return await courier.deliver({
      url,
      headers: deliveryHeaders({ event, ...signed }, vendorNames),
      body: event.body,
    });
  };
