import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { UserReader } from '../../src/domains/users/store/users.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { remark } from '../harness/remark.ts';

// Lists of users are kept as they were written (docs/decisions/0052). Each test lets the service keep one first and then changes
// what it is made of.
describe.each(DATABASES)('a list of users that was answered before, on %s', (database) => {
  let app: TestApp;
  let client: TestClient;
  let member: TestClient;
  beforeAll(async () => {
    app = await openTestApp(database);
  });
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    client = await createSubOrganization(app.root, 'Listed');
    member = await createUser(client, 'Member');
    for (let count = 0; count < 3; count += 1) await list();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  // biome-ignore lint/suspicious/noExplicitAny: answers are compared, not used.
  const list = async (asking = client, parameters = {}): Promise<any[]> =>
    (await asking.query('list_users', parameters)).body.users;
  const shown = async () => (await list()).find(({ userId }) => userId === member.userId);

  test('is read again only where others may write to the database', async () => {
    // The first use of a key is noted.
    await list(member);
    await list();
    const page = vi.spyOn(UserReader.prototype, 'page');
    const before = await list();
    expect(await list(member)).toEqual(before);
    expect(page).toHaveBeenCalledTimes(database === 'sqlite' ? 0 : 2);
    page.mockClear();
    await list(client, { paginationOptions: { limit: '1' } });
    expect(page).toHaveBeenCalledOnce();
  });

  test('shows a new name, email and phone number at once', async () => {
    await client.run('update_user_name', { userId: member.userId, userName: 'Renamed' });
    expect((await shown()).userName).toBe('Renamed');
    await client.run('update_user_email', { userId: member.userId, userEmail: 'member@example.com' });
    expect((await shown()).userEmail).toBe('member@example.com');
    await client.run('update_user_phone_number', { userId: member.userId, userPhoneNumber: '+15555550100' });
    expect((await shown()).userPhoneNumber).toBe('+15555550100');
  });

  test('shows users who came and not those who went', async () => {
    const added = await createUser(client, 'Added');
    expect((await list()).map(({ userId }) => userId)).toContain(added.userId);
    await client.run('delete_users', { userIds: [added.userId] });
    expect((await list()).map(({ userId }) => userId)).not.toContain(added.userId);
  });

  test('shows keys that came and not those that went', async () => {
    const before = (await shown()).apiKeys.length;
    const { apiKeyIds } = await client.run('create_api_keys', {
      userId: member.userId,
      apiKeys: [{ apiKeyName: 'Second', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
    });
    expect((await shown()).apiKeys).toHaveLength(before + 1);
    await client.run('delete_api_keys', { userId: member.userId, apiKeyIds });
    expect((await shown()).apiKeys).toHaveLength(before);
  });

  test('shows tags that were given and taken', async () => {
    const { userTagId } = await client.run('create_user_tag', { userTagName: 'Tag', userIds: [member.userId] });
    expect((await shown()).userTags).toEqual([userTagId]);
    await client.run('delete_user_tags', { userTagIds: [userTagId] });
    expect((await shown()).userTags).toEqual([]);
  });

  test('shows MFA policies that were made, changed and deleted', async () => {
    const { mfaPolicyId } = await client.run('create_mfa_policy', {
      userId: member.userId,
      mfaPolicyName: 'Two keys',
      condition: "activity.action == 'SIGN'",
      requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] }],
      order: 0,
    });
    expect((await shown()).mfaPolicies).toHaveLength(1);
    await client.run('update_mfa_policy', {
      userId: member.userId,
      mfaPolicyId,
      mfaPolicyName: 'Renamed',
    });
    expect((await shown()).mfaPolicies[0].mfaPolicyName).toBe('Renamed');
    await client.run('delete_mfa_policy', { userId: member.userId, mfaPolicyId });
    expect((await shown()).mfaPolicies).toEqual([]);
  });

  test('is that of the organization that is asked', async () => {
    const other = await createSubOrganization(app.root, 'Other');
    const ids = (await list(other)).map(({ userId }) => userId);
    expect(ids).not.toContain(member.userId);
    expect(ids).toContain(other.userId);
  });

  test('is refused to those who may not ask, and to a key that is gone', async () => {
    const stranger = await createSubOrganization(app.root, 'Stranger');
    const body = JSON.stringify({ organizationId: client.organizationId });
    const refused = await stranger.sendStamped('/public/v1/query/list_users', body);
    expect(refused.status).toBe(401);
    const { body: keys } = await client.query('get_api_keys', { userId: member.userId });
    await list(member);
    await client.run('delete_api_keys', { userId: member.userId, apiKeyIds: [keys.apiKeys[0].apiKeyId] });
    expect((await member.query('list_users')).status).toBe(401);
  });

  test('never shows less than what was acknowledged, while names change', async () => {
    let acknowledged = 0;
    let isOver = false;
    const late: string[] = [];
    const reading = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const least = acknowledged;
        const name: string = (await shown()).userName;
        if (Number(name.slice(1)) < least) late.push(`${name} after n${least}`);
      }
    });
    for (let count = 1; count <= 30; count += 1) {
      await client.run('update_user_name', { userId: member.userId, userName: `n${count}` });
      acknowledged = count;
    }
    isOver = true;
    await Promise.all(reading);
    expect(late).toEqual([]);
  });

  test('shows what another program wrote', async () => {
    const statement = `UPDATE app_user SET name = 'Aside' WHERE id = '${member.userId}'`;
    if (database === 'sqlite') {
      const file = new SqliteFile(join(app.app.config.dataDir, 'custos.db'));
      file.exec(statement);
      file.close();
    } else {
      const other = new pg.Client({ connectionString: app.app.config.databaseUrl });
      await other.connect();
      await other.query(statement);
      await other.end();
    }
    await remark(app.app.config, 'app_user');
    expect((await shown()).userName).toBe('Aside');
  });
});
