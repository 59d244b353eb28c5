import Type from 'typebox';
import { textShape } from '../../lib/shapes.ts';
import { WEBHOOK_DELIVERY_STATES, WEBHOOK_EVENT_TYPES, type WebhookDeliveryState } from './model.ts';

const FILTERS_LENGTH_MAX = 16_384;
export const WEBHOOK_URL_MAX = 2048;

export const WebhookUrlShape = textShape(WEBHOOK_URL_MAX);

export const WebhookSubscriptionShape = Type.Object({
  eventType: Type.Enum([...WEBHOOK_EVENT_TYPES]),
  filtersJson: Type.Optional(textShape(FILTERS_LENGTH_MAX)),
  isActive: Type.Optional(Type.Boolean()),
});

export const WebhookEndpointShape = Type.Object({
  endpointId: Type.String(),
  organizationId: Type.String(),
  url: Type.String(),
  name: Type.String(),
  isActive: Type.Boolean(),
  /** An addition of ours: whether events of activities have a description. */
  includeDescription: Type.Boolean(),
  subscriptions: Type.Array(WebhookSubscriptionShape),
});

export const DELIVERY_STATES = {
  pending: 'WEBHOOK_DELIVERY_STATE_PENDING',
  delivered: 'WEBHOOK_DELIVERY_STATE_DELIVERED',
  failed: 'WEBHOOK_DELIVERY_STATE_FAILED',
  dead: 'WEBHOOK_DELIVERY_STATE_DEAD_LETTERED',
} as const satisfies Record<WebhookDeliveryState, string>;

export const WebhookDeliveryStateShape = Type.Enum(WEBHOOK_DELIVERY_STATES.map((state) => DELIVERY_STATES[state]));

export const WebhookAttemptShape = Type.Object({
  attemptedAt: Type.String(),
  latencyMs: Type.Integer(),
  /** Of the answer, if there was one. */
  status: Type.Optional(Type.Integer()),
  /** Why there was none. */
  error: Type.Optional(Type.String()),
  /** The first bytes of the answer of a public target. */
  answer: Type.Optional(Type.String()),
});
