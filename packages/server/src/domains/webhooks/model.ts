import type {
  ActivityId,
  OrganizationId,
  WebhookDeliveryId,
  WebhookEndpointId,
  WebhookEventId,
} from '../../lib/ids.ts';

/** What an endpoint can subscribe to (protocol/webhooks 1). */
export const WEBHOOK_EVENT_TYPES = [
  'ACTIVITY_UPDATES',
  'BALANCE_CONFIRMED_UPDATES',
  'BALANCE_FINALIZED_UPDATES',
  'SEND_TRANSACTION_STATUS_UPDATES',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** What test_webhook_endpoint sends; nobody subscribes to it. */
export const WEBHOOK_TEST_EVENT = 'WEBHOOK_TEST';

export interface WebhookSubscription {
  readonly eventType: WebhookEventType;
  /** A JSON object as it was given. */
  readonly filtersJson?: string;
  readonly isActive: boolean;
}

export interface WebhookEndpoint {
  readonly id: WebhookEndpointId;
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly url: string;
  readonly isActive: boolean;
  /** Whether it stands for the feature FEATURE_NAME_WEBHOOK, which alone changes it. */
  readonly isFeature: boolean;
  /** Whether events of activities say in words what they do. */
  readonly includesDescription: boolean;
  readonly subscriptions: readonly WebhookSubscription[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Something that happened, as one organization is told of it. */
export interface WebhookEvent {
  /** Whose endpoints it goes to. */
  readonly organizationId: OrganizationId;
  /** The same for a parent and its sub-organization that are told of the same. */
  readonly id: WebhookEventId;
  readonly type: WebhookEventType | typeof WEBHOOK_TEST_EVENT;
  /** What the organization header says. */
  readonly aboutId: OrganizationId;
  /** The activity that it comes of, if one is behind it. */
  readonly activityId?: ActivityId;
  /** The bytes that are signed and sent. */
  readonly body: string;
  readonly createdAtMs: number;
}

/**
 * `pending`: it is to be tried, now or later. `delivered`: the receiver answered 2xx. `failed`: it answered something
 * that trying again does not change. `dead`: it was tried in vain for as long as deliveries are.
 */
export const WEBHOOK_DELIVERY_STATES = ['pending', 'delivered', 'failed', 'dead'] as const;
export type WebhookDeliveryState = (typeof WEBHOOK_DELIVERY_STATES)[number];

/** One attempt, as it is kept with its delivery. */
export interface WebhookAttempt {
  readonly atMs: number;
  readonly latencyMs: number;
  /** Of the answer, if there was one. */
  readonly status?: number;
  /** Why there was none. */
  readonly error?: string;
  /** The first bytes of the answer as text; of public targets only (protocol/webhooks 5.2). */
  readonly answer?: string;
}

export interface WebhookDelivery {
  readonly id: WebhookDeliveryId;
  readonly organizationId: OrganizationId;
  readonly endpointId: WebhookEndpointId;
  readonly eventId: WebhookEventId;
  readonly eventType: WebhookEvent['type'];
  readonly aboutId: OrganizationId;
  /** As the endpoint had it when the event happened, so that every attempt sends the same. */
  readonly includesDescription: boolean;
  readonly state: WebhookDeliveryState;
  /** Failed attempts of the present round; a replay begins a new one. */
  readonly failures: number;
  readonly attempts: readonly WebhookAttempt[];
  /** 0 until the first attempt. */
  readonly nextAttemptAtMs: number;
  readonly roundStartedAtMs: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A delivery that is due, with what is sent; those of an endpoint are numbered in the order of what happened. */
export type DueDelivery = QueuedDelivery & {
  readonly body: string;
  /** The activity that has to be described before anything is sent, because the event says nothing of it yet. */
  readonly undescribed?: ActivityId;
};

/** With its number in the queue of all. */
export type QueuedDelivery = WebhookDelivery & { readonly seq: number };

/** What became of a delivery by an attempt. */
export interface DeliveryResult {
  readonly delivery: QueuedDelivery;
  readonly attempt: WebhookAttempt;
  readonly state: WebhookDeliveryState;
  /** For a delivery that stays pending. */
  readonly nextAttemptAtMs: number;
}
