import { type Generated, sql } from 'kysely';
import { HOUR_MS, MINUTE_MS } from '../../lib/clock.ts';
import { authority, defineTable, none, type Table } from '../../storage/table.ts';
import { DELIVERY_STATES } from './shapes.ts';

declare module '../../storage/schema.ts' {
  interface Schema {
    webhook_endpoint: WebhookEndpointTable;
    webhook_event: WebhookEventTable;
    webhook_delivery: WebhookDeliveryTable;
    webhook_lane: EndpointQueueTable;
  }
}

export interface WebhookEndpointTable {
  organization_id: string;
  id: string;
  name: string;
  url: string;
  is_active: number;
  is_feature: number;
  includes_description: number;
  /** JSON. */
  subscriptions: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** Something that happened, as one organization is told of it. */
export interface WebhookEventTable {
  organization_id: string;
  id: string;
  event_type: string;
  about_id: string;
  activity_id: string | null;
  /** What is signed and sent. */
  body: string;
  /** JSON that deliveries with it add to the body; empty if there is none to add, null until one is to be sent. */
  description: string | null;
  /** So that nobody need read it to know. */
  body_length: number;
  /** When its retention began: when it was made, or a delivery of it replayed. */
  kept_since_ms: number;
  created_at_ms: number;
}

export interface WebhookDeliveryTable {
  /** Given by the database: the order in which an endpoint is told. */
  seq: Generated<number>;
  organization_id: string;
  id: string;
  endpoint_id: string;
  event_id: string;
  /** As the endpoint had it when the event happened. */
  includes_description: Generated<number>;
  state: string;
  failures: number;
  /** JSON array, the newest last. */
  attempts: string;
  /** 0 until the first attempt. */
  next_attempt_at_ms: number;
  round_started_at_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
}

/** Who works on the deliveries of an endpoint; one process at a time, so that they keep their order. */
export interface EndpointQueueTable {
  endpoint_id: string;
  organization_id: string;
  /** Empty for nobody. */
  owner: string;
  claimed_until_ms: number;
  /** Until when the endpoint is left alone after failures. */
  resting_until_ms: number;
  failures: number;
  /** 1 when the endpoint was deleted and its deliveries are still there. */
  is_gone: number;
}

/** What is true of these tables beyond their columns. */
export const tables: readonly Table[] = [
  defineTable('webhook_endpoint', {
    integrity: authority('says where events of an organization are sent'),
    unique: {
      ux_webhook_endpoint_name: {
        columns: ['organization_id', 'name'],
        message: 'a webhook endpoint with this name already exists',
      },
    },
    revises: ['organization_id'],
    erased: { by: 'id' },
  }),
  defineTable('webhook_event', {
    isLarge: true,
    integrity: authority(
      'is signed and sent as it stands, and receivers act on it',
      { kept_since_ms: 'how long it is kept; who deletes rows needs no such column' },
      sql`NOT EXISTS (SELECT 1 FROM webhook_delivery AS delivery
        WHERE delivery.organization_id = webhook_event.organization_id AND delivery.event_id = webhook_event.id
          AND delivery.state <> 'delivered')`,
    ),
    erased: { by: 'id' },
  }),
  defineTable('webhook_delivery', {
    key: ['organization_id', 'id'],
    integrity: authority(
      'says to which endpoint an event is sent',
      {
        seq: 'the order of what is sent, which is given by the database',
        state:
          'a genuine event is sent once more to the endpoint that it was for, with the same event id, or is not sent',
        failures: 'how soon it is tried again',
        attempts: 'what became of it, to be shown',
        next_attempt_at_ms: 'when it is tried again',
        round_started_at_ms: 'how long it is tried',
        updated_at_ms: 'to be shown',
      },
      sql`state = 'delivered'`,
    ),
    followed: {
      kind: 'WEBHOOK_DELIVERY',
      fields: { deliveryId: 'id', endpointId: 'endpoint_id', state: 'state' },
      names: DELIVERY_STATES,
    },
    waits: [
      // In the words of the index of the queue, which is by endpoint.
      {
        column: 'next_attempt_at_ms',
        longestMs: 73 * HOUR_MS,
        where: sql`state = 'pending' AND endpoint_id IN (SELECT endpoint_id FROM webhook_lane)`,
      },
    ],
    erased: { by: 'id' },
  }),
  defineTable('webhook_lane', {
    integrity: none('says which process delivers; a delivery can come twice'),
    waits: [
      { column: 'claimed_until_ms', longestMs: MINUTE_MS, where: sql`owner <> ''` },
      { column: 'resting_until_ms', longestMs: 2 * MINUTE_MS, where: sql`is_gone = 0` },
    ],
    erased: { by: 'endpoint_id' },
  }),
];
