import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChangeReader, type Mark, type Place } from '../../src/core/store/changes.ts';
import { dataModel } from '../../src/domains.ts';
import type { OrganizationId } from '../../src/lib/ids.ts';
import { randomId } from '../../src/lib/ids.ts';
import { openStorage } from '../../src/storage/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { createPostgresDatabase, type TestDatabase } from '../harness/databases.ts';

const ORGANIZATION = randomId<'organization'>();

const insert = (id: string) => ({
  text: `INSERT INTO activity (organization_id, id, fingerprint, operation, type, status, parameters, wants_proofs, has_mfa,
      round_started_at_ms, created_at_ms, updated_at_ms)
    VALUES ($1, $2, $2, 'o', 'T', 'ACTIVITY_STATUS_CONSENSUS_NEEDED', '{}', 0, 0, 1, 1, 1)`,
  values: [ORGANIZATION, id],
});

describe('changes on PostgreSQL', () => {
  let database: TestDatabase;
  let storage: Storage;
  const clients: pg.Client[] = [];

  beforeAll(async () => {
    database = await createPostgresDatabase();
    const dataDir = mkdtempSync(join(tmpdir(), 'custos-changes-'));
    storage = await openStorage({
      dataModel,
      dataDir,
      databaseUrl: database.url,
      databasePool: 4,
      nowMs: Date.now(),
      onIdleError: () => {},
    });
    rmSync(dataDir, { recursive: true, force: true });
  });
  afterAll(async () => {
    for (const client of clients) await client.end();
    await storage.close();
    await database[Symbol.asyncDispose]();
  });

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    clients.push(client);
    return client;
  };
  const reader = () => storage.read(ChangeReader);
  const between = async (from: Mark, to: Mark, organizationId: OrganizationId = ORGANIZATION): Promise<string[]> =>
    (await reader().between(organizationId, { from, to }, undefined, 100)).map(({ place }) => place.id);

  test('that commit later than those with higher numbers are told, once', async () => {
    const [slow, fast] = [await connect(), await connect()];
    const [early, late] = [randomId(), randomId()];
    const first = await reader().mark();
    await slow.query('BEGIN');
    await slow.query(insert(early));
    const { rows } = await slow.query<{ number: string }>('SELECT pg_current_xact_id()::text AS number');
    await fast.query(insert(late));
    const second = await reader().mark();
    expect(await between(first, second)).toEqual([late]);
    // With those of other databases on the same server.
    expect(second.underWay).toContain(Number(rows[0]?.number));
    await slow.query('COMMIT');
    // The reading up to the second mark does not see what committed after it.
    expect(await between(first, second)).toEqual([late]);
    const third = await reader().mark();
    expect(await between(second, third)).toEqual([early]);
    expect(await between(third, await reader().mark())).toEqual([]);
    expect(await between(first, third, randomId())).toEqual([]);
  });

  test('of a row that changes again meanwhile are told with the later change', async () => {
    const client = await connect();
    const id = randomId();
    const first = await reader().mark();
    await client.query(insert(id));
    const second = await reader().mark();
    await client.query('UPDATE activity SET status = $1 WHERE id = $2', ['ACTIVITY_STATUS_REJECTED', id]);
    expect(await between(first, second)).toEqual([]);
    const third = await reader().mark();
    const [change] = await reader().between(ORGANIZATION, { from: second, to: third }, undefined, 100);
    expect(change).toMatchObject({ kind: 'ACTIVITY', fields: { activityId: id, status: 'ACTIVITY_STATUS_REJECTED' } });
    // What alters nothing that is told is no change.
    await client.query('UPDATE activity SET operation = $1 WHERE id = $2', ['p', id]);
    expect(await between(third, await reader().mark())).toEqual([]);
  });

  test('come in pages', async () => {
    const client = await connect();
    const first = await reader().mark();
    const ids = Array.from({ length: 7 }, () => randomId());
    await client.query('BEGIN');
    for (const id of ids) await client.query(insert(id));
    await client.query('COMMIT');
    const to = await reader().mark();
    const seen: string[] = [];
    for (let after: Place | undefined; ; ) {
      const some = await reader().between(ORGANIZATION, { from: first, to }, after, 3);
      if (some.length === 0) break;
      seen.push(...some.map(({ place }) => place.id));
      after = some.at(-1)?.place;
    }
    expect(seen).toEqual([...ids].sort());
  });
});
