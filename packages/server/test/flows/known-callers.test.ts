import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';

// Who holds a key is remembered between requests (docs/decisions/0047). Each test makes the service know a caller first and
// then changes what it knows.
describe.each(DATABASES)('a caller whom the service has seen before, on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  beforeAll(async () => {
    app = await openTestApp(database);
    root = app.root;
  });
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
  });

  const whoami = async (client: TestClient) => (await client.query('whoami')).body;
  const codeOf = async (client: TestClient) => (await whoami(client)).errorCode;
  /** A user whom the service knows, with a second key to act by. */
  async function known(name: string): Promise<{ readonly user: TestClient; readonly apiKeyId: string }> {
    const user = await createUser(root, name);
    const { body } = await user.query('get_api_keys', { userId: user.userId });
    for (let count = 0; count < 3; count += 1) expect(await codeOf(user)).toBeUndefined();
    return { user, apiKeyId: body.apiKeys[0].apiKeyId };
  }

  test('reads nothing once its key is deleted, however often it asks meanwhile', async () => {
    const { user, apiKeyId } = await known('Revoked');
    let isDeleted = false;
    const late: unknown[] = [];
    const asking = Array.from({ length: 8 }, async () => {
      for (let count = 0; count < 40; count += 1) {
        const wasDeleted = isDeleted;
        const code = await codeOf(user);
        if (wasDeleted && code !== 'PUBLIC_KEY_NOT_FOUND') late.push(code);
        // Who goes on after that is slowed down.
        if (code !== undefined) return;
      }
    });
    await root.run('delete_api_keys', { userId: user.userId, apiKeyIds: [apiKeyId] });
    isDeleted = true;
    await Promise.all(asking);
    expect(late).toEqual([]);
    expect(await codeOf(user)).toBe('PUBLIC_KEY_NOT_FOUND');
    const act = await user.submit('create_user_tag', { userTagName: 'late', userIds: [] });
    expect([act.status, act.body.errorCode]).toEqual([401, 'PUBLIC_KEY_NOT_FOUND']);
  });

  test('is gone with its user', async () => {
    const { user } = await known('Deleted');
    await root.run('delete_users', { userIds: [user.userId] });
    expect(await codeOf(user)).toBe('PUBLIC_KEY_NOT_FOUND');
  });

  test('is called by its new name at once, as is its organization', async () => {
    const { user } = await known('Before');
    await root.run('update_user_name', { userId: user.userId, userName: 'After' });
    expect((await whoami(user)).username).toBe('After');
    await root.run('update_organization_name', { organizationName: 'Another name' });
    expect((await whoami(user)).organizationName).toBe('Another name');
  });

  test('of the parent is gone from its sub-organizations too', async () => {
    const child = await createSubOrganization(root, 'Child');
    const { user, apiKeyId } = await known('Of the parent');
    const there = new (user.constructor as typeof TestClient)(user.baseUrl, child.organizationId, user.key);
    expect(await codeOf(there)).toBeUndefined();
    await root.run('delete_api_keys', { userId: user.userId, apiKeyIds: [apiKeyId] });
    expect(await codeOf(there)).toBe('PUBLIC_KEY_NOT_FOUND');
  });

  test('of a sub-organization that is deleted is gone with it', async () => {
    const child = await createSubOrganization(root, 'Short-lived');
    expect(await codeOf(child)).toBeUndefined();
    await child.run('delete_sub_organization', { deleteWithoutExport: true });
    expect(await codeOf(child)).toBe('ORGANIZATION_NOT_FOUND');
  });

  test('is asked for by the quorum of the moment', async () => {
    const child = await createSubOrganization(root, 'Two of two');
    const second = await createUser(child, 'Second');
    expect(await codeOf(child)).toBeUndefined();
    await child.run('update_root_quorum', { threshold: 2, userIds: [child.userId, second.userId] });
    const { body } = await child.submit('create_user_tag', { userTagName: 'alone', userIds: [] });
    expect(body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    await second.submit('approve_activity', { fingerprint: body.activity.fingerprint });
    await child.submit('update_root_quorum', { threshold: 1, userIds: [child.userId] });
  });

  test('is bound by the rules of the moment', async () => {
    const { user } = await known('Ruled');
    const denied = await user.submit('create_user_tag', { userTagName: 'denied', userIds: [] });
    expect(denied.status).toBe(403);
    const { policyId } = await root.run('create_policy', {
      policyName: 'ruled',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${user.userId}')`,
      condition: 'true',
      notes: '',
    });
    await user.run('create_user_tag', { userTagName: 'allowed', userIds: [] });
    await root.run('delete_policy', { policyId });
    expect((await user.submit('create_user_tag', { userTagName: 'again', userIds: [] })).status).toBe(403);
  });

  test('whose key expires is told so', async () => {
    const user = await createUser(root, 'Expiring');
    const key = newKeyPair();
    await user.run('create_api_keys', {
      userId: user.userId,
      apiKeys: [
        { apiKeyName: 'short', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: '60' },
      ],
    });
    const short = user.as(key);
    expect(await codeOf(short)).toBeUndefined();
    app.advance(61_000);
    expect(await codeOf(short)).toBe('API_KEY_EXPIRED');
  });

  test('is remembered as it was where a change was undone', async () => {
    const { user } = await known('Steady');
    const taken = await createUser(root, 'Taken', { userEmail: 'taken@example.com' });
    const refused = await root.submit('update_user_email', { userId: user.userId, userEmail: 'taken@example.com' });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect((await whoami(user)).username).toBe('Steady');
    expect(await codeOf(taken)).toBeUndefined();
  });

  test('is gone when another program deletes its key', async () => {
    const { user, apiKeyId } = await known('Elsewhere');
    const statement = `DELETE FROM api_key WHERE id = '${apiKeyId}'`;
    if (database === 'sqlite') {
      const file = new SqliteFile(join(app.app.config.dataDir, 'custos.db'));
      file.exec(statement);
      file.close();
    } else {
      const client = new pg.Client({ connectionString: app.app.config.databaseUrl });
      await client.connect();
      await client.query(statement);
      await client.end();
    }
    expect(await codeOf(user)).toBe('PUBLIC_KEY_NOT_FOUND');
  });

  test('that sends the same bytes again gets the same activity', async () => {
    const { user } = await known('Repeating');
    const body = root.submitBody('create_user_tag', { userTagName: 'once', userIds: [] });
    const ids = [];
    for (let count = 0; count < 3; count += 1) {
      const answer = await root.sendStamped('/public/v1/submit/create_user_tag', body);
      ids.push(answer.body.activity.id);
      await whoami(user);
    }
    expect(new Set(ids).size).toBe(1);
  });
});
