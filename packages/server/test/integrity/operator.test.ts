import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { writeDatabase } from '../faults/sealed-world.ts';
import { RawService, runCli, temporaryFolder, waitUntil } from '../faults/support.ts';
import { TestClient } from '../harness/client.ts';
import { createPostgresDatabase, DATABASES } from '../harness/databases.ts';
import { remark } from '../harness/remark.ts';

// What the operator hears of a row that somebody else wrote.

const SECONDS = 60_000;
const ERROR_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

describe.each(DATABASES)('a row that somebody changed, on %s', { timeout: SECONDS }, (kind) => {
  test('is told with an id to the caller, the log, the metrics and readiness, which stays good', async () => {
    using folder = temporaryFolder();
    await using database = kind === 'postgres' ? await createPostgresDatabase() : undefined;
    const place = { dataDir: folder.path, databaseUrl: database?.url };
    const environment = {
      CUSTOS_DATA_DIR: folder.path,
      CUSTOS_PORT: '0',
      CUSTOS_KEYRING: 'inline',
      ...(database && { CUSTOS_DATABASE_URL: database.url }),
    };
    await using service = new RawService(environment);
    const baseUrl = (await service.listening()) ?? '';
    expect(service.stdout).not.toContain('integrity');
    const credentials = JSON.parse(readFileSync(`${folder.path}/root-credentials.json`, 'utf8'));
    const client = TestClient.root(credentials, baseUrl);
    const whoami = () => client.query('whoami');
    const readiness = async () =>
      (await fetch(`${baseUrl}/readyz`)).json() as Promise<{ status: string; integrity: unknown }>;
    expect((await whoami()).status).toBe(200);
    expect(await readiness()).toMatchObject({ status: 'ready', integrity: { required: true, violations: 0 } });

    await writeDatabase(place, "UPDATE app_user SET name = 'somebody else'");
    const refused = await whoami();
    expect(refused).toMatchObject({ status: 500, body: { errorCode: 'INTEGRITY_VIOLATION' } });
    const [errorId = ''] =
      ERROR_ID.exec(refused.body.message.slice(refused.body.message.indexOf('custos verify'))) ?? [];
    await waitUntil('it is logged', () => service.stderr.includes(errorId));
    const logged = service.stderr.split('\n').filter((line) => line.includes(errorId));
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 50,
        table: 'app_user',
        organizationId: credentials.organizationId,
        row: credentials.userId,
        because: 'mark',
      },
    ]);
    await whoami();
    const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
    expect(metrics).toMatch(/^custos_integrity_violations_total\{table="app_user"\} [2-9]$/m);
    expect(await readiness()).toMatchObject({
      status: 'ready',
      integrity: {
        required: true,
        violations: 1,
        last: [{ table: 'app_user', row: credentials.userId, because: 'mark' }],
      },
    });
    const found = await runCli(environment, 'verify', '--json');
    expect(found.code).toBe(1);
    expect(JSON.parse(found.stdout.split('\n')[0] ?? '')).toMatchObject({ table: 'app_user', because: 'mark' });

    await remark(place, 'app_user');
    expect((await whoami()).status).toBe(200);
  });
});
