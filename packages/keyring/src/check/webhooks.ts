import { invalid } from '../derive/check.ts';
import { WEBHOOKS_LENGTH_MAX, WEBHOOKS_MAX, type WebhookToSign } from '../keyring.ts';
import { checkName } from '../seal/layout.ts';
import { listOf, membersOf } from './shape.ts';

// Beside check.ts, because the client of a keyring process checks these too, and loads nothing that handles keys: a
// list that is too long is refused before it is packed, and of a delivery nothing is sent but what is signed.

/** Without dots, which part the message that is signed. */
const EVENT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Checked copies. Whether the key is there is another question. */
export function checkWebhooks(keyId: unknown, webhooks: unknown): [string, WebhookToSign[]] {
  checkName(keyId, 'keyId');
  let length = 0;
  const list = listOf(webhooks, 'webhooks', 1, WEBHOOKS_MAX).map((webhook) => {
    const { timestampMs, eventId, body } = membersOf<WebhookToSign>(webhook, 'a webhook');
    if (!Number.isSafeInteger(timestampMs) || (timestampMs as number) < 0) {
      throw invalid('timestampMs must be a whole number and not negative');
    }
    if (typeof eventId !== 'string' || !EVENT_ID.test(eventId)) throw invalid('eventId must be a UUID in lower case');
    if (typeof body !== 'string') throw invalid('body must be text');
    length += body.length;
    if (length > WEBHOOKS_LENGTH_MAX) throw invalid(`bodies are longer than ${WEBHOOKS_LENGTH_MAX} characters`);
    if (!isWellFormed(body)) throw invalid('body must be well-formed text');
    return { timestampMs: timestampMs as number, eventId, body };
  });
  return [keyId, list];
}

/** Of the language since 2024, and many times faster than a pattern. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
