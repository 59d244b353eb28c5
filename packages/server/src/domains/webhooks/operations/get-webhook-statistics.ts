import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { MINUTE_MS, SECOND_MS, toRfc3339 } from '../../../lib/clock.ts';
import { invalidField } from '../../../lib/errors.ts';
import { IdShape, integerShape } from '../../../lib/shapes.ts';
import type { WebhookDeliveryState } from '../model.ts';
import { WebhookReader } from '../store/webhook-reader.ts';
import { type DeliveryCount, WebhookStatisticsReader } from '../store/webhook-statistics.ts';

const BUCKETS_MAX = 200;
const Count = integerShape(0);
const MillisecondsShape = Type.String({ pattern: '^[0-9]{1,15}$', 'x-decimal': true });

export const getWebhookStatistics = defineQuery({
  name: 'get_webhook_statistics',
  ours: true,
  summary: 'How attempts to deliver went since a time, in stretches of equal length, at one endpoint or at all.',
  parameters: Type.Object({
    organizationId: IdShape,
    endpointId: Type.Optional(IdShape),
    /** Milliseconds since 1970. */
    sinceMs: MillisecondsShape,
    /** How long a stretch is; there are 200 at most. */
    bucketMs: MillisecondsShape,
  }),
  response: Type.Object({
    /** Oldest first, without gaps; each has the deliveries that were made in it. */
    buckets: Type.Array(Type.Object({ startsAt: Type.String(), succeeded: Count, failed: Count })),
    /** Attempts. */
    succeeded: Count,
    failed: Count,
    /** Deliveries: those that are yet to be tried, or tried again, and those that were given up. */
    waiting: Count,
    failedForGood: Count,
    /** Only the newest deliveries were counted. */
    isPartial: Type.Optional(Type.Boolean()),
  }),
  example: { sinceMs: '1767139200000', bucketMs: '3600000' },
  async run({ read, actor, nowMs }, { endpointId, ...asked }) {
    const { organizationId } = actor;
    const { first, last, bucketMs } = bucketsOf(Number(asked.sinceMs), Number(asked.bucketMs), nowMs);
    if (endpointId !== undefined) await read(WebhookReader).getEndpoint(organizationId, endpointId);
    const { counts, isPartial } = await read(WebhookStatisticsReader).counts(
      organizationId,
      endpointId,
      first * bucketMs,
      bucketMs,
    );
    const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    // A delivery of a process whose clock is a little ahead belongs to the present.
    const bucketOf = ({ bucket }: DeliveryCount): number => Math.min(Math.max(bucket, first), last);
    const shown = numbers.map((number) => {
      const own = counts.filter((count) => bucketOf(count) === number);
      return { startsAt: toRfc3339(number * bucketMs), ...attemptsOf(own) };
    });
    const deliveriesIn = (...states: WebhookDeliveryState[]): number =>
      counts.filter(({ state }) => states.includes(state)).reduce((sum, { deliveries }) => sum + deliveries, 0);
    return {
      buckets: shown,
      ...attemptsOf(counts),
      waiting: deliveriesIn('pending'),
      failedForGood: deliveriesIn('failed', 'dead'),
      ...(isPartial && { isPartial }),
    };
  },
});

function bucketsOf(sinceMs: number, bucketMs: number, nowMs: number) {
  if (bucketMs < SECOND_MS) throw invalidField('bucketMs', `must be at least ${SECOND_MS}`);
  if (sinceMs > nowMs + MINUTE_MS) throw invalidField('sinceMs', 'must not be in the future');
  const first = Math.floor(sinceMs / bucketMs);
  const last = Math.max(first, Math.floor(nowMs / bucketMs));
  if (last - first + 1 > BUCKETS_MAX) {
    throw invalidField('bucketMs', `makes more than ${BUCKETS_MAX} buckets since sinceMs: make it longer`);
  }
  return { first, last, bucketMs };
}

const attemptsOf = (counts: readonly DeliveryCount[]) => ({
  succeeded: counts.reduce((sum, { state, deliveries }) => sum + (state === 'delivered' ? deliveries : 0), 0),
  failed: counts.reduce((sum, { failures }) => sum + failures, 0),
});
