import { boundedMap } from '../../lib/bounded-map.ts';
import type { Clock } from '../../lib/clock.ts';
import type { WebhookEndpointId } from '../../lib/ids.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import { findSigningKey } from './keys.ts';
import type { WebhookEndpoint } from './model.ts';
import type { Signed, WebhookSigner } from './signer.ts';

/** A signature serves other endpoints for so long; a retry gets a new one in any case. */
const SHARED_MS = 500;
/** So many are remembered. */
const REMEMBERED = 2048;

/** Signs an event of an organization for one of its endpoints. */
export type EndpointSigner = (
  endpoint: Pick<WebhookEndpoint, 'organizationId' | 'id'>,
  ...event: Parameters<WebhookSigner>
) => ReturnType<WebhookSigner>;

interface Shared {
  readonly signed: Promise<Signed>;
  readonly sinceMs: number;
  readonly endpoints: WebhookEndpointId[];
}

/**
 * What is signed does not name the endpoint, and a signature costs more than the rest of a delivery: endpoints of an
 * organization that get an event at the same time get the same signature. One that asks again gets another.
 */
export function shareSignatures(sign: WebhookSigner, keys: () => readonly ServiceKey[], clock: Clock): EndpointSigner {
  const known = boundedMap<Shared>(REMEMBERED);
  return ({ organizationId, id }, event) => {
    const nowMs = clock();
    // With the organization, because a parent is told of the same event in words of its own; and with the key, because
    // one that is compromised is published no longer from the moment the next one signs. The length tells an event with
    // its description from the same one without.
    const key = `${organizationId} ${event.id} ${event.body.length} ${findSigningKey(keys(), nowMs)}`;
    const found = known.get(key);
    if (found !== undefined && !found.endpoints.includes(id)) {
      const ageMs = nowMs - found.sinceMs;
      if (ageMs >= 0 && ageMs <= SHARED_MS) {
        found.endpoints.push(id);
        return found.signed;
      }
    }
    const shared = { signed: sign(event), sinceMs: nowMs, endpoints: [id] };
    // Whoever shares it hears of it; nobody else does.
    shared.signed.catch(() => {
      if (known.get(key) === shared) known.delete(key);
    });
    known.set(key, shared);
    return shared.signed;
  };
}
