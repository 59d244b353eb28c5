import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { sealedColumns } from '../../src/core/store/sealed.ts';
import { dataModel } from '../../src/domains.ts';
import { createSubOrganization } from '../harness/client.ts';
import { DATABASES, databasesOf } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import { expectAllOpen, newWallet, SealedWorld, writeDatabase } from './sealed-world.ts';
import { expectRefusal, openTables, runCli } from './support.ts';

const CLI = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));
const HOUR_MS = 60 * 60 * 1000;
const rotate = (server: TestServer, id: string) => runCli(server.environment, 'keyring', 'rotate-organization', id);

/** The ids of the organization's keys, and of those that its secrets are under. */
async function keysOf(server: TestServer, id: string): Promise<{ own: string[]; used: string[] }> {
  await using tables = await openTables(server.dataDir, server.databaseUrl);
  const [organizations = []] = await tables.read(`SELECT wrapped_key FROM organization WHERE id = '${id}'`);
  const wrapped = Buffer.from(organizations[0]?.wrapped_key).toString('hex');
  const own = [wrapped.slice(36, 68), wrapped.slice(188 + 36, 188 + 68)].filter((key) => key !== '');
  const used = new Set<string>();
  for (const { table, column, organizationId } of sealedColumns(dataModel.tables)) {
    if (organizationId !== undefined) continue;
    const where = `organization_id = '${id}' AND ${column} IS NOT NULL`;
    const [rows = []] = await tables.read(`SELECT ${column} FROM ${table} WHERE ${where}`);
    for (const row of rows) used.add(Buffer.from(row[column]).toString('hex').slice(4, 36));
  }
  return { own, used: [...used] };
}

async function killAtFirstLine(server: TestServer, id: string): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [CLI, 'keyring', 'rotate-organization', id], {
    env: server.environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  for await (const _ of createInterface({ input: child.stderr as NodeJS.ReadableStream })) child.kill('SIGKILL');
  await exited;
}

describe.each(DATABASES)('custos keyring rotate-organization on %s', { timeout: 240_000 }, (database) => {
  test('moves an organization to a new key while it is used, and takes the earlier one away later', async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const id = world.root.organizationId;
    const other = (await createSubOrganization(world.root, 'another')).organizationId;
    const [before, untouched] = [await keysOf(server, id), await keysOf(server, other)];
    expect(before.used).toEqual(before.own);
    expectRefusal(await rotate(server, 'nobody'), /there is no organization nobody: nothing was changed/);

    // An unfinished rotation of the root key keeps it from beginning.
    const rotation = ['rotation', JSON.stringify({ id: 'earlier', to: '00'.repeat(16) })];
    await writeDatabase(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', rotation);
    expectRefusal(await rotate(server, id), /`custos keyring rotate` was interrupted: run it again first/);
    await writeDatabase(server, 'DELETE FROM deployment WHERE name = ?', ['rotation']);
    expect(await keysOf(server, id)).toEqual(before);

    // Killed when both keys are there: everything works, also after a start.
    await killAtFirstLine(server, id);
    const both = await keysOf(server, id);
    expect(both).toEqual({ own: [expect.any(String), before.own[0]], used: before.own });
    expect(await server.stop()).toBe(0);
    await server.start();
    const again = world.at(server.baseUrl);
    await again.expectWorking();
    await expectAllOpen(server);

    const surprises: unknown[] = [];
    let isDone = false;
    const load = (async () => {
      for (let turn = 0; !isDone; turn += 1) {
        const made = await again.root.submit('create_wallet', newWallet(`wallet ${turn}`));
        const signed = await again.sign(again.address);
        for (const { status, body } of [made, signed]) if (status !== 200 && status !== 503) surprises.push(body);
      }
    })();
    const first = await rotate(server, id);
    isDone = true;
    await load;
    expect(surprises).toEqual([]);
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^[0-9]+ secrets of organization \S+ re-wrapped; run this again after 20/),
    });
    const moved = await keysOf(server, id);
    expect(moved.own).toEqual(both.own);
    expect(moved.used).toEqual([both.own[0]]);

    // A new root key takes both along.
    expect(await runCli(server.environment, 'keyring', 'rotate', '--yes')).toMatchObject({ code: 0 });
    await writeDatabase(server, 'UPDATE deployment SET value = ? WHERE name = ?', [
      String(Date.now() - 2 * HOUR_MS),
      `organization-key:${id}`,
    ]);
    expect(await rotate(server, id)).toMatchObject({
      code: 0,
      stdout: `0 secrets of organization ${id} re-wrapped; the earlier key is gone\n`,
    });
    expect(await keysOf(server, id)).toEqual({ own: [both.own[0]], used: [both.own[0]] });
    expect((await keysOf(server, other)).used).toEqual(untouched.used);
    await expectAllOpen(server);
    await again.expectWorking();
  });

  // Its secrets are another column of the same statements.
  if (!databasesOf(import.meta.url).includes(database)) return;

  test('moves the service itself to a new key, with its own keys and those of the operator', async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const own = async (): Promise<{ wrapped: string[]; used: string[] }> => {
      await using tables = await openTables(server.dataDir, server.databaseUrl);
      const [facts = []] = await tables.read("SELECT value FROM deployment WHERE name = 'deployment_key'");
      const wrapped = String(facts[0]?.value);
      const used = new Set<string>();
      for (const { table, column, organizationId } of sealedColumns(dataModel.tables)) {
        if (organizationId === undefined) continue;
        const [rows = []] = await tables.read(`SELECT ${column} FROM ${table}`);
        expect(rows.length).toBeGreaterThan(0);
        for (const row of rows) used.add(Buffer.from(row[column]).toString('hex').slice(4, 36));
      }
      return { wrapped: [wrapped.slice(36, 68), wrapped.slice(224, 256)].filter((key) => key !== ''), used: [...used] };
    };
    const before = await own();
    expect(before.used).toEqual(before.wrapped);

    await killAtFirstLine(server, 'deployment');
    const both = await own();
    expect(both).toEqual({ wrapped: [expect.any(String), before.wrapped[0]], used: before.wrapped });
    expect(await server.stop()).toBe(0);
    await server.start();
    const again = world.at(server.baseUrl);
    await again.expectWorking();
    expect(await rotate(server, 'deployment')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^[0-9]+ secrets of the deployment re-wrapped; run this again after 20/),
    });
    expect(await own()).toEqual({ wrapped: both.wrapped, used: [both.wrapped[0]] });

    // A new root key takes both along, and the old one is known to be needed until then.
    expect(await runCli(server.environment, 'keyring', 'rotate', '--yes')).toMatchObject({ code: 0 });
    expect((await own()).wrapped).toEqual(both.wrapped);
    const since = [String(Date.now() - 2 * HOUR_MS), 'organization-key:deployment'];
    await writeDatabase(server, 'UPDATE deployment SET value = ? WHERE name = ?', since);
    expect(await rotate(server, 'deployment')).toMatchObject({
      code: 0,
      stdout: '0 secrets of the deployment re-wrapped; the earlier key is gone\n',
    });
    expect(await own()).toEqual({ wrapped: [both.wrapped[0]], used: [both.wrapped[0]] });
    await expectAllOpen(server);
    await again.expectWorking();
    // A new service key is under the new key alone.
    const replaced = await runCli(server.environment, 'keyring', 'rotate-service-key', 'otp', '--compromised', '--yes');
    expect(replaced).toMatchObject({ code: 0 });
    expect((await own()).used).toEqual([both.wrapped[0]]);
    expect(await server.stop()).toBe(0);
    await server.start();
    await world.at(server.baseUrl).expectWorking();
  });
});
