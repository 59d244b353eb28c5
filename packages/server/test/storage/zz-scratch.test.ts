import { join } from 'node:path';
import Database from 'better-sqlite3';
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import pg from 'pg';
import { describe, test } from 'vitest';
import { kyselyOver } from '../../src/storage/connection-dialect.ts';
import { WebhookStore } from '../../src/storage/stores/webhooks.ts';
import { DATABASES } from '../harness/databases.ts';
import { NOW, Place } from './place.ts';

const ENDPOINTS = 40, PER = Number(process.env.PER ?? 500);
describe.each(DATABASES)('%s', (kind) => {
  test('plans', { timeout: 600_000 }, async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    await place.close(storage);
    const series = kind === 'sqlite' ? `WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n+1 FROM s WHERE n < ${ENDPOINTS*PER-1})` : `WITH s AS (SELECT generate_series(0, ${ENDPOINTS*PER-1}) AS n)`;
    const id = kind === 'sqlite' ? "printf('%08d', n)" : "lpad(n::text, 8, '0')";
    const e = kind === 'sqlite' ? `printf('%02d', n % ${ENDPOINTS})` : `lpad((n % ${ENDPOINTS})::text, 2, '0')`;
    const o = kind === 'sqlite' ? `printf('%02d', n % ${ENDPOINTS} / 2)` : `lpad((n % ${ENDPOINTS} / 2)::text, 2, '0')`;
    await place.run(`
    INSERT INTO webhook_event (organization_id,id,event_type,about_id,body,kept_since_ms,created_at_ms) ${series} SELECT 'o'||${o}, 'v'||${id}, 'T', 'o', '{}', ${NOW}+n, ${NOW}+n FROM s;
    INSERT INTO webhook_delivery (organization_id,id,endpoint_id,event_id,state,failures,attempts,next_attempt_at_ms,round_started_at_ms,created_at_ms,updated_at_ms)
      ${series} SELECT 'o'||${o}, 'd'||${id}, 'e'||${e}, 'v'||${id}, CASE WHEN n % 1000 < 900 THEN 'delivered' WHEN n%1000<980 THEN 'failed' WHEN n%1000<985 THEN 'dead' ELSE 'pending' END, 0, '[]', CASE WHEN n%2=0 THEN 0 ELSE ${NOW}+n END, ${NOW}+n, ${NOW}+n, ${NOW}+n FROM s;
    INSERT INTO webhook_endpoint (organization_id,id,name,url,is_active,is_feature,subscriptions,created_at_ms,updated_at_ms) ${series} SELECT 'o'||${o}, 'e'||${e}, 'n'||n, 'u', 1, 0, '[]', 1, 1 FROM s WHERE n < ${ENDPOINTS};
    INSERT INTO webhook_lane ${series} SELECT 'e'||${e}, 'o'||${o}, '', 0, 0, 0 FROM s WHERE n < ${ENDPOINTS};
    ${kind === 'postgres' ? '' : ''}`);
    if (kind === 'postgres') await place.run('VACUUM ANALYZE');
    let log = '';
    let close = async () => {};
    const { flavour, execute } = await (async () => {
      if (kind === 'sqlite') {
        const db = new Database(join(place.dataDir, 'custos.db'));
        return {
          flavour: { createAdapter: () => new SqliteAdapter(), createQueryCompiler: () => new SqliteQueryCompiler(), createIntrospector: (d: any) => new SqliteIntrospector(d) },
          execute: async (sql: string, p: readonly unknown[]) => {
            log += sql.replace(/\s+/g, ' ') + '\n' + (db.prepare('EXPLAIN QUERY PLAN ' + sql).all(...p) as any[]).map((r) => '    ' + r.detail).join('\n') + '\n';
            const st = db.prepare(sql);
            const t = performance.now();
            try { return st.reader ? { rows: st.all(...p) } : { rows: [], numAffectedRows: BigInt(st.run(...p).changes) }; } finally { log += `  ${(performance.now()-t).toFixed(2)} ms\n`; }
          },
        };
      }
      const c = new pg.Client({ connectionString: place.databaseUrl });
      await c.connect();
      close = () => c.end();
      return {
        flavour: { createAdapter: () => new PostgresAdapter(), createQueryCompiler: () => new PostgresQueryCompiler(), createIntrospector: (d: any) => new PostgresIntrospector(d) },
        execute: async (sql: string, p: readonly unknown[]) => {
          const r = await c.query('EXPLAIN ' + sql, p as any[]);
          log += sql.replace(/\s+/g, ' ') + '\n' + r.rows.map((x) => '    ' + x['QUERY PLAN']).join('\n') + '\n';
          const t = performance.now();
          const q = await c.query(sql, p as any[]);
          log += `  ${(performance.now()-t).toFixed(2)} ms\n`;
          return { rows: q.rows, numAffectedRows: BigInt(q.rowCount ?? 0) };
        },
      };
    })();
    const store = new WebhookStore(kyselyOver(flavour as any, execute as any), kind);
    const o1 = 'o01' as any, e1 = 'e02' as any;
    const step = async (name: string, work: () => Promise<any>) => { log += `\n=== ${name}\n`; const r = await work(); log += `  -> ${JSON.stringify(r)?.slice(0, 200)}\n`; return r; };
    await step('listeners', () => store.listeners(o1, 'o02' as any));
    await step('insertEvent', () => store.insertEvent({ organizationId: o1, id: 'vx' as any, type: 'ACTIVITY_UPDATES', aboutId: o1, body: '{}', createdAtMs: NOW }, [{ id: 'dx' as any, endpointId: e1 }, { id: 'dy' as any, endpointId: e1 }]));
    await step('dueLanes', () => store.dueLanes(NOW + 1e9, 50));
    const b = await step('batch', () => store.batch(o1, e1, NOW + 1e9, { fresh: 5, retries: 5 }));
    await step('claim', () => store.claimLane(e1, 'me', NOW, NOW + 10));
    await step('renew', () => store.renewLanes('me', NOW, NOW + 20));
    await step('record', () => store.record(b.map((delivery: any) => ({ delivery, attempt: { atMs: 1, latencyMs: 1 }, state: 'delivered', nextAttemptAtMs: 5 })), NOW));
    const page = { kind: 'page', limit: 10, after: 'd00010001' } as const;
    await step('getDelivery', () => store.getDelivery(o1, 'dx'));
    await step('all', () => store.deliveries(o1, {}, { kind: 'page', limit: 10 }));
    const cursor = (await store.deliveries(o1, {}, { kind: 'page', limit: 10 })).pageInfo.endCursor;
    await step('by endpoint', () => store.deliveries(o1, { endpointId: e1 }, { ...page, after: cursor }));
    await step('by state', () => store.deliveries(o1, { state: 'failed' }, { ...page, after: cursor }));
    await step('by state pending', () => store.deliveries(o1, { state: 'pending' }, { ...page, after: cursor }));
    await step('by event', () => store.deliveries(o1, { eventId: 'vx', endpointId: e1, state: 'pending' }, { ...page, after: 'dx' }));
    await step('replay', () => store.replay(o1, 'dx', NOW));
    await step('replayFailed', () => store.replayFailed(o1, e1, NOW + 3000, 10, NOW));
    await step('expire', () => store.expire(NOW + 10_000, NOW + 1e9, 10));
    await step('sweep', () => store.sweep(NOW + 5000, 10));
    await step('deactivate', () => store.deactivate(o1, e1, 'u', NOW));
    await step('deleteEndpoint', () => store.deleteEndpoint(o1, e1));
    await step('expire gone', async () => { await store.insertEvent({ organizationId: o1, id: 'vz' as any, type: 'ACTIVITY_UPDATES', aboutId: o1, body: '{}', createdAtMs: NOW }, [{ id: 'dz' as any, endpointId: e1 }]); return store.expire(NOW-1, NOW+1, 10); });
    await close();
    (await import('node:fs')).writeFileSync(`/tmp/wh/${kind}.txt`, log);
  });
});
