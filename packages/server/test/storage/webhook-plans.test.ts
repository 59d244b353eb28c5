import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { PostgresAdapter, PostgresQueryCompiler, type QueryResult, SqliteAdapter, SqliteQueryCompiler } from 'kysely';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { WEBHOOK_DELIVERY_STATES } from '../../src/domains/webhooks/model.ts';
import { WebhookStore } from '../../src/domains/webhooks/store/webhooks.ts';
import { type OrganizationId, randomId, type WebhookEndpointId } from '../../src/lib/ids.ts';
import { kyselyOver } from '../../src/storage/connection-dialect.ts';
import { types } from '../../src/storage/postgres/rows.ts';
import type { Schema } from '../../src/storage/schema.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { NOW, Place, times } from './place.ts';

// What is read of webhooks is found by searches in indexes, so that past deliveries and other endpoints cost nothing.

const ENDPOINTS = 2000;
/** Of the endpoints so many have deliveries, of which few are pending. */
const BUSY = 40;
const DELIVERIES = 20_000;

const openOn = (db: Kysely<Schema>, kind: DatabaseKind): WebhookStore => new WebhookStore({ db, kind, tables: [] });

/** Rows of every table; ids are made of numbers, which say what belongs together. */
function fillWith(kind: DatabaseKind): string {
  const numbers = (count: number): string =>
    kind === 'postgres'
      ? `WITH series AS (SELECT generate_series(0, ${count - 1}) AS n)`
      : `WITH RECURSIVE series (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < ${count - 1})`;
  const id = (letter: string, number: string): string => `'${letter}' || CAST(100000 + ${number} AS text)`;
  const [endpoint, organization] = [id('e', `n % ${BUSY}`), id('o', `n % ${BUSY} / 2`)];
  return `
    INSERT INTO webhook_endpoint (organization_id, id, name, url, is_active, is_feature, subscriptions, created_at_ms,
      updated_at_ms) ${numbers(ENDPOINTS)}
      SELECT ${id('o', 'n / 2')}, ${id('e', 'n')}, ${id('n', 'n')}, '', 1, 0, '[]', 0, 0 FROM series;
    INSERT INTO webhook_lane (endpoint_id, organization_id, owner, claimed_until_ms, resting_until_ms, failures,
      is_gone) ${numbers(ENDPOINTS)} SELECT ${id('e', 'n')}, ${id('o', 'n / 2')}, '', 0, 0, 0, 0 FROM series;
    INSERT INTO webhook_event (organization_id, id, event_type, about_id, activity_id, body, body_length, kept_since_ms,
      created_at_ms)
      ${numbers(DELIVERIES)} SELECT ${organization}, ${id('v', 'n')}, '', '', ${id('a', 'n / 3')}, '', 0, n, n FROM series;
    INSERT INTO webhook_delivery (organization_id, id, endpoint_id, event_id, state, failures, attempts,
      next_attempt_at_ms, round_started_at_ms, created_at_ms, updated_at_ms) ${numbers(DELIVERIES)}
      SELECT ${organization}, ${id('d', 'n')}, ${endpoint}, ${id('v', 'n')},
        CASE WHEN n / ${BUSY} % 100 < 90 THEN 'delivered' WHEN n / ${BUSY} % 100 < 94 THEN 'failed'
          WHEN n / ${BUSY} % 100 < 98 THEN 'dead' ELSE 'pending' END,
        0, '[]', CASE WHEN n / ${BUSY} % 2 = 0 THEN 0 ELSE n END, n, n, n FROM series;`;
}

const endpointId = 'e100002' as WebhookEndpointId;
const organizationId = 'o100001' as OrganizationId;

interface Explained extends AsyncDisposable {
  readonly store: WebhookStore;
  /** The plans of all statements since the last call. */
  plans(): string;
}

/** A store whose statements are explained before they are run. */
async function explained(place: Place, kind: DatabaseKind): Promise<Explained> {
  let lines: string[] = [];
  const createIntrospector = (): never => {
    throw new Error('not used');
  };
  const plans = (): string => {
    const text = lines.join('\n');
    lines = [];
    return text;
  };
  if (kind === 'sqlite') {
    const file = new SqliteFile(join(place.dataDir, 'custos.db'));
    const execute = async (sql: string, values: readonly unknown[]): Promise<QueryResult<unknown>> => {
      const steps = file.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as unknown as {
        readonly detail: string;
      }[];
      lines.push(...steps.map(({ detail }) => detail));
      const statement = file.prepare(sql);
      if (statement.columns.length > 0) return { rows: statement.all(...values) };
      return { rows: [], numAffectedRows: BigInt(statement.run(...values)) };
    };
    const flavour = {
      createAdapter: () => new SqliteAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector,
    };
    const store = openOn(kyselyOver(kind, flavour, execute), kind);
    return { store, plans, [Symbol.asyncDispose]: async () => void file.close() };
  }
  const client = new pg.Client({ connectionString: place.databaseUrl, types });
  await client.connect();
  const execute = async (sql: string, values: readonly unknown[]): Promise<QueryResult<unknown>> => {
    const steps = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${sql}`, [...values]);
    lines.push(...steps.rows.map((row) => row['QUERY PLAN']));
    const { rows, rowCount } = await client.query(sql, [...values]);
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  };
  const flavour = {
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector,
  };
  const store = openOn(kyselyOver(kind, flavour, execute), kind);
  return { store, plans, [Symbol.asyncDispose]: () => client.end() };
}

/** How either database says that it reads all of a table; the others are what statements make themselves. */
const READS_ALL = /SCAN (webhook_|event\b|delivery\b|queue\b|endpoint\b)|Seq Scan on webhook_/;

describe.each(DATABASES)('on %s', (kind) => {
  test('the queue and the lists are read by searches in indexes', async () => {
    await using place = await Place.create(kind);
    await place.close(await place.open());
    await place.run(fillWith(kind));
    if (kind === 'postgres') await place.run('VACUUM ANALYZE');
    await using opened = await explained(place, kind);
    const { store, plans } = opened;
    const nowMs = NOW;
    const seeks = (name: string): string => {
      const plan = plans();
      expect(plan, name).not.toBe('');
      expect(plan, name).not.toMatch(READS_ALL);
      return plan;
    };

    expect(await store.listeners(organizationId, 'o100002' as OrganizationId)).toHaveLength(4);
    seeks('listeners');
    expect(await store.dueQueues(nowMs, 100)).toHaveLength(BUSY);
    // The first endpoint, the next ones, which PostgreSQL does not show, and whether one has something due.
    expect(seeks('dueQueues').match(/ix_webhook_delivery_due/g)).toHaveLength(kind === 'postgres' ? 2 : 3);
    const { due } = await store.batch(organizationId, endpointId, nowMs, { fresh: 3, retries: 3 });
    expect(due).toHaveLength(6);
    // What is next stands in the queue's index, in its order.
    expect(seeks('batch').match(/(COVERING INDEX|Index Only Scan using) ix_webhook_delivery_due/g)).toHaveLength(2);
    expect(await store.claimQueue(endpointId, 'me', nowMs, nowMs + 1)).toBeDefined();
    seeks('claimQueue');
    expect(await store.renewQueues('me', nowMs, nowMs + 1)).toEqual([endpointId]);
    seeks('renewQueues');

    const eventId = 'v100002';
    const activityId = 'a100000';
    const page = { kind: 'page', limit: 2 } as const;
    for (const state of [undefined, ...WEBHOOK_DELIVERY_STATES]) {
      for (const filter of [
        {},
        { endpointId },
        { eventId },
        { endpointId, eventId },
        { activityId },
        { endpointId, activityId },
      ]) {
        const { pageInfo } = await store.deliveries(organizationId, { ...filter, state }, page);
        const { endCursor } = pageInfo;
        if (endCursor !== '')
          await store.deliveries(organizationId, { ...filter, state }, { ...page, after: endCursor });
        const plan = seeks(`deliveries ${JSON.stringify({ ...filter, state })}`);
        expect(plan.includes('ix_webhook_delivery_event')).toBe('eventId' in filter || 'activityId' in filter);
        expect(plan.includes('ix_webhook_event_activity')).toBe('activityId' in filter);
      }
    }
    expect((await store.getDelivery(organizationId, 'd100002')).endpointId).toBe(endpointId);
    seeks('getDelivery');
    expect(await store.replayFailed(organizationId, endpointId, { sinceMs: 5000 }, 2, nowMs)).toEqual({
      count: 2,
      hasMore: true,
    });
    expect(seeks('replayFailed')).toContain('ix_webhook_delivery_failed');
    expect(await store.replay(organizationId, 'd100002', nowMs)).toBeUndefined();
    seeks('replay');
    // PostgreSQL would rather read so small a table as a whole than search it for each of many rows.
    if (kind === 'postgres') return;
    expect(await store.expire(6000, nowMs, 3)).toBe(3);
    seeks('expire');
    const result = { attempt: { atMs: 0, latencyMs: 0 }, state: 'delivered', nextAttemptAtMs: 0 } as const;
    expect(
      await store.record(
        due.map((delivery) => ({ delivery, ...result })),
        nowMs,
      ),
    ).toBeGreaterThan(0);
    seeks('record');
    expect(await store.sweep(100, 10)).toBe(10);
    seeks('sweep');
    const event = { organizationId, id: randomId<'webhook-event'>(), aboutId: organizationId, body: '' };
    const made = times(2, () => ({ id: randomId<'webhook-delivery'>(), endpointId }));
    await store.insertEvent({ ...event, type: 'WEBHOOK_TEST', createdAtMs: nowMs }, made);
    seeks('insertEvent');
    await store.deleteEndpoint(organizationId, endpointId);
    seeks('deleteEndpoint');
  });
});
