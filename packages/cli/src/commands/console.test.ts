import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { newKeyPair, send } from '../../../server/test/harness/client.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/custos.js', import.meta.url));

/** Runs the built program, as its user does. */
function custos(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('prints links that sign in, each once; without a service or a file it says what is missing', async () => {
  await using server = await TestServer.start();
  const env = { CUSTOS_DATA_DIR: server.dataDir };
  const links = [custos(['console'], env), custos(['console'], env)].map(({ status, stdout, stderr }) => {
    expect([status, stderr]).toEqual([0, '']);
    return stdout;
  });
  expect(links[0]).toMatch(/^http:\/\/localhost:\d+\/console#link=[\w-]{43}\n$/);
  expect(links[0]).not.toBe(links[1]);
  const origin = server.baseUrl;
  for (const [link, status] of [
    [links[0], 200],
    [links[0], 401],
    [links[1], 200],
  ] as const) {
    const token = link?.trim().split('#link=')[1];
    const body = JSON.stringify({ token, publicKey: newKeyPair().publicKey });
    expect((await send(server.baseUrl, '/console/link', body, { origin })).status).toBe(status);
  }

  await server.stop();
  expect(custos(['console'], env)).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^custos: no answer from http:\S+ .*is the service running\?.*\n$/),
  });
  const folder = mkdtempSync(join(tmpdir(), 'custos-console-'));
  try {
    expect(custos(['console'], { CUSTOS_DATA_DIR: folder })).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^custos: no credentials in \S+: there is no such file .*\n$/),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('where there are no links it says why', async () => {
  await using server = await TestServer.start({ env: { CUSTOS_CONSOLE: 'off' } });
  expect(custos(['console'], { CUSTOS_DATA_DIR: server.dataDir })).toEqual({
    status: 1,
    stdout: '',
    stderr: 'custos: the console is switched off (CUSTOS_CONSOLE)\n',
  });
});
