import { type RawBuilder, sql } from 'kysely';
import type { OrganizationId, WebhookEndpointId, WebhookEventId } from '../../../lib/ids.ts';
import { amendOne } from '../../../storage/integrity/amend.ts';
import { isDone } from '../../../storage/integrity/apart.ts';
import { jsonRows } from '../../../storage/json-rows.ts';
import { change } from '../../../storage/statement.ts';
import type { DeliveryResult } from '../model.ts';
import type { RefusedDelivery } from './due-deliveries.ts';
import { type DueQueue, WebhookReader, withWaiting } from './webhook-reader.ts';

/** Of more attempts the last ones are kept. */
const ATTEMPTS_KEPT = 25;
/** Who writes these columns can only have a genuine event sent later, once more or not at all. */
const BOOKKEEPING = sql`/* unmarked: what became of it, and when it is tried again */`;
/** How many overdue retries of an endpoint are looked at to learn whether any can be given up. */
const OVERDUE_SEEN = 20;

const RESULT_COLUMNS = {
  organization_id: 'text',
  id: 'text',
  failures: 'bigint',
  state: 'text',
  failed: 'bigint',
  next_attempt_at_ms: 'bigint',
  attempts: 'text',
} as const;

const toRow = ({ delivery, attempt, state, nextAttemptAtMs }: DeliveryResult) => ({
  organization_id: delivery.organizationId,
  id: delivery.id,
  failures: delivery.failures,
  state,
  failed: state === 'delivered' ? 0 : 1,
  next_attempt_at_ms: nextAttemptAtMs,
  attempts: JSON.stringify([...delivery.attempts, attempt].slice(-ATTEMPTS_KEPT)),
});

interface ResultValues extends ReturnType<typeof toRow>, Record<string, unknown> {
  readonly seq: number;
  readonly nowMs: number;
}

/**
 * One delivery, which SQLite finds by its number. Nothing travels there, so that many at once, as JSON, would cost
 * more.
 */
const recordOne = change('webhook-result', (db, values: ResultValues) => {
  const query = sql`UPDATE ${BOOKKEEPING} webhook_delivery SET state = ${values.state}, failures = failures + ${values.failed},
      next_attempt_at_ms = ${values.next_attempt_at_ms}, attempts = ${values.attempts}, updated_at_ms = ${values.nowMs}
    WHERE seq = ${values.seq} AND organization_id = ${values.organization_id} AND id = ${values.id}
      AND failures = ${values.failures} AND state || '' = 'pending'`;
  return { compile: () => query.compile(db) };
});

/** Stands for a rest while an endpoint is claimed: whoever wants it tried at once overwrites it. */
const CLAIMED = -1;

/** What the processes that deliver do: sharing the endpoints, noting results, clearing away. */
export class WebhookQueue extends WebhookReader {
  static readonly writes = true;

  /** Takes an endpoint, so that nobody else works on it meanwhile; undefined when another one has it, or it rests. */
  async claimQueue(
    endpointId: WebhookEndpointId,
    owner: string,
    nowMs: number,
    untilMs: number,
  ): Promise<Pick<DueQueue, 'organizationId' | 'failures'> | undefined> {
    const row = await this.db
      .updateTable('webhook_lane')
      .set({ owner, claimed_until_ms: untilMs, resting_until_ms: CLAIMED })
      .where('endpoint_id', '=', endpointId)
      .where('is_gone', '=', 0)
      .where('resting_until_ms', '<=', nowMs)
      .where((eb) => eb.or([eb('claimed_until_ms', '<=', nowMs), eb('owner', '=', owner)]))
      .returning(['organization_id', 'failures'])
      .executeTakeFirst();
    if (row === undefined) return undefined;
    // Whoever can write to the database may have written any number.
    const failures = Number.isSafeInteger(row.failures) ? row.failures : 0;
    return { organizationId: row.organization_id as OrganizationId, failures };
  }

  /** Prolongs every claim of an owner; answers with the endpoints that it still has. */
  async renewQueues(owner: string, nowMs: number, untilMs: number): Promise<WebhookEndpointId[]> {
    const rows = await this.db
      .updateTable('webhook_lane')
      .set({ claimed_until_ms: untilMs })
      .where(this.#ownedBy(owner))
      .where('claimed_until_ms', '>', nowMs)
      .returning('endpoint_id')
      .execute();
    return rows.map((row) => row.endpoint_id as WebhookEndpointId);
  }

  /**
   * Gives an endpoint back; false when the claim is over and the endpoint another one's. Whoever changed the endpoint
   * meanwhile, or replayed, wants it tried at once: then it does not rest.
   */
  async releaseQueue(
    endpointId: WebhookEndpointId,
    owner: string,
    { failures, restingUntilMs }: { readonly failures: number; readonly restingUntilMs: number },
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('webhook_lane')
      .set({
        owner: '',
        claimed_until_ms: 0,
        resting_until_ms: sql<number>`CASE WHEN resting_until_ms = ${CLAIMED} THEN CAST(${restingUntilMs} AS bigint) ELSE 0 END`,
        failures: sql<number>`CASE WHEN resting_until_ms = ${CLAIMED} THEN CAST(${failures} AS integer) ELSE 0 END`,
      })
      .where('endpoint_id', '=', endpointId)
      .where('owner', '=', owner)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  /** Gives back all that an owner has. */
  async releaseOwner(owner: string): Promise<void> {
    await this.db
      .updateTable('webhook_lane')
      .set({ owner: '', claimed_until_ms: 0 })
      .where(this.#ownedBy(owner))
      .execute();
  }

  /** Ends the claims of processes that are gone; for a database that has one process at a time. */
  async releaseAllQueues(): Promise<void> {
    await this.db
      .updateTable('webhook_lane')
      .set({ owner: '', claimed_until_ms: 0 })
      .where(sql<boolean>`owner <> ''`)
      .execute();
  }

  /**
   * Keeps what events of an organization say of their activities, which stays as it is from then on. Answers with what
   * each one says: that may be another text, which somebody else was faster with.
   */
  async describeEvents(
    organizationId: OrganizationId,
    descriptions: ReadonlyMap<WebhookEventId, string>,
  ): Promise<ReadonlyMap<WebhookEventId, string>> {
    const kept = new Map<WebhookEventId, string>();
    // In one order, as others may describe some of the same.
    for (const [id, description] of [...descriptions].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const key = { organization_id: organizationId, id };
      // One that is not genuine any more is not sent.
      await isDone(async () => {
        const event = await amendOne(this.db, 'webhook_event', key, (row) =>
          row.description === null ? { description } : undefined,
        );
        if (event !== undefined) kept.set(id, event.description ?? description);
      });
    }
    return kept;
  }

  /** Puts off what nothing is sent of. */
  async setAside(endpointId: WebhookEndpointId, refused: readonly RefusedDelivery[], untilMs: number): Promise<void> {
    for (const { id, seq } of refused) {
      await sql`UPDATE ${BOOKKEEPING} webhook_delivery SET next_attempt_at_ms = ${untilMs}
        WHERE endpoint_id = ${endpointId} AND state = 'pending' AND id = ${id} AND seq = ${seq}`.execute(this.db);
    }
  }

  /**
   * Notes what became of deliveries, of any organization; answers how many were noted. One that changed since it was
   * read is left alone: somebody else has noted it, or it was replayed.
   */
  async record(results: readonly DeliveryResult[], nowMs: number): Promise<number> {
    if (this.kind === 'sqlite') {
      let count = 0;
      for (const result of results) {
        count += await recordOne(this.db, { ...toRow(result), seq: result.delivery.seq, nowMs });
      }
      return count;
    }
    if (results.length === 0) return 0;
    const noted = jsonRows(this.kind, 'noted', RESULT_COLUMNS, JSON.stringify(results.map(toRow)));
    const { numAffectedRows } = await sql`UPDATE ${BOOKKEEPING} webhook_delivery SET state = noted.state,
        failures = noted.failures + noted.failed, next_attempt_at_ms = noted.next_attempt_at_ms,
        attempts = noted.attempts, updated_at_ms = ${nowMs}
      FROM ${noted}
      WHERE webhook_delivery.organization_id = noted.organization_id AND webhook_delivery.id = noted.id
        AND webhook_delivery.failures = noted.failures
        AND webhook_delivery.state || '' = 'pending'`.execute(this.db);
    return Number(numAffectedRows ?? 0n);
  }

  /**
   * Gives up what could not be tried in a round that began before a moment: its endpoint is off, or has more than it
   * takes. What is pending for an endpoint that is gone, goes. Answers how many there were, at most so many. Of each
   * endpoint it looks at those that have waited longest only, so that it costs little where there are very many.
   */
  async expire(beforeMs: number, nowMs: number, limit: number): Promise<number> {
    const fresh = (endpoint: RawBuilder<unknown>, count: number) => sql`
      SELECT organization_id, id, round_started_at_ms FROM webhook_delivery
      WHERE state = 'pending' AND endpoint_id = ${endpoint} AND next_attempt_at_ms = 0 ORDER BY seq LIMIT ${count}`;
    const overdue = (endpoint: RawBuilder<unknown>, count: number) => sql`
      SELECT organization_id, id, round_started_at_ms FROM webhook_delivery
      WHERE state = 'pending' AND endpoint_id = ${endpoint}
        AND next_attempt_at_ms > 0 AND next_attempt_at_ms <= ${nowMs}
      ORDER BY next_attempt_at_ms, seq LIMIT ${count}`;
    const isOver = sql`round_started_at_ms < ${beforeMs}`;
    const waiting = sql`waiting.endpoint_id`;
    const { rows } = await sql<{ endpoint_id: string; is_gone: number }>`${withWaiting('')}
      SELECT /* partial: what waits too long */ waiting.endpoint_id, CASE WHEN queue.endpoint_id IS NULL THEN 1 ELSE 0 END AS is_gone FROM waiting
      LEFT JOIN webhook_lane AS queue ON queue.endpoint_id = waiting.endpoint_id
      WHERE waiting.endpoint_id IS NOT NULL AND (queue.endpoint_id IS NULL OR (queue.is_gone = 0
        AND (EXISTS (SELECT 1 FROM (${fresh(waiting, 1)}) AS first WHERE ${isOver})
          OR EXISTS (SELECT 1 FROM (${overdue(waiting, OVERDUE_SEEN)}) AS again WHERE ${isOver}))))
      LIMIT ${limit}`.execute(this.db);
    let count = 0;
    for (const { endpoint_id, is_gone } of rows) {
      const id = sql`${endpoint_id}`;
      for (const shelf of [fresh, overdue]) {
        const left = limit - count;
        if (left === 0) return count;
        const all = shelf(id, left);
        const { numAffectedRows } = await (is_gone === 1
          ? sql`DELETE FROM webhook_delivery WHERE (organization_id, id) IN (SELECT organization_id, id FROM (${all}) AS shelf)`
          : // Once more in the end: on PostgreSQL it may have been replayed while this waited for the row.
            sql`UPDATE ${BOOKKEEPING} webhook_delivery SET state = 'dead', updated_at_ms = ${nowMs} WHERE state || '' = 'pending'
              AND round_started_at_ms + 0 < ${beforeMs} AND (organization_id, id) IN (SELECT organization_id, id FROM (${all}) AS shelf WHERE ${isOver})`
        ).execute(this.db);
        count += Number(numAffectedRows ?? 0n);
      }
    }
    return count;
  }

  /** Deletes a number of deliveries of endpoints that were deleted; answers how many there were. */
  async purge(limit: number): Promise<number> {
    const { rows } = await sql<{ endpoint_id: string }>`SELECT endpoint_id FROM webhook_lane
      WHERE is_gone = 1 ORDER BY endpoint_id LIMIT 1`.execute(this.db);
    const endpointId = rows[0]?.endpoint_id;
    if (endpointId === undefined) return 0;
    const { numAffectedRows = 0n } = await sql`DELETE FROM webhook_delivery WHERE (organization_id, id) IN (
      SELECT organization_id, id FROM webhook_delivery WHERE endpoint_id = ${endpointId} LIMIT ${limit})`.execute(
      this.db,
    );
    const count = Number(numAffectedRows);
    if (count < limit) await this.db.deleteFrom('webhook_lane').where('endpoint_id', '=', endpointId).execute();
    // There may be another one.
    return Math.max(count, 1);
  }

  /**
   * Deletes a number of events that are kept since before a moment and wait for nothing; answers how many there were.
   */
  async sweep(beforeMs: number, limit: number): Promise<number> {
    // On PostgreSQL those that somebody else sweeps or replays right now are passed over.
    const { rows } = await sql<{
      organization_id: string;
      id: string;
    }>`SELECT /* partial: what is kept no longer */ organization_id, id
      FROM webhook_event AS event WHERE kept_since_ms < ${beforeMs}
        AND NOT EXISTS (SELECT 1 FROM webhook_delivery AS delivery WHERE delivery.state || '' = 'pending'
          AND delivery.organization_id = event.organization_id AND delivery.event_id = event.id)
      ORDER BY kept_since_ms LIMIT ${limit}
      ${this.kind === 'postgres' ? sql`FOR UPDATE OF event SKIP LOCKED` : sql``}`.execute(this.db);
    if (rows.length === 0) return 0;
    const old = sql`SELECT organization_id, id
      FROM ${jsonRows(this.kind, 'old', { organization_id: 'text', id: 'text' }, JSON.stringify(rows))}`;
    await sql`DELETE FROM webhook_delivery WHERE (organization_id, event_id) IN (${old})`.execute(this.db);
    await sql`DELETE FROM webhook_event WHERE (organization_id, id) IN (${old})`.execute(this.db);
    return rows.length;
  }

  /** In the words of the index of claimed queues. */
  #ownedBy(owner: string): RawBuilder<boolean> {
    return sql<boolean>`owner <> '' AND owner = ${owner}`;
  }
}
