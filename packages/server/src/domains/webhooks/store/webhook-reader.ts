import { type RawBuilder, type Selectable, sql } from 'kysely';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId, WebhookEndpointId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { type Backlog, readBacklog } from '../../../storage/backlog.ts';
import { bytesOf } from '../../../storage/bytes-of.ts';
import { inScope } from '../../../storage/fence-scope.ts';
import { oneByOne, readEach } from '../../../storage/integrity/one-by-one.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { fetchPage, type Range, type RowSize } from '../../../storage/keyset.ts';
import { pageOfRows } from '../../../storage/organization-rows.ts';
import type { KeptValues } from '../../../storage/revisions.ts';
import { statement } from '../../../storage/statement.ts';
import { type Connection, keptValues, type ReadAhead, Reader, type Transaction } from '../../../storage/store.ts';
import {
  WEBHOOK_DELIVERY_STATES,
  type WebhookDelivery,
  type WebhookDeliveryState,
  type WebhookEndpoint,
  type WebhookSubscription,
} from '../model.ts';
import type { WebhookEndpointTable } from '../tables.ts';
import { type DeliveryRow, toDelivery } from './delivery-rows.ts';
import { type Batch, type BatchLimits, readBatch } from './due-deliveries.ts';

/** An endpoint that somebody may work on now. */
export interface DueQueue {
  readonly endpointId: WebhookEndpointId;
  readonly organizationId: OrganizationId;
  /** How often in a row working on it ended in failures. */
  readonly failures: number;
}

export interface DeliveryFilter {
  readonly endpointId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly activityId?: string | undefined;
  readonly state?: WebhookDeliveryState | undefined;
}

export const toEndpoint = (row: Selectable<WebhookEndpointTable>): WebhookEndpoint => ({
  id: row.id as WebhookEndpointId,
  organizationId: row.organization_id as OrganizationId,
  name: row.name,
  url: row.url,
  isActive: row.is_active === 1,
  isFeature: row.is_feature === 1,
  includesDescription: row.includes_description === 1,
  subscriptions: JSON.parse(row.subscriptions) as WebhookSubscription[],
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

export const endpointNotFound = (): ApiError =>
  new ApiError('WEBHOOK_ENDPOINT_NOT_FOUND', 'webhook endpoint not found in this organization');
export const deliveryNotFound = (): ApiError =>
  new ApiError('WEBHOOK_DELIVERY_NOT_FOUND', 'webhook delivery not found in this organization');

const endpointById = statement(
  'webhook-endpoint-by-id',
  (db, { organizationId, id }: { organizationId: string; id: string }) =>
    db.selectFrom('webhook_endpoint').selectAll().where('organization_id', '=', organizationId).where('id', '=', id),
);
const activeEndpoints = statement(
  'webhook-listeners',
  (db, { organizationId, parentId }: { organizationId: string; parentId: string }) =>
    db
      .selectFrom('webhook_endpoint')
      .modifyFront(oneByOne('one that is not genuine keeps neither others nor what they are told of'))
      .selectAll()
      .where('organization_id', 'in', [organizationId, parentId])
      .where('is_active', '=', 1),
);

/** The least endpoint id beyond another one that has pending deliveries; one search of the queue's index. */
const nextWaiting = (after: RawBuilder<unknown>): RawBuilder<unknown> => sql`(SELECT endpoint_id FROM webhook_delivery
  WHERE state = 'pending' AND endpoint_id > ${after} ORDER BY endpoint_id LIMIT 1)`;

/**
 * The start of a statement on the endpoints that have pending deliveries, read from one to the next: its cost depends
 * on their number alone, neither on that of all endpoints nor on how many deliveries each one has.
 */
export const withWaiting = (after: string): RawBuilder<unknown> => sql`WITH RECURSIVE waiting (endpoint_id) AS (
  SELECT ${nextWaiting(sql`${after}`)}
  UNION ALL SELECT ${nextWaiting(sql`waiting.endpoint_id`)} FROM waiting WHERE waiting.endpoint_id IS NOT NULL)`;

interface DueValues extends Record<string, unknown> {
  readonly nowMs: number;
  readonly after: string;
  readonly limit: number;
}

interface DueRow {
  readonly endpoint_id: string;
  readonly organization_id: string;
  readonly failures: number;
}

const dueOf = ({ nowMs, after, limit }: DueValues, inScopeOf: RawBuilder<unknown>) =>
  sql<DueRow>`${withWaiting(after)}
    SELECT /* partial: endpoints and deliveries are read whole before anything is sent */
      queue.endpoint_id, queue.organization_id, queue.failures FROM waiting
    JOIN webhook_lane AS queue ON queue.endpoint_id = waiting.endpoint_id
    JOIN webhook_endpoint AS endpoint
      ON endpoint.organization_id = queue.organization_id AND endpoint.id = queue.endpoint_id
    WHERE endpoint.is_active = 1 AND queue.claimed_until_ms <= ${nowMs} AND queue.resting_until_ms <= ${nowMs}
      AND EXISTS (SELECT 1 FROM webhook_delivery AS delivery WHERE delivery.state = 'pending'
        AND delivery.endpoint_id = waiting.endpoint_id
        AND delivery.next_attempt_at_ms >= 0 AND delivery.next_attempt_at_ms <= ${nowMs})
      ${inScopeOf}
    ORDER BY waiting.endpoint_id LIMIT ${limit}`;

const due = statement('webhook-due-queues', (db, values: DueValues) => ({
  compile: () => dueOf(values, sql``).compile(db),
}));
const dueInScope = statement('webhook-due-in-scope', (db, values: DueValues & { readonly scope: string }) => ({
  compile: () => dueOf(values, inScope(sql`queue.organization_id`, values.scope)).compile(db),
}));

/** Joins the deliveries of a page and their events. SQLite keeps the order of a cross join: the page comes first. */
const withDeliveries = (organizationId: string): RawBuilder<unknown> => sql`
  CROSS JOIN webhook_delivery AS delivery CROSS JOIN webhook_event AS event
  WHERE delivery.organization_id = ${organizationId} AND delivery.id = page.id
    AND event.organization_id = ${organizationId} AND event.id = delivery.event_id`;

/** Within the page, after the cursor. `column` is what ids are compared by. */
function within({ greaterThan, lessThan }: Range, column = sql`id`): RawBuilder<unknown> {
  const above = greaterThan === undefined ? sql`` : sql`AND ${column} > ${greaterThan}`;
  const below = lessThan === undefined ? sql`` : sql`AND ${column} < ${lessThan}`;
  return sql`${above} ${below}`;
}

/** More searches in one statement than that would cost more than to read what the filter leaves out. */
const SHELVES_MAX = 200;

export class WebhookReader extends Reader {
  /** Organizations that nobody listens to; most have no endpoint. */
  readonly #listeners: KeptValues<readonly WebhookEndpoint[]> | undefined;
  /** Only inside a transaction. */
  protected readonly ahead: ReadAhead | undefined;

  constructor(connection: Connection | Transaction) {
    super(connection);
    this.ahead = 'ahead' in connection ? connection.ahead : undefined;
    this.#listeners = keptValues(connection);
  }

  /** Deliveries that are not done, of every organization; in the words of the index that has only these. */
  async backlog(): Promise<Backlog> {
    return await readBacklog(this.db, 'webhook_delivery', sql`state = 'pending'`);
  }

  /** Oldest first. */
  async endpoints(organizationId: OrganizationId): Promise<WebhookEndpoint[]> {
    const rows = await this.db
      .selectFrom('webhook_endpoint')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('id')
      .execute();
    return rows.map(toEndpoint);
  }

  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<WebhookEndpoint>> {
    return await pageOfRows(this.db, 'webhook_endpoint', organizationId, request, (rows) => rows.map(toEndpoint), {
      large: ['name', 'url', 'subscriptions'],
    });
  }

  async findEndpoint(organizationId: OrganizationId, id: string): Promise<WebhookEndpoint | undefined> {
    const [row] = await endpointById(this.db, { organizationId, id });
    return row && toEndpoint(row);
  }

  async getEndpoint(organizationId: OrganizationId, id: string): Promise<WebhookEndpoint> {
    const endpoint = await this.findEndpoint(organizationId, id);
    if (endpoint === undefined) throw endpointNotFound();
    return endpoint;
  }

  /**
   * The active endpoints of an organization and of its parent. Every activity asks for them. One that is not genuine is told
   * nothing, and keeps neither others from it nor what they are told of from happening.
   */
  async listeners(
    organizationId: OrganizationId,
    parentId: OrganizationId | undefined,
  ): Promise<readonly WebhookEndpoint[]> {
    const rootId = parentId ?? organizationId;
    const name = `${organizationId} ${rootId}`;
    const known =
      this.#listeners?.get(name) ?? (this.ahead?.get('webhook_endpoint', name) as WebhookEndpoint[] | undefined);
    if (known !== undefined) return known;
    const moment = this.#listeners?.moment ?? 0;
    const rows = await activeEndpoints(this.db, { organizationId, parentId: rootId });
    const endpoints = readEach(this.db, { table: 'webhook_endpoint' }, rows, toEndpoint).items;
    // Of those with endpoints few are active at a time, and their subscriptions may be long.
    if (endpoints.length === 0) this.#listeners?.keep(name, endpoints, [organizationId, rootId], moment);
    return endpoints;
  }

  /** Lets `listeners` answer at once, until the transaction changes an endpoint. On SQLite it does so anyway. */
  async readAhead(organizationId: OrganizationId, parentId: OrganizationId | undefined): Promise<void> {
    if (this.kind === 'sqlite') return;
    const endpoints = await this.listeners(organizationId, parentId);
    this.ahead?.keep('webhook_endpoint', `${organizationId} ${parentId ?? organizationId}`, endpoints);
  }

  /** Bytes of all endpoints of an organization, each with forty thousand more, for the delivery that an event makes. */
  async weight(organizationId: OrganizationId): Promise<number> {
    const { rows } = await sql<{ weight: number | string | null }>`
      SELECT /* partial: sizes */ SUM(${bytesOf('webhook_endpoint', ['name', 'url', 'subscriptions'])} + 40000) AS weight
      FROM webhook_endpoint WHERE organization_id = ${organizationId}`.execute(this.db);
    return Number(rows[0]?.weight ?? 0);
  }

  /** Those that count against the limit: the feature's does not. */
  async countEndpoints(organizationId: OrganizationId): Promise<number> {
    const { count } = await this.db
      .selectFrom('webhook_endpoint')
      .modifyFront(partial('how many there are'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .where('is_feature', '=', 0)
      .executeTakeFirstOrThrow();
    return count;
  }

  /**
   * Active endpoints that have something due and that nobody works on and that do not rest, in the order of their ids.
   * Who cannot take all of them goes on behind the last one, so that nobody waits for ever.
   */
  async dueQueues(
    nowMs: number,
    limit: number,
    after: WebhookEndpointId | '' = '',
    scope?: string,
  ): Promise<DueQueue[]> {
    const values = { nowMs, after, limit };
    const rows = scope === undefined ? await due(this.db, values) : await dueInScope(this.db, { ...values, scope });
    return rows.map((row) => ({
      endpointId: row.endpoint_id as WebhookEndpointId,
      organizationId: row.organization_id as OrganizationId,
      failures: row.failures,
    }));
  }

  /** What is to be sent next; see `readBatch`. */
  async batch(
    organizationId: OrganizationId,
    endpointId: WebhookEndpointId,
    nowMs: number,
    limits: BatchLimits & { readonly behind?: number },
    enter: (length: number) => Promise<void> = async () => {},
  ): Promise<Batch> {
    const place = { organizationId, endpointId, nowMs, behind: limits.behind ?? 0 };
    return await readBatch(this.db, place, limits, enter);
  }

  async getDelivery(organizationId: OrganizationId, id: string): Promise<WebhookDelivery> {
    const [delivery] = await this.#deliveries(organizationId, sql`SELECT CAST(${id} AS text) AS id`, 'asc');
    if (delivery === undefined) throw deliveryNotFound();
    return delivery;
  }

  /** Newest first. */
  async deliveries(
    organizationId: OrganizationId,
    filter: DeliveryFilter,
    request: PageRequest,
  ): Promise<Page<WebhookDelivery>> {
    const owns = async (cursor: string): Promise<boolean> =>
      (await this.#findKey(organizationId, cursor)) !== undefined;
    const idsIn = await this.#idsOf(organizationId, filter);
    return await fetchPage(request, {
      order: 'desc',
      owns,
      fetch: async (range) => {
        const ids = idsIn(range);
        return ids === undefined ? [] : await this.#deliveries(organizationId, ids, range.order);
      },
      weigh: async (range) => {
        const ids = idsIn(range);
        return ids === undefined ? [] : await this.#deliverySizes(organizationId, ids, range.order);
      },
      whenTooLarge: 'shorten',
    });
  }

  async #findKey(organizationId: OrganizationId, id: string): Promise<{ readonly id: string } | undefined> {
    return await this.db
      .selectFrom('webhook_delivery')
      .modifyFront(partial('a cursor'))
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /** Selects the ids of a range of a list in the index that fits its filter; undefined where there can be none. */
  async #idsOf(
    organizationId: OrganizationId,
    { endpointId, eventId, activityId, state }: DeliveryFilter,
  ): Promise<(range: Range) => RawBuilder<unknown> | undefined> {
    const ordered = ({ order, limit }: Range, column = sql`id`): RawBuilder<unknown> =>
      sql`ORDER BY ${column} ${sql.raw(order)} LIMIT ${limit}`;
    if (eventId !== undefined || activityId !== undefined) {
      // Expressions, so that the event's index is taken: it has few deliveries, the organization very many.
      const column = sql`id || ''`;
      const ofEndpoint = endpointId === undefined ? sql`` : sql`AND endpoint_id || '' = ${endpointId}`;
      const inState = state === undefined ? sql`` : sql`AND state || '' = ${state}`;
      const ofEvent = eventId === undefined ? sql`` : sql`AND event_id = ${eventId}`;
      const ofActivity =
        activityId === undefined
          ? sql``
          : sql`AND event_id IN (SELECT event.id FROM webhook_event AS event
              WHERE event.organization_id = ${organizationId} AND event.activity_id = ${activityId})`;
      return (range) => sql`SELECT id FROM webhook_delivery
        WHERE organization_id = ${organizationId} ${ofEvent} ${ofActivity} ${ofEndpoint} ${inState}
          AND EXISTS (SELECT 1 FROM webhook_endpoint AS endpoint
            WHERE endpoint.organization_id = ${organizationId} AND endpoint.id = webhook_delivery.endpoint_id)
        ${within(range, column)} ${ordered(range, column)}`;
    }
    // One search for each endpoint and state, of which there are few; none of them reads what the filter leaves out.
    const all = await this.endpoints(organizationId);
    const endpoints = endpointId === undefined ? all : all.filter(({ id }) => id === endpointId);
    const states = state === undefined ? WEBHOOK_DELIVERY_STATES : [state];
    const shelves = endpoints.flatMap(({ id }) => states.map((each) => [id, each] as const));
    if (shelves.length === 0) return () => undefined;
    if (shelves.length > SHELVES_MAX) {
      const inState = state === undefined ? sql`` : sql`AND state = ${state}`;
      return (range) => sql`SELECT id FROM webhook_delivery
        WHERE organization_id = ${organizationId} ${inState} AND endpoint_id IN
          (SELECT endpoint.id FROM webhook_endpoint AS endpoint WHERE endpoint.organization_id = ${organizationId})
        ${within(range)} ${ordered(range)}`;
    }
    return (range) => {
      const arms = shelves.map(
        ([id, each]) => sql`SELECT id FROM (SELECT id FROM webhook_delivery
          WHERE endpoint_id = ${id} AND state = ${each} ${within(range)} ${ordered(range)}) AS shelf`,
      );
      return sql`${sql.join(arms, sql` UNION ALL `)} ${ordered(range)}`;
    };
  }

  async #deliverySizes(
    organizationId: OrganizationId,
    ids: RawBuilder<unknown>,
    order: Range['order'],
  ): Promise<RowSize[]> {
    const { rows } =
      await sql<RowSize>`SELECT /* partial: shown, not sent */ page.id, octet_length(delivery.attempts) AS bytes
      FROM (${ids}) AS page ${withDeliveries(organizationId)}
      ORDER BY page.id ${sql.raw(order)}`.execute(this.db);
    return rows;
  }

  async #deliveries(
    organizationId: OrganizationId,
    ids: RawBuilder<unknown>,
    order: Range['order'],
  ): Promise<WebhookDelivery[]> {
    const { rows } =
      await sql<DeliveryRow>`SELECT ${oneByOne('shown, not sent: from before there were marks none has one')} delivery.*,
        event.event_type, event.about_id
      FROM (${ids}) AS page ${withDeliveries(organizationId)}
      ORDER BY page.id ${sql.raw(order)}`.execute(this.db);
    return rows.map(toDelivery);
  }
}
