import { Buffer } from 'node:buffer';
import { type KeyObject, sign } from 'node:crypto';
import type { WebhookToSign } from '../keyring.ts';
import { hexOf } from './encoding.ts';

/** Ed25519 over the text in UTF-8, in lower-case hexadecimal. */
export function signWebhook(key: KeyObject, keyId: string, { timestampMs, eventId, body }: WebhookToSign): string {
  const message = Buffer.from(`v1.ed25519.${keyId}.${timestampMs}.${eventId}.${body}`, 'utf8');
  return hexOf(sign(null, message, key));
}
