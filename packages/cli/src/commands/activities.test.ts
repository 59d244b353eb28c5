import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { TestClient } from '../../../server/test/harness/client.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/custos.js', import.meta.url));

test('prints a line for what happens, until it is interrupted', async () => {
  await using server = await TestServer.start();
  const root = TestClient.root(server.credentials, server.baseUrl);
  const child = spawn(process.execPath, [PROGRAM, 'activities', 'follow'], {
    env: { PATH: process.env['PATH'] ?? '', CUSTOS_DATA_DIR: server.dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let isPrinted = false;
    const line = new Promise<string>((resolve) => {
      child.stdout.setEncoding('utf8').once('data', (text: string) => {
        isPrinted = true;
        resolve(text);
      });
    });
    // It follows from when it is connected on, which nobody is told.
    const ids = new Set<string>();
    while (!isPrinted) {
      const { body } = await root.submit('update_user_name', { userId: root.userId, userName: 'Followed' });
      ids.add(body.activity.id);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const [, at, id] = /^(\S+) activity (\S+) UPDATE_USER_NAME COMPLETED\n/.exec(await line) ?? [];
    expect(ids).toContain(id);
    expect(new Date(at ?? '').getTime()).toBeGreaterThan(Date.now() - 60_000);
  } finally {
    child.kill('SIGKILL');
  }
});
