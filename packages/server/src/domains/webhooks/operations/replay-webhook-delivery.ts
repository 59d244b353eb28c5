import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { IdShape } from '../../../lib/shapes.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import { countPerMinute } from '../per-minute.ts';
import { WebhookReader } from '../store/webhook-reader.ts';
import { WebhookStore } from '../store/webhooks.ts';

/** Few, because the embedded database holds up everything else meanwhile. */
const REPLAYED_MAX = 500;
const REPLAYS_PER_MINUTE = 30;

const MomentShape = Type.String({ pattern: '^[0-9]{1,15}$', 'x-decimal': true });

export const replayWebhookDelivery = defineActivity({
  name: 'replay_webhook_delivery',
  type: 'ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERY',
  summary:
    'Send a delivery again, whatever became of it, or all failed and dead-lettered ones of an endpoint since a time, or between two. Event ids stay.',
  policy: { governedBy: 'policy', resource: 'WEBHOOK_ENDPOINT', action: 'UPDATE', params: ['endpoint_id'] },
  credentials: 'none',
  ours: true,
  // It alters nothing that a decision reads.
  lock: 'shared',
  parameters: Type.Object({
    endpointId: IdShape,
    deliveryId: Type.Optional(IdShape),
    /** Milliseconds since 1970: when the oldest of the deliveries was made. */
    sinceMs: Type.Optional(MomentShape),
    /** With `sinceMs`: when the newest of them was made. */
    untilMs: Type.Optional(MomentShape),
  }),
  sentence: ({ endpointId, deliveryId }, { names }) =>
    say`Send ${deliveryId === undefined ? 'earlier deliveries' : 'a delivery'} to ${nameOf(names, 'webhookEndpoint', endpointId)} again.`,
  result: Type.Object({
    endpointId: Type.String(),
    replayedCount: Type.Integer(),
    /** Whether there may be more than one request replays. */
    hasMore: Type.Boolean(),
  }),
  check({ deliveryId, sinceMs, untilMs }) {
    if ((deliveryId === undefined) === (sinceMs === undefined)) {
      throw invalidField('parameters', 'must have either deliveryId or sinceMs');
    }
    if (untilMs === undefined) return;
    if (sinceMs === undefined) throw invalidField('parameters.untilMs', 'needs sinceMs');
    if (Number(untilMs) < Number(sinceMs)) throw invalidField('parameters.untilMs', 'must not be before sinceMs');
  },
  exposes: ({ endpointId }) => ({ endpoint_id: endpointId }),
  async describe({ read, actor }, { endpointId, deliveryId }) {
    await read(WebhookReader).getEndpoint(actor.organizationId, endpointId);
    if (deliveryId !== undefined) await requireDelivery(read, actor.organizationId, endpointId, deliveryId);
  },
  attempt: (context) => countPerMinute(context, 'webhook-replays', REPLAYS_PER_MINUTE, 'replays are made'),
  async execute({ store, actor, nowMs }, { endpointId, deliveryId, sinceMs, untilMs }) {
    const { organizationId } = actor;
    const endpoint = await store(WebhookStore).getEndpoint(organizationId, endpointId);
    if (deliveryId !== undefined) {
      await requireDelivery(store, organizationId, endpointId, deliveryId);
      await store(WebhookStore).replay(organizationId, deliveryId, nowMs);
      return { endpointId, replayedCount: 1, hasMore: false };
    }
    const { count, hasMore } = await store(WebhookStore).replayFailed(
      organizationId,
      endpoint.id,
      { sinceMs: Number(sinceMs), untilMs: untilMs === undefined ? undefined : Number(untilMs) },
      REPLAYED_MAX,
      nowMs,
    );
    return { endpointId, replayedCount: count, hasMore };
  },
});

async function requireDelivery(
  read: ReadStores,
  organizationId: OrganizationId,
  endpointId: string,
  deliveryId: string,
): Promise<void> {
  const delivery = await read(WebhookReader).getDelivery(organizationId, deliveryId);
  if (delivery.endpointId === endpointId) return;
  throw new ApiError('WEBHOOK_DELIVERY_NOT_FOUND', 'webhook delivery not found at this endpoint');
}
