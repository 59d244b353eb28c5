import { createHmac } from 'node:crypto';

/** HMAC-SHA-256 under the secret key, of the query with its leading `?` as it stands in the URL, in base64. */
export function signMoonpayQuery(secretKey: Uint8Array, search: string): string {
  return createHmac('sha256', secretKey).update(search, 'utf8').digest('base64');
}
