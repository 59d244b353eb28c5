import type { Keyring } from '@custos/keyring';
import type { Clock } from '../../lib/clock.ts';
import type { WebhookEndpointId } from '../../lib/ids.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DescribeActivities } from './describer.ts';
import { Dispatcher } from './dispatcher.ts';
import { keySet } from './keys.ts';
import type { WebhookEndpoint, WebhookEvent } from './model.ts';
import { createPace } from './pace.ts';
import type { Poster } from './poster/poster.ts';
import type { Receipt } from './poster/posting.ts';
import type { DeliveryObserver } from './recorder.ts';
import { createWebhookSender } from './sender.ts';
import { shareSignatures } from './share.ts';
import { createWebhookSigner } from './signer.ts';
import { createSweep } from './sweep.ts';
import type { TargetCheck } from './target.ts';

/** What the rest of the service has to do with webhooks. */
export interface Webhooks {
  /** To be called after a commit with deliveries in it; without endpoints all that are due are looked for. */
  wake(endpointIds?: readonly WebhookEndpointId[]): void;
  /** Refuses URLs that nothing may be sent to. */
  readonly checkTarget: TargetCheck;
  /** Sends an event now and answers with what came back, whatever that is. */
  sendNow(
    endpoint: Pick<WebhookEndpoint, 'organizationId' | 'id' | 'url'>,
    event: Pick<WebhookEvent, 'id' | 'type' | 'aboutId' | 'body'>,
  ): Promise<Receipt>;
  /** The key discovery document of this moment. */
  keySet(): ReturnType<typeof keySet>;
}

export interface WebhookParts {
  readonly config: { readonly vendorNames: boolean; readonly webhookRetentionDays: number };
  readonly storage: Storage;
  readonly keyring: Keyring;
  readonly serviceKeys: () => readonly ServiceKey[];
  readonly clock: Clock;
  /** What deliveries wait and are given up by. */
  readonly steady: Clock;
  readonly elapsed: Clock;
  readonly observe: DeliveryObserver;
  readonly poster: Poster;
  readonly checkTarget: TargetCheck;
  readonly describe: DescribeActivities;
  /** Whether requests are being answered. */
  readonly isBusy: () => boolean;
}

export interface RunningWebhooks extends Webhooks {
  start(): void;
  stop(): Promise<void>;
}

export function createWebhooks(parts: WebhookParts): RunningWebhooks {
  const { config, storage, keyring, serviceKeys, clock, steady, elapsed, observe, poster, checkTarget } = parts;
  const sign = shareSignatures(createWebhookSigner(keyring, serviceKeys, clock), serviceKeys, clock);
  const send = createWebhookSender(sign, poster, config.vendorNames, elapsed);
  const pace = createPace(parts.isBusy);
  const dispatcher = new Dispatcher({
    storage,
    clock: steady,
    elapsed,
    send: async (endpoint, event) => {
      await pace(endpoint.id);
      return await send(endpoint, event);
    },
    describe: parts.describe,
    observe,
    breakOff: () => poster.close(),
    sweep: createSweep(storage, steady, elapsed, config.webhookRetentionDays, observe),
  });
  return {
    start: () => dispatcher.start(),
    stop: () => dispatcher.stop(),
    wake: (endpointIds) => dispatcher.wake(endpointIds),
    checkTarget,
    sendNow: async (endpoint, event) => await (await send(endpoint, event)).post(),
    keySet: () => keySet(serviceKeys(), clock(), config.vendorNames),
  };
}

declare module '../../engine/services.ts' {
  interface PrepareServices {
    readonly webhooks: Pick<Webhooks, 'checkTarget' | 'sendNow'>;
  }
}
