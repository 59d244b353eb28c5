import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
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

test('shows whom the credentials belong to, and one line once the service is gone', async () => {
  await using server = await TestServer.start();
  const env = { CUSTOS_DATA_DIR: server.dataDir };
  const { organizationId, userId } = server.credentials;
  const { stdout, ...rest } = custos(['whoami'], env);
  expect(rest).toEqual({ status: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    organizationId,
    organizationName: 'My organization',
    userId,
    username: 'Root user',
  });
  expect(custos(['whoami', '--credentials', join(server.dataDir, 'root-credentials.json')]).status).toBe(0);

  await server.stop();
  expect(custos(['whoami'], env)).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^custos: no answer from http:\S+: .*is the service running\?.*\n$/),
  });
});

test('a file that is missing or is something else is one line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'custos-whoami-'));
  try {
    const missing = join(folder, 'root-credentials.json');
    expect(custos(['whoami'], { CUSTOS_DATA_DIR: folder })).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^custos: no credentials in \S+: there is no such file .*\n$/),
    });
    writeFileSync(missing, '[1]');
    expect(custos(['whoami', '--credentials', missing]).stderr).toMatch(
      /^custos: \S+ is not a credentials file: no baseUrl\n$/,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
