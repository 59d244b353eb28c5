import { chunks, groupBy } from '../../lib/collections.ts';
import { ApiError } from '../../lib/errors.ts';
import { type ActivityId, type OrganizationId, randomId, type WebhookEventId } from '../../lib/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import { type ActivityWords, toEventDescription, withDescription } from './description.ts';
import { createGate } from './gate.ts';
import type { DueDelivery } from './model.ts';
import type { DeliveryObserver } from './recorder.ts';
import { WebhookStore } from './store/webhooks.ts';

/** A request may have megabytes, so only a few are at hand at a time. */
const AT_A_TIME = 10;
/** Queues that describe at once: requests are answered meanwhile. */
const PLACES = 2;

/** Activities of an organization in words. Those that are there no more are left out. */
export type DescribeActivities = (
  organizationId: OrganizationId,
  ids: readonly ActivityId[],
) => Promise<ReadonlyMap<ActivityId, ActivityWords>>;

/**
 * Gives deliveries of one organization the words that are missing in them. An event is described once, for whoever of the
 * organization is told of it first, and what it says is stored before anything is sent: names change, and every attempt
 * sends the same bytes.
 */
export type Describer = (deliveries: DueDelivery[]) => Promise<DueDelivery[]>;

type Undescribed = DueDelivery & { readonly undescribed: ActivityId };

const isUndescribed = (delivery: DueDelivery): delivery is Undescribed => delivery.undescribed !== undefined;

export function createDescriber(
  storage: Pick<Storage, 'write'>,
  describe: DescribeActivities,
  observe: Pick<DeliveryObserver, 'internalError'>,
): Describer {
  const gate = createGate(PLACES);

  /** A receiver needs the event more than its words: one that cannot be described goes out without. */
  const wordsOf: DescribeActivities = async (aboutId, ids) => {
    try {
      return await describe(aboutId, ids);
    } catch (error) {
      // The queue waits until the database is back, and nothing is lost.
      if (error instanceof ApiError && error.code === 'UNAVAILABLE') throw error;
      if (ids.length <= 1) {
        observe.internalError(randomId(), 'webhooks', error);
        return new Map();
      }
      // Only the one that is to blame.
      const found = new Map<ActivityId, ActivityWords>();
      for (const id of ids) for (const [key, words] of await wordsOf(aboutId, [id])) found.set(key, words);
      return found;
    }
  };

  const describeAll = async (undescribed: readonly Undescribed[]): Promise<ReadonlyMap<WebhookEventId, string>> => {
    const stored = new Map<WebhookEventId, string>();
    for (const [aboutId, about] of groupBy(undescribed, (delivery) => delivery.aboutId)) {
      for (const some of chunks(about, AT_A_TIME)) {
        const words = await wordsOf(aboutId, [...new Set(some.map((delivery) => delivery.undescribed))]);
        const descriptions = new Map(
          some.map((delivery) => [delivery.eventId, toEventDescription(words.get(delivery.undescribed))]),
        );
        const { organizationId } = some[0] as Undescribed;
        const kept = await storage.write((store) => store(WebhookStore).describeEvents(organizationId, descriptions));
        for (const [eventId, description] of kept) stored.set(eventId, description);
      }
    }
    return stored;
  };

  return async (deliveries) => {
    const undescribed = deliveries.filter(isUndescribed);
    if (undescribed.length === 0) return deliveries;
    const leave = await gate.enter();
    try {
      const stored = await describeAll(undescribed);
      return deliveries.flatMap((delivery) => {
        if (!isUndescribed(delivery)) return [delivery];
        const { undescribed: _, ...rest } = delivery;
        const description = stored.get(delivery.eventId);
        // An event may have been erased in between, with its organization.
        return description === undefined ? [] : [{ ...rest, body: withDescription(rest.body, description) }];
      });
    } finally {
      leave();
    }
  };
}
