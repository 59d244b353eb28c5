import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../../server/src/config/config.ts';
import { raiseFence } from '../../../server/src/fence/raise.ts';
import { runCli } from '../../../server/test/faults/support.ts';
import { withStorage } from '../../../server/test/fixtures/integrity.ts';
import { createSubOrganization, TestClient } from '../../../server/test/harness/client.ts';
import { DATABASES } from '../../../server/test/harness/databases.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

const CLI = fileURLToPath(new URL('../../bin/custos.js', import.meta.url));
const PATIENCE = { timeout: 10_000, interval: 50 };
const TEN_MINUTES_MS = 600_000;

/** As a restore leaves the database that somebody has just restored, or had for a while. */
const raise = (server: TestServer, agoMs = TEN_MINUTES_MS) =>
  withStorage(readConfig(server.environment), (storage) => {
    const restoredAtMs = Date.now() - agoMs;
    return storage.write((store) =>
      raiseFence(store, { backupId: 'a backup', snapshotAtMs: restoredAtMs - 1000, restoredAtMs, exhaust: false }),
    );
  });

async function codeOf(client: TestClient): Promise<string> {
  const { body } = await client.submit('create_user_tag', { userTagName: `tag ${Math.random()}`, userIds: [] });
  return body.errorCode ?? 'OK';
}

describe.each(DATABASES)('custos restore accept on %s', (database) => {
  test('lifts the fence beside running services, which follow within seconds', { timeout: 120_000 }, async () => {
    await using server = await TestServer.start({ database });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const child = await createSubOrganization(root, 'Child');
    expect((await runCli(server.environment, 'status')).stdout).toContain(
      'fence       none: the database was never restored',
    );
    await server.stop();
    await raise(server);
    await server.start();
    expect(server.output.stdout).toMatch(
      /fenced {8}the database was restored 20\S+Z: queries only, until `custos restore accept`/,
    );
    // On PostgreSQL another process of the same service.
    const url = server.databaseUrl;
    const second =
      url === undefined
        ? undefined
        : await TestServer.start({
            env: { CUSTOS_DATABASE_URL: url, CUSTOS_ROOT_KEY: `file:${server.dataDir}/root.key` },
          });
    try {
      const clients = [server, ...(second ? [second] : [])].map(({ baseUrl }) => ({
        root: new TestClient(baseUrl, root.organizationId, root.key),
        child: new TestClient(baseUrl, child.organizationId, child.key),
      }));
      const codes = () => Promise.all(clients.flatMap((one) => [codeOf(one.root), codeOf(one.child)]));
      expect(new Set(await codes())).toEqual(new Set(['FENCED']));
      expect((await runCli(server.environment, 'status')).stdout).toMatch(
        /fence {7}up since it was restored 20\S+Z from a backup of 20/,
      );

      const asked = await runCli(server.environment, 'restore', 'accept');
      expect(asked).toMatchObject({ code: 1, stdout: '' });
      expect(asked.stderr).toMatch(/no terminal to ask on; run it again with --yes/);
      const dry = await runCli(server.environment, 'restore', 'accept', '--dry-run');
      expect(dry.stderr).toMatch(
        /was restored 20\S+Z from backup a backup of 20.*for every organization.*No send is in question.*process/s,
      );
      expect(new Set(await codes())).toEqual(new Set(['FENCED']));

      const some = await runCli(
        server.environment,
        'restore',
        'accept',
        '--organization',
        child.organizationId,
        '--yes',
      );
      expect(some).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`accepted for organization ${child.organizationId} by `),
      });
      const expected = clients.flatMap(() => ['FENCED', 'OK']);
      await vi.waitFor(async () => expect(await codes()).toEqual(expected), PATIENCE);
      expect((await runCli(server.environment, 'status')).stdout).toContain('except for 1 organization until');

      expect(await runCli(server.environment, 'restore', 'accept', '--yes')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^accepted for all organizations by \S+@\S+; 0 sends settled\n$/),
      });
      await vi.waitFor(async () => expect(new Set(await codes())).toEqual(new Set(['OK'])), PATIENCE);
      expect((await runCli(server.environment, 'status')).stdout).toMatch(
        /fence {7}down: restored 20.*accepted 20\S+Z by \S+@/,
      );
      const again = await runCli(server.environment, 'restore', 'accept', '--yes');
      expect(again).toMatchObject({ code: 1, stdout: '' });
      expect(again.stderr).toMatch(/the restore was accepted at 20.*there is nothing to accept/);
    } finally {
      await second?.[Symbol.asyncDispose]();
    }
  });

  test('killed at any moment it is accepted or not, and can be run again', { timeout: 120_000 }, async () => {
    await using server = await TestServer.start({ database });
    const root = TestClient.root(server.credentials, server.baseUrl);
    await server.stop();
    await raise(server);
    for (let afterMs = 200; afterMs <= 1400; afterMs += 300) {
      const child = spawn(process.execPath, [CLI, 'restore', 'accept', '--yes'], {
        env: server.environment,
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      await pause(afterMs);
      child.kill('SIGKILL');
      await ended;
    }
    const last = await runCli(server.environment, 'restore', 'accept', '--yes');
    if (last.code !== 0) expect(last.stderr).toContain('there is nothing to accept');
    await server.start();
    expect(await codeOf(new TestClient(server.baseUrl, root.organizationId, root.key))).toBe('OK');
  });
});
