import { sql } from 'kysely';
import { toHex } from '../../../lib/encoding.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { oneByOne, requireGenuine } from '../../../storage/integrity/one-by-one.ts';
import { Reader } from '../../../storage/store.ts';
import { withDescription } from '../description.ts';
import { WEBHOOK_DELIVERY_STATES, type WebhookDelivery, type WebhookDeliveryState } from '../model.ts';

/** So many deliveries are counted, the newest ones: each is read. */
export const COUNTED_MAX = 20_000;

const isMarkedRow = (row: object): boolean => 'webhook_event_mac' in row && row.webhook_event_mac !== null;

/** Deliveries that were made in the same stretch of time and are in the same state. */
export interface DeliveryCount {
  /** The number of the stretch since 1970. */
  readonly bucket: number;
  readonly state: WebhookDeliveryState;
  readonly deliveries: number;
  /** Attempts that failed, in the present round of each delivery. */
  readonly failures: number;
}

/** Ids begin with the moment at which they were made (UUID version 7). */
function firstIdAt(atMs: number): string {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(Math.max(0, Math.min(atMs, 2 ** 48 - 1)), 0, 6);
  const hex = toHex(bytes);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

export class WebhookStatisticsReader extends Reader {
  /** What became of the deliveries since a moment, and whether there were more than are counted. */
  async counts(
    organizationId: OrganizationId,
    endpointId: string | undefined,
    sinceMs: number,
    bucketMs: number,
  ): Promise<{ readonly counts: readonly DeliveryCount[]; readonly isPartial: boolean }> {
    const from = sql`id >= ${firstIdAt(sinceMs)} ORDER BY id DESC LIMIT ${COUNTED_MAX + 1}`;
    // A range of an index each: by the organization, or by endpoint and state.
    const ids =
      endpointId === undefined
        ? sql`SELECT id FROM webhook_delivery WHERE organization_id = ${organizationId} AND ${from}`
        : sql`SELECT id FROM (${sql.join(
            WEBHOOK_DELIVERY_STATES.map(
              (state) => sql`SELECT id FROM (SELECT id FROM webhook_delivery
                WHERE endpoint_id = ${endpointId} AND state = ${state} AND ${from}) AS shelf`,
            ),
            sql` UNION ALL `,
          )}) AS shelves ORDER BY id DESC LIMIT ${COUNTED_MAX + 1}`;
    const bucket =
      this.kind === 'postgres'
        ? sql`delivery.created_at_ms / CAST(${bucketMs} AS bigint)`
        : sql`delivery.created_at_ms / CAST(${bucketMs} AS integer)`;
    const { rows } = await sql<{
      bucket: number | string;
      state: WebhookDeliveryState;
      deliveries: number | string;
      failures: number | string;
      hidden: number | string;
    }>`SELECT /* partial: whether the endpoint is there */ ${bucket} AS bucket, delivery.state,
        SUM(CASE WHEN endpoint.id IS NULL THEN 0 ELSE 1 END) AS deliveries,
        SUM(CASE WHEN endpoint.id IS NULL THEN 0 ELSE delivery.failures END) AS failures,
        SUM(CASE WHEN endpoint.id IS NULL THEN 1 ELSE 0 END) AS hidden
      FROM (${ids}) AS page CROSS JOIN webhook_delivery AS delivery
      LEFT JOIN webhook_endpoint AS endpoint
        ON endpoint.organization_id = delivery.organization_id AND endpoint.id = delivery.endpoint_id
      WHERE delivery.organization_id = ${organizationId} AND delivery.id = page.id
      GROUP BY 1, 2`.execute(this.db);
    const counts = rows.map((row) => ({
      bucket: Number(row.bucket),
      state: row.state,
      deliveries: Number(row.deliveries),
      failures: Number(row.failures),
      hidden: Number(row.hidden),
    }));
    const read = counts.reduce((sum, { deliveries, hidden }) => sum + deliveries + hidden, 0);
    return { counts, isPartial: read > COUNTED_MAX };
  }

  /** The bytes that are posted. */
  async payload({
    organizationId,
    eventId,
    includesDescription,
  }: Pick<WebhookDelivery, 'organizationId' | 'eventId' | 'includesDescription'>): Promise<string | undefined> {
    const row = await this.db
      .selectFrom('webhook_event')
      .modifyFront(oneByOne('one from before there were marks has none, and is shown'))
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', '=', eventId)
      .executeTakeFirst();
    if (row !== undefined && isMarkedRow(row)) requireGenuine(this.db, { table: 'webhook_event' }, row);
    return row && (includesDescription ? withDescription(row.body, row.description) : row.body);
  }
}
