import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { TestClient } from '../../../server/test/harness/client.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/custos.js', import.meta.url));

test('prints the sentence, the risk and every field of an activity', async () => {
  await using server = await TestServer.start();
  const root = TestClient.root(server.credentials, server.baseUrl);
  const custos = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, 'describe', ...args], {
      env: { PATH: process.env.PATH ?? '', CUSTOS_DATA_DIR: server.dataDir },
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const { userIds } = await root.run('create_users', {
    users: [
      {
        userName: 'Ada\u202e',
        userEmail: 'ada@example.com',
        userTags: [],
        apiKeys: [],
        authenticators: [],
        oauthProviders: [],
      },
    ],
  });
  const deleted = await root.submit('delete_users', { userIds });
  const { id } = deleted.body.activity;
  const shown = custos(id);
  expect(shown).toMatchObject({ status: 0, stderr: '' });
  const lines = shown.stdout.split('\n');
  expect(lines[0]).toBe('Delete users');
  expect(lines[1]).toMatch(/^Delete user [0-9a-f]{8}… with all credentials, for ever\.$/);
  expect(shown.stdout).toContain('Look closely: deletes people or programs\nTo approve it means: ');
  expect(shown.stdout).toContain(userIds[0]);
  const { activities } = (await root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_CREATE_USERS_V4'] }))
    .body;
  // A name cannot turn the terminal's line around.
  expect(custos(activities[0].id).stdout).toContain('Add user Ada[U+202E].');
  expect(JSON.parse(custos(id, '--json').stdout)).toMatchObject({ activityId: id, risk: 'LOOK_CLOSELY' });
  expect(custos('00000000-0000-4000-8000-000000000000')).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^custos: .*activity not found.*\n$/),
  });
});
