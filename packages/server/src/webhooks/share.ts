import type { Clock } from '../lib/clock.ts';
import type { WebhookEndpointId } from '../lib/ids.ts';
import type { ServiceKey } from '../lib/model.ts';
import type { WebhookEndpoint } from '../lib/webhook.ts';
import { findSigningKey } from './keys.ts';
import type { Signed, WebhookSigner } from './signer.ts';

/** A signature serves other endpoints for so long; a retry gets a new one in any case. */
const SHARED_MS = 500;
/** So many are remembered, and as many before them. */
const REMEMBERED = 1024;

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
  let recent = new Map<string, Shared>();
  let older = new Map<string, Shared>();

  const remember = (key: string, shared: Shared): void => {
    if (recent.size >= REMEMBERED) {
      older = recent;
      recent = new Map();
    }
    recent.set(key, shared);
  };

  return ({ organizationId, id }, event) => {
    const nowMs = clock();
    // With the organization, because a parent is told of the same event in words of its own; and with the key, because
    // one that is compromised is published no longer from the moment the next one signs.
    const key = `${organizationId} ${event.id} ${findSigningKey(keys(), nowMs)}`;
    const found = recent.get(key) ?? older.get(key);
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
      if (recent.get(key) === shared) recent.delete(key);
      if (older.get(key) === shared) older.delete(key);
    });
    remember(key, shared);
    return shared.signed;
  };
}
