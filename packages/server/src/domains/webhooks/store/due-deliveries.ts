import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { ActivityId, OrganizationId, WebhookEndpointId } from '../../../lib/ids.ts';
import { driverOf } from '../../../storage/connection-dialect.ts';
import type { DatabaseKind } from '../../../storage/dialect.ts';
import { isGenuine, oneByOne, readEach, reportDamaged } from '../../../storage/integrity/one-by-one.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { jsonRows } from '../../../storage/json-rows.ts';
import type { Schema } from '../../../storage/schema.ts';
import { statement } from '../../../storage/statement.ts';
import { withDescription } from '../description.ts';
import type { DueDelivery } from '../model.ts';
import type { WebhookDeliveryTable } from '../tables.ts';
import { toDelivery } from './delivery-rows.ts';

/** Characters of all bodies of a batch; only a single event can be longer. */
export const BATCH_LENGTH_MAX = 256 * 1024;
/** So short a body is read with its delivery, before it is known whether there is room for all of the batch. */
const SHORT_LENGTH_MAX = 4096;

/** Of whose queue, and up to when it is due. */
export interface BatchPlace {
  readonly organizationId: OrganizationId;
  readonly endpointId: WebhookEndpointId;
  readonly nowMs: number;
  /** First attempts are read behind this one. */
  readonly behind: number;
}

export interface BatchLimits {
  readonly fresh: number;
  readonly retries: number;
}

/** Where in its queue a delivery stands that nothing is sent of. */
export interface RefusedDelivery {
  readonly id: string;
  readonly seq: number | bigint;
}

export interface Batch {
  readonly due: readonly DueDelivery[];
  /** Those that nobody of us wrote, or of which something is missing: they were reported. */
  readonly refused: readonly RefusedDelivery[];
}

/** A place in the queue's index, and what belongs to it. */
type DueRow = Selectable<WebhookDeliveryTable> & {
  readonly queued_id: string;
  readonly queued_seq: number | bigint;
  readonly e_id: string | null;
  readonly e_event_type: string;
  readonly e_about_id: string;
  readonly e_activity_id: string | null;
  readonly e_description: string | null;
  readonly e_body_length: number | bigint;
  /** Undefined for a long one, until it was read. */
  readonly e_body: string | null;
};

/** One retry before every three first attempts, so that neither keeps the other waiting for ever. */
function mixed(first: readonly DueRow[], again: readonly DueRow[]): DueRow[] {
  const rows: DueRow[] = [];
  for (let index = 0; rows.length < first.length + again.length; index += 1) {
    rows.push(...again.slice(index, index + 1), ...first.slice(3 * index, 3 * index + 3));
  }
  return rows;
}

/** Whoever can write to the database may have written any number. */
const lengthOf = ({ e_body_length }: DueRow): number => Math.max(0, Number(e_body_length) || 0);

/** Those of a batch whose bodies fit into the memory that it may take; the first one in any case. */
function fitting(rows: readonly DueRow[]): DueRow[] {
  let length = 0;
  return rows.filter((row, index) => {
    length += lengthOf(row);
    return index === 0 || length <= BATCH_LENGTH_MAX;
  });
}

interface BatchValues extends BatchPlace, Record<string, unknown> {
  readonly limit: number;
}

/** All but the body, which may be long. */
const EVENT_COLUMNS = [
  'organization_id',
  'id',
  'event_type',
  'about_id',
  'activity_id',
  'description',
  'body_length',
  'created_at_ms',
  'webhook_event_mac',
] as const;
const EVENT = sql.join(EVENT_COLUMNS.map((column) => sql`event.${sql.ref(column)} AS ${sql.ref(`e_${column}`)}`));
const OF_EVENT = { table: 'webhook_event', prefix: 'e_' } as const;
const OF_DELIVERY = { table: 'webhook_delivery', numbered: ['seq', 'queued_seq'] } as const;

/**
 * The first ones of a part of the queue, as its index has them, and then all of each; SQLite finds it by its number. Whatever
 * stands in the queue is answered, also without an event or of another organization: it would else stand there for ever.
 */
const batchOf = (part: (values: BatchValues) => RawBuilder<unknown>) => (db: Kysely<Schema>, values: BatchValues) => {
  const query = sql<DueRow>`SELECT ${oneByOne('a row that is not genuine keeps no other of its endpoint')}
        delivery.*, page.id AS queued_id, page.seq AS queued_seq, ${EVENT},
        CASE WHEN event.body_length <= ${sql.lit(SHORT_LENGTH_MAX)} THEN event.body END AS e_body
      FROM (SELECT next_attempt_at_ms, seq, id FROM webhook_delivery
        WHERE state = 'pending' AND endpoint_id = ${values.endpointId} AND ${part(values)}
        ORDER BY next_attempt_at_ms, seq LIMIT ${values.limit}) AS page
      LEFT JOIN webhook_delivery AS delivery
        ON delivery.organization_id = ${values.organizationId} AND delivery.id = page.id AND delivery.seq = page.seq
      LEFT JOIN webhook_event AS event
        ON event.organization_id = ${values.organizationId} AND event.id = delivery.event_id
      ORDER BY page.next_attempt_at_ms, page.seq`;
  return { compile: () => query.compile(db) };
};

const firstAttempts = statement(
  'webhook-first-attempts',
  batchOf(({ behind }) => sql`next_attempt_at_ms = 0 AND seq > ${behind}`),
);
const retries = statement(
  'webhook-retries',
  batchOf(({ nowMs }) => sql`next_attempt_at_ms > 0 AND next_attempt_at_ms <= ${nowMs}`),
);

const bodiesOn = (kind: DatabaseKind) =>
  statement('webhook-bodies', (db, { organizationId, ids }: { organizationId: string; ids: string }) => {
    const query = sql<{ id: string; body: string }>`SELECT ${partial('each is verified with the rest of its row')}
      event.id, event.body
      FROM ${jsonRows(kind, 'wanted', { id: 'text' }, ids)} CROSS JOIN webhook_event AS event
      WHERE event.organization_id = ${organizationId} AND event.id = wanted.id`;
    return { compile: () => query.compile(db) };
  });
const bodiesOf = { sqlite: bodiesOn('sqlite'), postgres: bodiesOn('postgres') };

/**
 * What is to be sent next: first attempts in the order of what happened, with retries in between, the longest due first. `enter`
 * is waited for before long bodies are read, and told how long all of them are together.
 */
export async function readBatch(
  db: Kysely<Schema>,
  place: BatchPlace,
  limits: BatchLimits,
  enter: (length: number) => Promise<void>,
): Promise<Batch> {
  const rows = await dueRows(db, place, limits);
  await enter(rows.reduce((sum, row) => sum + lengthOf(row), 0));
  const bodies = await longBodies(db, place.organizationId, rows);
  // An event may have been erased since its row was read, with its organization.
  const whole = rows.flatMap((row) => {
    const body = row.e_body ?? bodies.get(row.event_id);
    return row.e_id !== null && body === undefined ? [] : [{ ...row, e_body: body ?? null }];
  });
  const isSendable = (row: DueRow): boolean => isComplete(db, place, row) && isGenuine(db, OF_EVENT, row);
  const [sendable, others] = partition(whole, isSendable);
  const { items: due, refused } = readEach(db, OF_DELIVERY, sendable, toDue);
  const left = [...others, ...refused].map((row) => ({ id: row.queued_id, seq: row.queued_seq }));
  return { due, refused: left };
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  const [first, second]: [Item[], Item[]] = [[], []];
  for (const item of items) (isFirst(item) ? first : second).push(item);
  return [first, second];
}

/** Apart, so that nothing holds on to what did not fit while somebody waits for `enter`. */
async function dueRows(db: Kysely<Schema>, place: BatchPlace, limits: BatchLimits): Promise<DueRow[]> {
  const [first, again] = await Promise.all([
    limits.fresh === 0 ? [] : firstAttempts(db, { ...place, limit: limits.fresh }),
    limits.retries === 0 ? [] : retries(db, { ...place, limit: limits.retries }),
  ]);
  return fitting(mixed(first, again));
}

async function longBodies(
  db: Kysely<Schema>,
  organizationId: string,
  rows: readonly DueRow[],
): Promise<ReadonlyMap<string, string>> {
  const long = rows.filter((row) => row.e_id !== null && row.e_body === null);
  if (long.length === 0) return new Map();
  const ids = JSON.stringify(long.map(({ event_id }) => ({ id: event_id })));
  const found = await bodiesOf[driverOf(db).kind](db, { organizationId, ids });
  return new Map(found.map(({ id, body }) => [id, body]));
}

/** Whether a delivery is one of the endpoint's organization, and its event is there: both go together. */
function isComplete(db: Kysely<Schema>, { organizationId }: BatchPlace, row: DueRow): boolean {
  if (row.id !== null && row.e_id !== null) return true;
  reportDamaged(db, OF_DELIVERY, { ...row, organization_id: organizationId, id: row.queued_id });
  return false;
}

function toDue(row: DueRow): DueDelivery {
  const body = row.e_body ?? '';
  const delivery = { ...toDelivery({ ...row, event_type: row.e_event_type, about_id: row.e_about_id }), seq: row.seq };
  if (!delivery.includesDescription) return { ...delivery, body };
  if (row.e_description !== null) return { ...delivery, body: withDescription(body, row.e_description) };
  if (row.e_activity_id === null) return { ...delivery, body };
  return { ...delivery, body, undescribed: row.e_activity_id as ActivityId };
}
