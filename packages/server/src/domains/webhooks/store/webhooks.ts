import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { chunks } from '../../../lib/collections.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../../../lib/ids.ts';
import { driverOf } from '../../../storage/connection-dialect.ts';
import type { DatabaseKind } from '../../../storage/dialect.ts';
import { amendOne, markOf, release } from '../../../storage/integrity/amend.ts';
import { oneByOne, readEach } from '../../../storage/integrity/one-by-one.ts';
import { jsonRows } from '../../../storage/json-rows.ts';
import { findRow } from '../../../storage/organization-rows.ts';
import type { Schema } from '../../../storage/schema.ts';
import { deferred, deferredInsertion, insertion, type NewRow } from '../../../storage/statement.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { WebhookAttempt, WebhookEndpoint, WebhookEvent } from '../model.ts';
import type { WebhookDeliveryTable, WebhookEventTable } from '../tables.ts';
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

const changeable = (endpoint: WebhookEndpoint) => ({
  name: endpoint.name,
  url: endpoint.url,
  is_active: endpoint.isActive ? 1 : 0,
  includes_description: endpoint.includesDescription ? 1 : 0,
  subscriptions: JSON.stringify(endpoint.subscriptions),
  updated_at_ms: endpoint.updatedAtMs,
});
const insertEndpoints = insertion('webhook-endpoint-insert', 'webhook_endpoint', [
  'organization_id',
  'id',
  'name',
  'url',
  'is_active',
  'is_feature',
  'includes_description',
  'subscriptions',
  'created_at_ms',
  'updated_at_ms',
]);

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

/** What stays of a delivery as it is, and is under its mark. */
const toLasting = (event: WebhookEvent, { id, endpointId, includesDescription = false }: NewDelivery) => ({
  organization_id: event.organizationId,
  id,
  endpoint_id: endpointId,
  event_id: event.id,
  includes_description: includesDescription ? 1 : 0,
  created_at_ms: event.createdAtMs,
});

interface DeliveriesValues extends Record<string, unknown> {
  readonly organizationId: string;
  readonly eventId: string;
  readonly nowMs: number;
  /** JSON array of { id, endpoint_id, includes_description, mark }. */
  readonly made: string;
}

const PENDING_ROWS = { id: 'text', endpoint_id: 'text', includes_description: 'bigint', mark: 'text' } as const;
const insertPendingOn = (kind: DatabaseKind) =>
  deferred('webhook-deliveries-insert', (db, { organizationId, eventId, nowMs, made }: DeliveriesValues) => {
    const query = sql`INSERT INTO webhook_delivery (organization_id, id, endpoint_id, event_id,
        includes_description, state, failures, attempts, next_attempt_at_ms, round_started_at_ms, created_at_ms,
        updated_at_ms, webhook_delivery_mac)
      SELECT ${organizationId}, made.id, made.endpoint_id, ${eventId}, made.includes_description, 'pending', 0, '[]', 0,
        ${nowMs}, ${nowMs}, ${nowMs}, made.mark
      FROM ${jsonRows(kind, 'made', PENDING_ROWS, made)}`;
    return { compile: () => query.compile(db) };
  });
const insertPending = { sqlite: insertPendingOn('sqlite'), postgres: insertPendingOn('postgres') };

/** Events that are written together; each is about a kilobyte. */
const EVENTS_AT_ONCE = 500;
const EVENT_ROWS = {
  organization_id: 'text',
  id: 'text',
  event_type: 'text',
  about_id: 'text',
  activity_id: 'text',
  body: 'text',
  body_length: 'bigint',
  created_at_ms: 'bigint',
  mark: 'text',
} as const;
const DELIVERY_ROWS = {
  organization_id: 'text',
  id: 'text',
  endpoint_id: 'text',
  event_id: 'text',
  now_ms: 'bigint',
  mark: 'text',
} as const;
const insertFinished = insertion('webhook-delivery-finished', 'webhook_delivery', [
  'organization_id',
  'id',
  'endpoint_id',
  'event_id',
  'state',
  'failures',
  'attempts',
  'next_attempt_at_ms',
  'round_started_at_ms',
  'created_at_ms',
  'updated_at_ms',
]);

type ReplayRow = Selectable<WebhookDeliveryTable> & { readonly webhook_delivery_mac?: string | null };
type EventRow = Selectable<WebhookEventTable>;

const isOlderThanMarks = (db: Kysely<Schema>, { state, webhook_delivery_mac }: ReplayRow): boolean =>
  state === 'delivered' && webhook_delivery_mac === null && driverOf(db).integrity?.isRequired === true;

const tooOldToReplay = (): ApiError =>
  new ApiError(
    'FAILED_PRECONDITION',
    'this delivery was made before the service authenticated its stored rows, and cannot be sent again; ask for its activity instead',
  );

export class WebhookStore extends WebhookQueue {
  async insertEndpoint(endpoint: WebhookEndpoint): Promise<void> {
    this.ahead?.forget('webhook_endpoint');
    await insertEndpoints(this.db, [
      {
        organization_id: endpoint.organizationId,
        id: endpoint.id,
        is_feature: endpoint.isFeature ? 1 : 0,
        created_at_ms: endpoint.createdAtMs,
        ...changeable(endpoint),
      },
    ]);
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
    const key = { organization_id: endpoint.organizationId, id: endpoint.id };
    const row = await amendOne(this.db, 'webhook_endpoint', key, () => changeable(endpoint));
    if (row === undefined) throw endpointNotFound();
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
    let isSwitched = false;
    await amendOne(this.db, 'webhook_endpoint', { organization_id: organizationId, id }, (row) => {
      isSwitched = row.url === url && row.is_active === 1;
      return isSwitched ? { is_active: 0, updated_at_ms: nowMs } : undefined;
    });
    return isSwitched;
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
    release(this.db, 'webhook_endpoint');
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
          deliveries.map((delivery) => {
            const { id, endpoint_id, includes_description } = toLasting(event, delivery);
            return { id, endpoint_id, includes_description, mark: this.#deliveryMark(event, delivery) };
          }),
        ),
      }),
    ]);
  }

  /** The same for many at once. Those whose id is known were told before, and stay as they are. */
  async insertEvents(all: readonly (WebhookEvent & { readonly deliveries: readonly NewDelivery[] })[]): Promise<void> {
    for (const some of chunks(all, EVENTS_AT_ONCE)) {
      const events = some.map((event) => ({
        ...fromEvent(event),
        mark: markOf(this.db, 'webhook_event', fromEvent(event)),
      }));
      const { rows } = await sql<{ id: string }>`INSERT INTO webhook_event (organization_id, id, event_type, about_id,
          activity_id, body, body_length, kept_since_ms, created_at_ms, webhook_event_mac)
        SELECT organization_id, id, event_type, about_id, activity_id, body, body_length, created_at_ms, created_at_ms, mark
        FROM ${jsonRows(this.kind, 'made', EVENT_ROWS, JSON.stringify(events))} WHERE true
        ON CONFLICT (organization_id, id) DO NOTHING RETURNING id`.execute(this.db);
      const isNew = new Set(rows.map(({ id }) => id));
      const deliveries = some
        .filter(({ id }) => isNew.has(id))
        .flatMap((event) =>
          event.deliveries.map((delivery) => ({
            organization_id: event.organizationId,
            id: delivery.id,
            endpoint_id: delivery.endpointId,
            event_id: event.id,
            now_ms: event.createdAtMs,
            mark: this.#deliveryMark(event, { ...delivery, includesDescription: false }),
          })),
        );
      await sql`INSERT INTO webhook_delivery (organization_id, id, endpoint_id, event_id, state, failures, attempts,
          next_attempt_at_ms, round_started_at_ms, created_at_ms, updated_at_ms, webhook_delivery_mac)
        SELECT organization_id, id, endpoint_id, event_id, 'pending', 0, '[]', 0, now_ms, now_ms, now_ms, mark
        FROM ${jsonRows(this.kind, 'made', DELIVERY_ROWS, JSON.stringify(deliveries))}`.execute(this.db);
    }
  }

  /** An event with a delivery that has been made already and is not made again by itself. */
  async insertFinished(event: WebhookEvent, delivery: FinishedDelivery): Promise<void> {
    await insertEvents(this.db, [fromEvent(event)]);
    await insertFinished(this.db, [
      {
        ...toLasting(event, delivery),
        state: delivery.state,
        failures: delivery.state === 'delivered' ? 0 : 1,
        attempts: JSON.stringify([delivery.attempt]),
        next_attempt_at_ms: delivery.attempt.atMs,
        round_started_at_ms: event.createdAtMs,
        updated_at_ms: event.createdAtMs,
      },
    ]);
  }

  #deliveryMark(event: WebhookEvent, delivery: NewDelivery): string | null {
    return markOf(this.db, 'webhook_delivery', toLasting(event, delivery));
  }

  /** Begins a new round of attempts, whatever became of the last one. */
  async replay(organizationId: OrganizationId, id: string, nowMs: number): Promise<void> {
    const [row] = await this.#replayable(organizationId, sql`SELECT CAST(${id} AS text) AS id`);
    if (row === undefined) throw deliveryNotFound();
    // What has no mark because it was done with before there were marks is no attack.
    if (isOlderThanMarks(this.db, row)) throw tooOldToReplay();
    // Whole, so that one that is not genuine is refused.
    await findRow(this.db, 'webhook_delivery', organizationId, id);
    await findRow(this.db, 'webhook_event', organizationId, row.event_id);
    if ((await this.#replay(organizationId, [row], nowMs)) === 0) throw deliveryNotFound();
    await this.#wake(row.endpoint_id);
  }

  /**
   * The same for what has failed of an endpoint and was made at a moment or later, and not after another one, the oldest first and at most so many;
   * answers how many there were, and whether there may be more. What is not genuine is passed over.
   */
  async replayFailed(
    organizationId: OrganizationId,
    endpointId: string,
    { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs?: number | undefined },
    limit: number,
    nowMs: number,
  ): Promise<{ readonly count: number; readonly hasMore: boolean }> {
    const rows = await this.#replayable(
      organizationId,
      sql`SELECT id FROM webhook_delivery
        WHERE state IN ('failed', 'dead') AND endpoint_id = ${endpointId} AND created_at_ms >= ${sinceMs}
          ${untilMs === undefined ? sql`` : sql`AND created_at_ms <= ${untilMs}`}
        ORDER BY created_at_ms, seq LIMIT ${limit}`,
    );
    if (rows.length === 0) return { count: 0, hasMore: false };
    const count = await this.#replay(organizationId, rows, nowMs);
    await this.#wake(endpointId);
    // Where none was genuine, whoever asks again finds the same ones.
    return { count, hasMore: rows.length === limit && count > 0 };
  }

  async #replayable(organizationId: OrganizationId, ids: RawBuilder<unknown>): Promise<ReplayRow[]> {
    const { rows } = await sql<ReplayRow>`SELECT ${oneByOne('of many that are replayed, one keeps no other')} delivery.*
      FROM (${ids}) AS page CROSS JOIN webhook_delivery AS delivery
      WHERE delivery.organization_id = ${organizationId} AND delivery.id = page.id`.execute(this.db);
    return rows;
  }

  /**
   * Answers how many were genuine. Both rows get their marks anew: while marks are not required, they may have none. Events
   * first: whoever deletes old ones holds these and then their deliveries.
   */
  async #replay(organizationId: OrganizationId, rows: readonly ReplayRow[], nowMs: number): Promise<number> {
    // What no mark covers is written anew.
    const part = { table: 'webhook_delivery', numbered: Object.keys(rows[0] ?? {}) } as const;
    const { items } = readEach(this.db, part, rows, ({ id, event_id, ...row }) => ({
      id,
      event_id,
      mark: markOf(this.db, 'webhook_delivery', { ...row, id, event_id }),
    }));
    const columns = { id: 'text', event_id: 'text', mark: 'text' } as const;
    const chosen = jsonRows(this.kind, 'chosen', columns, JSON.stringify(items));
    const events = await sql<EventRow>`SELECT ${oneByOne('of many that are replayed, one keeps no other')} event.*
      FROM webhook_event AS event WHERE event.organization_id = ${organizationId}
        AND event.id IN (SELECT event_id FROM ${chosen})
      ${this.kind === 'postgres' ? sql`ORDER BY event.id FOR NO KEY UPDATE` : sql``}`.execute(this.db);
    const { items: kept } = readEach(
      this.db,
      { table: 'webhook_event', numbered: ['kept_since_ms'] },
      events.rows,
      (row) => ({
        event_id: row.id,
        mark: markOf(this.db, 'webhook_event', row),
      }),
    );
    const known = new Set(kept.map(({ event_id }) => event_id));
    const keptEvents = jsonRows(this.kind, 'kept', { event_id: 'text', mark: 'text' }, JSON.stringify(kept));
    await sql`UPDATE webhook_event SET kept_since_ms = ${nowMs}, webhook_event_mac = kept.mark FROM ${keptEvents}
      WHERE webhook_event.organization_id = ${organizationId} AND webhook_event.id = kept.event_id`.execute(this.db);
    const genuine = JSON.stringify(items.filter(({ event_id }) => known.has(event_id)));
    const { numAffectedRows } = await sql`UPDATE webhook_delivery SET state = 'pending', failures = 0,
        next_attempt_at_ms = ${nowMs}, round_started_at_ms = ${nowMs}, updated_at_ms = ${nowMs},
        webhook_delivery_mac = chosen.mark
      FROM ${jsonRows(this.kind, 'chosen', columns, genuine)}
      WHERE webhook_delivery.organization_id = ${organizationId} AND webhook_delivery.id = chosen.id`.execute(this.db);
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
