import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SqliteFile } from '../../../server/src/storage/sqlite-driver.ts';
import { runCli } from '../../../server/test/faults/support.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

test('the status shows what somebody wrote into the record of a restore, and does nothing that it says', {
  timeout: 60_000,
}, async () => {
  await using server = await TestServer.start();
  expect(await server.stop()).toBe(0);
  {
    using db = new SqliteFile(join(server.dataDir, 'custos.db'));
    db.prepare(
      `INSERT INTO restoration (id, backup_id, snapshot_at_ms, restored_at_ms, exhausts_windows, accepted_at_ms, accepted_by)
       VALUES ('x', 'x', 1, 9007199254740991, 0, 1, ?)`,
    ).run('somebody\u001b[2J\nfence       none');
  }
  const { code, stdout } = await runCli(server.environment, 'status');
  expect(code).toBe(0);
  expect(stdout).toContain('restored 9007199254740991 from a backup of 1970-01-01T00:00:00.001Z');
  expect(stdout).toContain('by somebody\\u{1b}[2J\\u{a}fence       none');
});
