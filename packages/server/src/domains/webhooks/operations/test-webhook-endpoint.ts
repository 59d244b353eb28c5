import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import type { WebhookDeliveryId, WebhookEventId } from '../../../lib/ids.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { outcomeOf } from '../attempt-outcome.ts';
import { WEBHOOK_TEST_EVENT, type WebhookEvent } from '../model.ts';
import { countPerMinute } from '../per-minute.ts';
import { toAttempt } from '../result.ts';
import { WebhookAttemptShape } from '../shapes.ts';
import { WebhookReader } from '../store/webhook-reader.ts';
import { WebhookStore } from '../store/webhooks.ts';

const TESTS_PER_MINUTE = 30;

export const testWebhookEndpoint = defineActivity({
  name: 'test_webhook_endpoint',
  type: 'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT',
  summary: 'Send a signed test event to an endpoint, also one that is switched off, and tell what it answered.',
  waitsOutside: true,
  policy: { governedBy: 'policy', resource: 'WEBHOOK_ENDPOINT', action: 'VERIFY', params: ['endpoint_id'] },
  credentials: 'none',
  ours: true,
  lock: 'shared',
  parameters: Type.Object({ endpointId: IdShape }),
  sentence: ({ endpointId }, { names }) =>
    say`Send a test to webhook endpoint ${nameOf(names, 'webhookEndpoint', endpointId)}.`,
  result: Type.Object({
    endpointId: Type.String(),
    deliveryId: Type.String(),
    eventId: Type.String(),
    delivered: Type.Boolean(),
    attempt: WebhookAttemptShape,
  }),
  exposes: ({ endpointId }) => ({ endpoint_id: endpointId }),
  describe: ({ read, actor }, { endpointId }) => read(WebhookReader).getEndpoint(actor.organizationId, endpointId),
  attempt: (context) => countPerMinute(context, 'webhook-tests', TESTS_PER_MINUTE, 'test events are sent'),
  prepare: ({ actor, webhooks, newId, nowMs, once }, { endpointId }, endpoint) =>
    once(async () => {
      const { organizationId } = actor;
      const id: WebhookEventId = newId();
      const payload = { type: 'webhook:test', organizationId, endpointId, createdAt: toRfc3339(nowMs) };
      const event: WebhookEvent = {
        organizationId,
        id,
        type: WEBHOOK_TEST_EVENT,
        aboutId: organizationId,
        body: JSON.stringify(payload),
        createdAtMs: nowMs,
      };
      return { event, receipt: await webhooks.sendNow(endpoint, event) };
    }),
  async execute({ store, actor, newId, nowMs }, { endpointId }, { event, receipt }) {
    const endpoint = await store(WebhookStore).getEndpoint(actor.organizationId, endpointId);
    const delivered = outcomeOf(receipt) === 'delivered';
    const attempt = toAttempt(receipt, nowMs);
    const deliveryId: WebhookDeliveryId = newId();
    await store(WebhookStore).insertFinished(event, {
      id: deliveryId,
      endpointId: endpoint.id,
      state: delivered ? 'delivered' : 'failed',
      attempt,
    });
    const { atMs, ...told } = attempt;
    return {
      endpointId,
      deliveryId,
      eventId: event.id,
      delivered,
      attempt: { attemptedAt: toRfc3339(atMs), ...told },
    };
  },
});
