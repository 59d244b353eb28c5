import { expiredKeys, keyInUse, keysOfRole, serviceKeyTimes } from '../../core/service-keys.ts';
import { assert } from '../../lib/assert.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import { SIGNATURE_ALGORITHM, SIGNATURE_VERSION } from './headers.ts';

/** What caches of the key set are told (protocol/webhooks 4.2). */
export const KEY_SET_SECONDS = 300;

export const WEBHOOK_ROLE = 'webhook-signer';
/** How long a new key is published before it signs: three times what caches keep the key set for. */
export const SIGNS_AFTER_MS = serviceKeyTimes(WEBHOOK_ROLE).publishedMs;

type Key = Pick<ServiceKey, 'role' | 'keyId' | 'publicKey' | 'signsFromMs'>;

/** The key that signs at a moment: the last one whose time has come. */
export const findSigningKey = (keys: readonly Key[], nowMs: number): string | undefined =>
  keyInUse(keys, WEBHOOK_ROLE, nowMs)?.keyId;

export function signingKey(keys: readonly Key[], nowMs: number): string {
  const current = findSigningKey(keys, nowMs);
  assert(current !== undefined, 'a started service has a key for webhooks');
  return current;
}

/** Keys that have been replaced for so long that nothing they signed is accepted any more. */
export const retiredKeys = (keys: readonly Key[], nowMs: number): string[] =>
  expiredKeys(keysOfRole(keys, WEBHOOK_ROLE), nowMs).map(({ keyId }) => keyId);

/** The key discovery document. */
export function keySet(keys: readonly Key[], nowMs: number, vendorNames: boolean) {
  const retired = new Set(retiredKeys(keys, nowMs));
  return {
    keys: keysOfRole(keys, WEBHOOK_ROLE)
      .filter(({ keyId }) => !retired.has(keyId))
      .map(({ keyId, publicKey }) => ({
        kid: keyId,
        kty: 'OKP',
        crv: 'Ed25519',
        alg: 'EdDSA',
        use: 'sig',
        x: Buffer.from(publicKey, 'hex').toString('base64url'),
        service_signature_algorithm: SIGNATURE_ALGORITHM,
        service_signature_version: SIGNATURE_VERSION,
        ...(vendorNames && {
          turnkey_signature_algorithm: SIGNATURE_ALGORITHM,
          turnkey_signature_version: SIGNATURE_VERSION,
        }),
      })),
  };
}
