import { describe, expect, test } from 'vitest';
import { createUser, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';

describe.each(DATABASES)('first steps on %s', (database) => {
  test('the first credentials work', async () => {
    await using server = await TestServer.start({ database });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const { status, body } = await root.query('whoami');
    expect(status).toBe(200);
    expect(body).toEqual({
      organizationId: root.organizationId,
      organizationName: 'My organization',
      userId: root.userId,
      username: 'Root user',
    });
  });

  test('a quorum of two needs two', async () => {
    await using server = await TestServer.start({ database });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const second = await createUser(root, 'second');
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    const pending = await root.submit('update_user_name', { userId: second.userId, userName: 'renamed' });
    expect(pending.body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    const { fingerprint } = pending.body.activity;
    const done = await second.submit('approve_activity', { fingerprint });
    expect(done.body.activity).toMatchObject({
      id: pending.body.activity.id,
      status: 'ACTIVITY_STATUS_COMPLETED',
      result: { updateUserNameResult: { userId: second.userId } },
    });
    const { body } = await root.query('get_user', { userId: second.userId });
    expect(body.user.userName).toBe('renamed');
  });
});
