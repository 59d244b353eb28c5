import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Reader } from '../../src/storage/store.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { remark } from '../harness/remark.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are asserted on.
type Any = any;

const MANY = 100_000;
/** One a minute, the last of them now. */
const STEP_MS = 60_000;

class Raw extends Reader {
  static readonly writes = true;

  async run(statement: RawBuilder<unknown>): Promise<void> {
    await statement.execute(this.db);
  }
}

describe.each(DATABASES)('filters of list_activities on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let other: TestClient;
  const startMs = Date.now() - MANY * STEP_MS;

  beforeAll(async () => {
    app = await openTestApp(database);
    root = await createSubOrganization(app.root, 'Filters');
    other = await createUser(root, 'Other');
    // Ids of version 7, as those of real activities, one of a hundred by the other user.
    const numbers =
      database === 'postgres'
        ? sql`SELECT n FROM generate_series(0, ${sql.lit(MANY - 1)}) AS g (n)`
        : sql`WITH RECURSIVE g (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM g WHERE n < ${sql.lit(MANY - 1)}) SELECT n FROM g`;
    const at = sql`(${sql.lit(startMs)} + CAST(n AS bigint) * ${sql.lit(STEP_MS)})`;
    const hex = database === 'postgres' ? sql`lpad(to_hex(${at}), 12, '0')` : sql`printf('%012x', ${at})`;
    const tail = database === 'postgres' ? sql`lpad(to_hex(n), 12, '0')` : sql`printf('%012x', n)`;
    const id = sql`substr(${hex}, 1, 8) || '-' || substr(${hex}, 9, 4) || '-7000-8000-' || ${tail}`;
    await app.app.storage.write(
      async (store) =>
        await store(
          Raw,
        ).run(sql`INSERT INTO /* unmarked: marked below */ activity (organization_id, id, fingerprint, operation, type, status, proposer_id,
          parameters, wants_proofs, has_mfa, round_started_at_ms, created_at_ms, updated_at_ms)
        SELECT ${sql.lit(root.organizationId)}, ${id}, 'f' || n, 'update_user_name', 'ACTIVITY_TYPE_UPDATE_USER_NAME',
          CASE WHEN n % 1000 = 7 THEN 'ACTIVITY_STATUS_REJECTED' ELSE 'ACTIVITY_STATUS_COMPLETED' END,
          CASE WHEN n % 100 = 7 THEN ${sql.lit(other.userId)} ELSE ${sql.lit(root.userId)} END,
          '{}', 0, 0, ${at}, ${at}, ${at} FROM (${numbers}) AS all_of_them`),
      { isLong: true },
    );
    await remark(app.app.config, 'activity');
    if (database === 'postgres') await app.app.storage.write((store) => store(Raw).run(sql`ANALYZE activity`));
  }, 180_000);
  afterAll(() => app[Symbol.asyncDispose]());

  async function page(parameters: object, limit = 50): Promise<{ activities: Any[]; pageInfo: Any; tookMs: number }> {
    const startedAt = performance.now();
    const { status, body } = await root.query('list_activities', {
      ...parameters,
      paginationOptions: { limit: String(limit), ...(parameters as Any).paginationOptions },
    });
    expect([status, body.message]).toEqual([200, undefined]);
    return { ...body, tookMs: performance.now() - startedAt };
  }
  const moment = (index: number): string => String(startMs + index * STEP_MS);
  const indexOf = ({ createdAt }: Any): number => (Date.parse(createdAt) - startMs) / STEP_MS;

  test('choose a span of time, its first moment included and its last not', async () => {
    const { activities, pageInfo } = await page({ createdAfterMs: moment(500), createdBeforeMs: moment(510) });
    expect(activities.map(indexOf)).toEqual([509, 508, 507, 506, 505, 504, 503, 502, 501, 500]);
    expect(pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
    expect((await page({ createdAfterMs: moment(2 * MANY) })).activities).toEqual([]);
    expect((await page({ createdBeforeMs: '1' })).activities).toEqual([]);
    expect((await page({ createdAfterMs: moment(510), createdBeforeMs: moment(500) })).activities).toEqual([]);
  });

  test('choose who submitted, with the other filters, in pages', async () => {
    const wanted = {
      filterByUserId: other.userId,
      filterByStatus: ['ACTIVITY_STATUS_REJECTED'],
      filterByType: ['ACTIVITY_TYPE_UPDATE_USER_NAME'],
      createdBeforeMs: moment(10_000),
    };
    const first = await page(wanted, 4);
    expect(first.activities.map(indexOf)).toEqual([9007, 8007, 7007, 6007]);
    const second = await page({ ...wanted, paginationOptions: { after: first.pageInfo.endCursor } }, 4);
    expect(second.activities.map(indexOf)).toEqual([5007, 4007, 3007, 2007]);
    const back = await page({ ...wanted, paginationOptions: { before: second.pageInfo.startCursor } }, 4);
    expect(back.activities.map(indexOf)).toEqual([9007, 8007, 7007, 6007]);
    expect((await page({ filterByUserId: randomUUID() })).activities).toEqual([]);
  });

  test('search no more than they find', async () => {
    const asked = [
      { createdAfterMs: moment(40_000), createdBeforeMs: moment(41_000) },
      { createdBeforeMs: moment(100) },
      { createdAfterMs: moment(MANY + 5000) },
      { filterByUserId: other.userId, createdBeforeMs: moment(2000) },
      { filterByUserId: randomUUID() },
    ];
    for (const parameters of asked) {
      const [newest, found]: [number[], number[]] = [[], []];
      // In turns, so that both meet the same load.
      for (let turn = 0; turn < 8; turn += 1) {
        newest.push((await page({})).tookMs);
        found.push((await page(parameters)).tookMs);
      }
      // To look at all of them would take many times as long as to read the newest fifty.
      expect(Math.min(...found), JSON.stringify(parameters)).toBeLessThan(4 * Math.min(...newest) + 10);
    }
  });

  test.each([{ createdAfterMs: 'yesterday' }, { createdBeforeMs: '-1' }, { filterByUserId: 'me' }])(
    '%j is refused',
    async (parameters) => {
      const { status, body } = await root.query('list_activities', parameters);
      expect([status, body.errorCode]).toEqual([400, 'REQUEST_INVALID']);
    },
  );
});
