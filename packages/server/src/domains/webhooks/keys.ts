import { assert } from '../../lib/assert.ts';
import { MINUTE_MS } from '../../lib/clock.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import { SIGNATURE_ALGORITHM, SIGNATURE_VERSION } from './headers.ts';

/** What caches of the key set are told (protocol/webhooks 4.2). */
export const KEY_SET_SECONDS = 300;
/**
 * How long a new key is published before it signs: three times what caches keep the key set for, because clocks of
 * several machines differ and a cache may just have asked a process that did not know the key yet.
 */
export const SIGNS_AFTER_MS = 15 * MINUTE_MS;
/** How long a key stays published after the next one began to sign: deliveries may wait in a receiver's own queue. */
const RETIRES_AFTER_MS = 24 * 60 * MINUTE_MS;

export const WEBHOOK_ROLE = 'webhook-signer';

type Key = Pick<ServiceKey, 'role' | 'keyId' | 'publicKey' | 'signsFromMs'>;

/** Those that sign or have signed, or will, in the order in which they do. */
const inOrder = (keys: readonly Key[]): Key[] =>
  keys
    .filter(({ role }) => role === WEBHOOK_ROLE)
    .sort((one, other) => one.signsFromMs - other.signsFromMs || (one.keyId < other.keyId ? -1 : 1));

/** The key that signs at a moment: the last one whose time has come. */
export function findSigningKey(keys: readonly Key[], nowMs: number): string | undefined {
  const ordered = inOrder(keys);
  return (ordered.findLast(({ signsFromMs }) => signsFromMs <= nowMs) ?? ordered[0])?.keyId;
}

export function signingKey(keys: readonly Key[], nowMs: number): string {
  const current = findSigningKey(keys, nowMs);
  assert(current !== undefined, 'a started service has a key for webhooks');
  return current;
}

/** Keys that have been replaced for so long that nothing they signed is accepted any more. */
export function retiredKeys(keys: readonly Key[], nowMs: number): string[] {
  const ordered = inOrder(keys);
  return ordered
    .filter((_key, index) => {
      const next = ordered[index + 1];
      return next !== undefined && next.signsFromMs + RETIRES_AFTER_MS <= nowMs;
    })
    .map(({ keyId }) => keyId);
}

/** The key discovery document. */
export function keySet(keys: readonly Key[], nowMs: number, vendorNames: boolean) {
  const retired = new Set(retiredKeys(keys, nowMs));
  return {
    keys: inOrder(keys)
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
