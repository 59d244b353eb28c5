import { sql } from 'kysely';
import { chunks } from '../../../lib/collections.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../../../lib/ids.ts';
import type { DatabaseKind } from '../../../storage/dialect.ts';
import { jsonRows } from '../../../storage/json-rows.ts';
import { deferred, deferredInsertion, type NewRow } from '../../../storage/statement.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { WebhookAttempt, WebhookEndpoint, WebhookEvent } from '../model.ts';
import { WebhookQueue } from './webhook-queue.ts';
import { deliveryNotFound, endpointNotFound } from './webhook-reader.ts';

export interface NewDelivery {
  readonly id: WebhookDeliveryId;
  readonly endpointId: WebhookEndpointId;
  readonly includesDescription?: boolean;
}

/** A delivery that was made before it was written down. */
export interface FinishedDelivery extends NewDelivery {
  readonly state: 'delivered' | 'failed';
  readonly attempt: WebhookAttempt;
}

const insertEvents = deferredInsertion('webhook-event-insert', 'webhook_event', [
  'organization_id',
  'id',
  'event_type',
  'about_id',
  'activity_id',
  'body',
  'description',
  'body_length',
  'kept_since_ms',
  'created_at_ms',
]);

const fromEvent = (event: WebhookEvent): NewRow<'webhook_event'> => ({
  organization_id: event.organizationId,
  id: event.id,
  event_type: event.type,
  about_id: event.aboutId,
  activity_id: event.activityId ?? null,
  body: event.body,
  description: null,
  body_length: event.body.length,
  kept_since_ms: event.createdAtMs,
  created_at_ms: event.createdAtMs,
});

interface DeliveriesValues extends Record<string, unknown> {
  readonly organizationId: string;
  readonly eventId: string;
  readonly nowMs: number;
  /** JSON array of { id, endpoint_id, includes_description }. */
  readonly made: string;
}

const PENDING_ROWS = { id: 'text', endpoint_id: 'text', includes_description: 'bigint' } as const;
const insertPendingOn = (kind: DatabaseKind) =>
  deferred('webhook-deliveries-insert', (db, { organizationId, eventId, nowMs, made }: DeliveriesValues) => {
    const query = sql`INSERT INTO webhook_delivery (organization_id, id, endpoint_id, event_id,
        includes_description, state, failures, attempts, next_attempt_at_ms, round_started_at_ms, created_at_ms,
        updated_at_ms)
      SELECT ${organizationId}, made.id, made.endpoint_id, ${eventId}, made.includes_description, 'pending', 0, '[]', 0,
        ${nowMs}, ${nowMs}, ${nowMs}
      FROM ${jsonRows(kind, 'made', PENDING_ROWS, made)}`;
    return { compile: () => query.compile(db) };
  });
const insertPending = { sqlite: insertPendingOn('sqlite'), postgres: insertPendingOn('postgres') };

/** Events that are written together; each is about a kilobyte. */
const EVENTS_AT_ONCE = 500;
const EVENT_ROWS = {
  organization_id: 'text',
  id: 'text',
  type: 'text',
  about_id: 'text',
  body: 'text',
  body_length: 'bigint',
  created_at_ms: 'bigint',
} as const;
const DELIVERY_ROWS = {
  organization_id: 'text',
  id: 'text',
  endpoint_id: 'text',
  event_id: 'text',
  now_ms: 'bigint',
} as const;

export class WebhookStore extends WebhookQueue {
  async insertEndpoint(endpoint: WebhookEndpoint): Promise<void> {
    this.ahead?.forget('webhook_endpoint');
    await this.db
      .insertInto('webhook_endpoint')
      .values({
        organization_id: endpoint.organizationId,
        id: endpoint.id,
        name: endpoint.name,
        url: endpoint.url,
        is_active: endpoint.isActive ? 1 : 0,
        is_feature: endpoint.isFeature ? 1 : 0,
        includes_description: endpoint.includesDescription ? 1 : 0,
        subscriptions: JSON.stringify(endpoint.subscriptions),
        created_at_ms: endpoint.createdAtMs,
        updated_at_ms: endpoint.updatedAtMs,
      })
      .execute();
    await this.db
      .insertInto('webhook_lane')
      .values({
        endpoint_id: endpoint.id,
        organization_id: endpoint.organizationId,
        owner: '',
        claimed_until_ms: 0,
        resting_until_ms: 0,
        failures: 0,
        is_gone: 0,
      })
      .execute();
  }

  /** Changes what can change of an endpoint, and lets it be tried again at once. */
  async updateEndpoint(endpoint: WebhookEndpoint): Promise<void> {
    this.ahead?.forget('webhook_endpoint');
    const { numUpdatedRows } = await this.db
      .updateTable('webhook_endpoint')
      .set({
        name: endpoint.name,
        url: endpoint.url,
        is_active: endpoint.isActive ? 1 : 0,
        includes_description: endpoint.includesDescription ? 1 : 0,
        subscriptions: JSON.stringify(endpoint.subscriptions),
        updated_at_ms: endpoint.updatedAtMs,
      })
      .where('organization_id', '=', endpoint.organizationId)
      .where('id', '=', endpoint.id)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) throw endpointNotFound();
    await this.db
      .updateTable('webhook_lane')
      .set({ resting_until_ms: 0, failures: 0 })
      .where('endpoint_id', '=', endpoint.id)
      .execute();
  }

  /** Switches an endpoint off, unless it goes somewhere else by now; answers whether it was switched. */
  async deactivate(
    organizationId: OrganizationId,
    id: WebhookEndpointId,
    url: string,
    nowMs: number,
  ): Promise<boolean> {
    this.ahead?.forget('webhook_endpoint');
    const { numUpdatedRows } = await this.db
      .updateTable('webhook_endpoint')
      .set({ is_active: 0, updated_at_ms: nowMs })
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .where('url', '=', url)
      .where('is_active', '=', 1)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  /**
   * Nothing is delivered to it and nothing shown of it from now on. Its deliveries may be very many: they are deleted by
   * and by, see `purge`, and events that were for it alone go with their age.
   */
  async deleteEndpoint(organizationId: OrganizationId, id: string): Promise<void> {
    this.ahead?.forget('webhook_endpoint');
    const { numDeletedRows } = await this.db
      .deleteFrom('webhook_endpoint')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) throw endpointNotFound();
    await bury(this.db, organizationId, [id]);
    await this.db
      .updateTable('webhook_lane')
      .set({ is_gone: 1, owner: '', claimed_until_ms: 0 })
      .where('endpoint_id', '=', id)
      .execute();
  }

  /** Makes an event part of the transaction: it is delivered if and only if that commits. */
  async insertEvent(event: WebhookEvent, deliveries: readonly NewDelivery[]): Promise<void> {
    await Promise.all([
      insertEvents(this.db, [fromEvent(event)]),
      insertPending[this.kind](this.db, {
        organizationId: event.organizationId,
        eventId: event.id,
        nowMs: event.createdAtMs,
        made: JSON.stringify(
          deliveries.map(({ id, endpointId, includesDescription = false }) => ({
            id,
            endpoint_id: endpointId,
            includes_description: includesDescription ? 1 : 0,
          })),
        ),
      }),
    ]);
  }

  /** The same for many at once. Those whose id is known were told before, and stay as they are. */
  async insertEvents(all: readonly (WebhookEvent & { readonly deliveries: readonly NewDelivery[] })[]): Promise<void> {
    for (const some of chunks(all, EVENTS_AT_ONCE)) {
      const events = some.map(({ organizationId, id, type, aboutId, body, createdAtMs }) => ({
        organization_id: organizationId,
        id,
        type,
        about_id: aboutId,
        body,
        body_length: body.length,
        created_at_ms: createdAtMs,
      }));
      const { rows } = await sql<{ id: string }>`INSERT INTO webhook_event (organization_id, id, event_type, about_id,
          body, body_length, kept_since_ms, created_at_ms)
        SELECT organization_id, id, type, about_id, body, body_length, created_at_ms, created_at_ms
        FROM ${jsonRows(this.kind, 'made', EVENT_ROWS, JSON.stringify(events))} WHERE true
        ON CONFLICT (organization_id, id) DO NOTHING RETURNING id`.execute(this.db);
      const isNew = new Set(rows.map(({ id }) => id));
      const deliveries = some
        .filter(({ id }) => isNew.has(id))
        .flatMap((event) =>
          event.deliveries.map(({ id, endpointId }) => ({
            organization_id: event.organizationId,
            id,
            endpoint_id: endpointId,
            event_id: event.id,
            now_ms: event.createdAtMs,
          })),
        );
      await sql`INSERT INTO webhook_delivery (organization_id, id, endpoint_id, event_id, state, failures, attempts,
          next_attempt_at_ms, round_started_at_ms, created_at_ms, updated_at_ms)
        SELECT organization_id, id, endpoint_id, event_id, 'pending', 0, '[]', 0, now_ms, now_ms, now_ms
        FROM ${jsonRows(this.kind, 'made', DELIVERY_ROWS, JSON.stringify(deliveries))}`.execute(this.db);
    }
  }

  /** An event with a delivery that has been made already and is not made again by itself. */
  async insertFinished(event: WebhookEvent, delivery: FinishedDelivery): Promise<void> {
    await insertEvents(this.db, [fromEvent(event)]);
    await this.db
      .insertInto('webhook_delivery')
      .values({
        organization_id: event.organizationId,
        id: delivery.id,
        endpoint_id: delivery.endpointId,
        event_id: event.id,
        state: delivery.state,
        failures: delivery.state === 'delivered' ? 0 : 1,
        attempts: JSON.stringify([delivery.attempt]),
        next_attempt_at_ms: delivery.attempt.atMs,
        round_started_at_ms: event.createdAtMs,
        created_at_ms: event.createdAtMs,
        updated_at_ms: event.createdAtMs,
      })
      .execute();
  }

  /** Begins a new round of attempts, whatever became of the last one. */
  async replay(organizationId: OrganizationId, id: string, nowMs: number): Promise<void> {
    const row = await this.db
      .selectFrom('webhook_delivery')
      .select(['id', 'event_id', 'endpoint_id'])
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined || (await this.#replay(organizationId, [row], nowMs)) === 0) throw deliveryNotFound();
    await this.#wake(row.endpoint_id);
  }

  /**
   * The same for what has failed of an endpoint and was made at a moment or later, and not after another one, the oldest first and at most so many;
   * answers how many there were, and whether there may be more.
   */
  async replayFailed(
    organizationId: OrganizationId,
    endpointId: string,
    { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs?: number | undefined },
    limit: number,
    nowMs: number,
  ): Promise<{ readonly count: number; readonly hasMore: boolean }> {
    const { rows } = await sql<{ id: string; event_id: string }>`SELECT id, event_id FROM webhook_delivery
      WHERE state IN ('failed', 'dead') AND endpoint_id = ${endpointId} AND created_at_ms >= ${sinceMs}
        ${untilMs === undefined ? sql`` : sql`AND created_at_ms <= ${untilMs}`}
      ORDER BY created_at_ms, seq LIMIT ${limit}`.execute(this.db);
    if (rows.length === 0) return { count: 0, hasMore: false };
    const count = await this.#replay(organizationId, rows, nowMs);
    await this.#wake(endpointId);
    return { count, hasMore: rows.length === limit };
  }

  /** Events first: whoever deletes old ones holds these and then their deliveries. */
  async #replay(
    organizationId: OrganizationId,
    deliveries: readonly { readonly id: string; readonly event_id: string }[],
    nowMs: number,
  ): Promise<number> {
    const json = JSON.stringify(deliveries.map(({ id, event_id }) => ({ id, event_id })));
    const chosen = jsonRows(this.kind, 'chosen', { id: 'text', event_id: 'text' }, json);
    await sql`UPDATE webhook_event SET kept_since_ms = ${nowMs}
      WHERE organization_id = ${organizationId} AND id IN (SELECT event_id FROM ${chosen})`.execute(this.db);
    const { numAffectedRows } = await sql`UPDATE webhook_delivery SET state = 'pending', failures = 0,
        next_attempt_at_ms = ${nowMs}, round_started_at_ms = ${nowMs}, updated_at_ms = ${nowMs}
      WHERE organization_id = ${organizationId} AND id IN (SELECT id FROM ${chosen})`.execute(this.db);
    return Number(numAffectedRows ?? 0n);
  }

  async #wake(endpointId: string): Promise<void> {
    await this.db
      .updateTable('webhook_lane')
      .set({ resting_until_ms: 0 })
      .where('endpoint_id', '=', endpointId)
      .execute();
  }
}
