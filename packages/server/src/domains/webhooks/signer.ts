import type { Keyring } from '@custos/keyring';
import type { Clock } from '../../lib/clock.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import type { SignedDelivery } from './headers.ts';
import { signingKey } from './keys.ts';
import type { WebhookEvent } from './model.ts';

/** What one call of the keyring signs at most. */
const MESSAGES_PER_CALL = 16;
const CHARACTERS_PER_CALL = 512 * 1024;

export type Signed = Omit<SignedDelivery, 'event'>;

interface Waiting {
  readonly event: Pick<WebhookEvent, 'id' | 'body'>;
  readonly timestampMs: number;
  readonly resolve: (signed: Signed) => void;
  readonly reject: (error: unknown) => void;
}

/** Signs a delivery right before it is sent, with the key of that moment. */
export type WebhookSigner = (event: Pick<WebhookEvent, 'id' | 'body'>) => Promise<Signed>;

/**
 * What is to be signed in the same turn of the event loop goes to the keyring together: a call costs more than a
 * signature.
 */
export function createWebhookSigner(
  keyring: Pick<Keyring, 'signWebhooks'>,
  keys: () => readonly ServiceKey[],
  clock: Clock,
): WebhookSigner {
  let waiting: Waiting[] = [];

  const signAll = async (some: readonly Waiting[]): Promise<void> => {
    try {
      const keyId = signingKey(keys(), clock());
      const signatures = await keyring.signWebhooks(
        keyId,
        some.map(({ event, timestampMs }) => ({ timestampMs, eventId: event.id, body: event.body })),
      );
      for (const [index, { timestampMs, resolve }] of some.entries()) {
        resolve({ keyId, timestampMs, signature: signatures[index] as string });
      }
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  };

  const flush = (): void => {
    const all = waiting;
    waiting = [];
    for (const some of groups(all)) void signAll(some);
  };

  return (event) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ event, timestampMs: clock(), resolve, reject });
    });
}

function groups(all: readonly Waiting[]): Waiting[][] {
  const made: Waiting[][] = [];
  let characters = 0;
  for (const one of all) {
    const last = made.at(-1);
    characters += one.event.body.length;
    if (last !== undefined && last.length < MESSAGES_PER_CALL && characters <= CHARACTERS_PER_CALL) last.push(one);
    else {
      made.push([one]);
      characters = one.event.body.length;
    }
  }
  return made;
}
