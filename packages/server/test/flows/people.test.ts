import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SEARCHED_MAX } from '../../src/storage/text-match.ts';
import { currentStyle, newPasskey } from '../fixtures/passkey.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { builderOf } from '../storage/place.ts';
import { outcome } from './fixtures/wallets.ts';

const LATER_MS = 300_000;

interface Credential {
  readonly credentialId: string;
  readonly userId: string;
  readonly kind: string;
  readonly name: string;
  readonly expiresAt?: string;
  readonly lastUsedAt?: string;
}

describe.each(DATABASES)('people of an organization on %s', (database) => {
  let service: TestApp;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database, { CUSTOS_DEV_INBOX: 'on' });
    root = await createSubOrganization(service.root, 'People');
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const credentialsOf = async (userId: string, client = root): Promise<Credential[]> =>
    (await client.query('list_credentials', { userId })).body.credentials;
  const summaryOf = async (userId: string) =>
    (await root.query('list_user_summaries')).body.users.find((user: { userId: string }) => user.userId === userId);
  const flush = () => service.app.lastUses.flush();
  const login = async (client: TestClient) => {
    const key = newKeyPair();
    await client.run('stamp_login', { publicKey: key.publicKey, expirationSeconds: '900' });
    return client.as(key, client.userId);
  };

  test('have credentials of every kind in one list', async () => {
    const ada = await createUser(root, 'Ada', { userEmail: 'ada@people.example' });
    const registration = currentStyle(newPasskey('Laptop').registration);
    await root.run('create_authenticators', { userId: ada.userId, authenticators: [registration] });
    const { publicKey } = newKeyPair();
    const build = { apiKeyName: 'Build', publicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: '86400' };
    await root.run('create_api_keys', { userId: ada.userId, apiKeys: [build] });
    await login(ada);
    const found = await credentialsOf(ada.userId);
    expect(found.map(({ kind, userId }) => [kind, userId])).toEqual(
      ['API_KEY', 'PASSKEY', 'API_KEY', 'SESSION'].map((kind) => [kind, ada.userId]),
    );
    expect(found[1]).toMatchObject({ name: 'Laptop', publicKey: expect.stringMatching(/^[0-9a-f]+$/) });
    expect(found.map(({ expiresAt }) => expiresAt !== undefined)).toEqual([false, false, true, true]);
    expect(await summaryOf(ada.userId)).toEqual({
      userId: ada.userId,
      userName: 'Ada',
      userEmail: 'ada@people.example',
      isRoot: false,
      isProgram: false,
      tagIds: [],
      passkeyCount: 1,
      apiKeyCount: 2,
      sessionCount: 1,
      oauthCount: 0,
      mfaPolicyCount: 0,
      lastSeenAt: expect.any(String),
      credentialExpiresAt: found[2]?.expiresAt,
    });
  });

  test('are pages of the same list, forwards and backwards', async () => {
    for (const name of ['P1', 'P2', 'P3']) await createUser(root, name);
    for (const [operation, field, id] of [
      ['list_credentials', 'credentials', 'credentialId'],
      ['list_user_summaries', 'users', 'userId'],
    ] as const) {
      const idsOf = (body: Record<string, Record<string, string>[]>) => body[field]?.map((item) => item[id]);
      const all = idsOf((await root.query(operation)).body) as string[];
      expect([...all].sort()).toEqual(all);
      const first = (await root.query(operation, { paginationOptions: { limit: '2' } })).body;
      expect(idsOf(first)).toEqual(all.slice(0, 2));
      expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
      const next = (await root.query(operation, { paginationOptions: { limit: '2', after: all[1] } })).body;
      expect(idsOf(next)).toEqual(all.slice(2, 4));
      const back = (await root.query(operation, { paginationOptions: { limit: '2', before: all[2] } })).body;
      expect(idsOf(back)).toEqual(all.slice(0, 2));
      const lost = await root.query(operation, { paginationOptions: { after: root.organizationId } });
      expect(outcome(lost)).toEqual([400, 'REQUEST_INVALID']);
    }
  });

  test('were last seen when a credential of theirs stamped, at most a minute later', async () => {
    const grace = await createUser(root, 'Grace');
    expect(await summaryOf(grace.userId)).not.toHaveProperty('lastSeenAt');
    expect((await credentialsOf(grace.userId))[0]).not.toHaveProperty('lastUsedAt');
    await grace.query('whoami');
    const first = (await credentialsOf(grace.userId))[0]?.lastUsedAt as string;
    service.advance(LATER_MS);
    await grace.query('whoami');
    // Not yet written: a request writes nothing for it.
    expect((await credentialsOf(grace.userId))[0]?.lastUsedAt).toBe(first);
    await flush();
    const second = (await credentialsOf(grace.userId))[0]?.lastUsedAt as string;
    expect(Date.parse(second) - Date.parse(first)).toBeGreaterThanOrEqual(LATER_MS);
    expect((await summaryOf(grace.userId)).lastSeenAt).toBe(second);
    // An older moment, as another process may write it late, changes nothing.
    await flush();
    expect((await credentialsOf(grace.userId))[0]?.lastUsedAt).toBe(second);
  });

  test('stay seen when the session by which they were is gone', async () => {
    const linus = await createUser(root, 'Linus');
    const session = await login(linus);
    service.advance(LATER_MS);
    await session.query('whoami');
    await flush();
    const { lastSeenAt } = await summaryOf(linus.userId);
    const [, key] = await credentialsOf(linus.userId);
    expect(key).toMatchObject({ kind: 'SESSION', lastUsedAt: lastSeenAt });
    await session.run('delete_api_keys', { userId: linus.userId, apiKeyIds: [key?.credentialId] });
    await flush();
    expect(await credentialsOf(linus.userId)).toHaveLength(1);
    expect(Date.parse((await summaryOf(linus.userId)).lastSeenAt)).toBeGreaterThanOrEqual(Date.parse(lastSeenAt));
    const rowsOf = async (id: string | undefined) =>
      await service.app.storage.write((store) =>
        builderOf(store).selectFrom('last_use').selectAll().where('id', '=', String(id)).execute(),
      );
    expect(await rowsOf(key?.credentialId)).toEqual([]);
    expect(await rowsOf(linus.userId)).toHaveLength(1);
    // A use that was noted before the user went does not come back behind it.
    await linus.query('whoami');
    await root.run('delete_users', { userIds: [linus.userId] });
    await flush();
    expect(await rowsOf(linus.userId)).toEqual([]);
  });

  test('who are refused for their address are not seen', async () => {
    const home = await createSubOrganization(service.root, 'Guarded');
    const outsider = await createUser(home, 'Outsider');
    const rules = [{ cidr: '10.0.0.0/8' }];
    await home.run('set_ip_allowlist', { publicKey: outsider.key.publicKey, rules, allowLockout: true });
    expect(outcome(await outsider.query('whoami'))).toEqual([403, 'IP_NOT_ALLOWED']);
    await flush();
    const rows = await service.app.storage.write((store) =>
      builderOf(store).selectFrom('last_use').selectAll().where('id', '=', outsider.userId).execute(),
    );
    expect(rows).toEqual([]);
  });

  test('are found by a piece of a name or email, without regard to case', async () => {
    await createUser(root, 'Barbara 100%_sure\\', { userEmail: 'Liskov@People.example' });
    const namesOf = async (text: string) =>
      (await root.query('list_user_summaries', { text })).body.users.map((user: { userName: string }) => user.userName);
    expect(await namesOf('bARb')).toEqual(['Barbara 100%_sure\\']);
    expect(await namesOf('lisKOV@')).toEqual(['Barbara 100%_sure\\']);
    expect(await namesOf('%_sure\\')).toEqual(['Barbara 100%_sure\\']);
    expect(await namesOf('b%a')).toEqual([]);
    expect(await namesOf('_')).toEqual(['Barbara 100%_sure\\']);
    for (const text of ['', '   ', 'x'.repeat(201), 'a\u0000b']) {
      expect(outcome(await root.query('list_user_summaries', { text }))).toEqual([400, 'REQUEST_INVALID']);
    }
  });

  test('of another organization are nobody', async () => {
    const stranger = await createSubOrganization(service.root, 'Stranger');
    expect(outcome(await stranger.query('list_credentials', { userId: root.userId }))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
    ]);
    const everybody = (await stranger.query('list_user_summaries')).body.users;
    expect(everybody.map(({ userId }: { userId: string }) => userId)).toEqual([stranger.userId]);
    const everything: Credential[] = (await stranger.query('list_credentials')).body.credentials;
    expect(everything.map(({ userId }) => userId)).toEqual([stranger.userId]);
    // The parent reads what its sub-organizations have.
    const parent = await service.root.query('list_user_summaries', { organizationId: stranger.organizationId });
    expect(parent.body.users[0]).toMatchObject({ userId: stranger.userId, isRoot: true, isProgram: true });
  });

  test('are searched as far as a search looks', async () => {
    const many = await createSubOrganization(service.root, 'Many');
    const nowMs = service.app.clock();
    const row = (index: number) => ({
      organization_id: many.organizationId,
      id: `ffffffff-0000-7000-8000-${index.toString(16).padStart(12, '0')}`,
      name: `Person ${index}`,
      email_verified: 0,
      phone_verified: 0,
      revision: 1,
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
    });
    for (let from = 0; from < SEARCHED_MAX; from += 1000) {
      const rows = Array.from({ length: 1000 }, (_, index) => row(from + index));
      const marked = rows.map((user) => service.app.storage.integrity.marked('app_user', user));
      await service.app.storage.write((store) => builderOf(store).insertInto('app_user').values(marked).execute());
    }
    const search = async (text: string) =>
      (await many.query('list_user_summaries', { text, paginationOptions: { limit: '5' } })).body;
    expect(await search('person 9999')).toMatchObject({ users: [{ userName: 'Person 9999' }], isPartial: true });
    // The root user is the oldest of one more than are looked at.
    expect((await search('many')).users).toEqual([]);
  });

  test('were invited, newest first', async () => {
    const host = await createSubOrganization(service.root, 'Host');
    const invite = async (name: string) =>
      await host.run('create_invitations', {
        invitations: [
          {
            receiverUserName: name,
            receiverUserEmail: `${name}@people.example`,
            receiverUserTags: [],
            accessType: 'ACCESS_TYPE_ALL',
            senderUserId: host.userId,
          },
        ],
      });
    const [first] = (await invite('one')).invitationIds;
    await invite('two');
    await host.run('delete_invitation', { invitationId: first });
    const { invitations } = (await host.query('list_invitations')).body;
    expect(
      invitations.map((item: { receiverUserName: string; status: string }) => [item.receiverUserName, item.status]),
    ).toEqual([
      ['two', 'INVITATION_STATUS_CREATED'],
      ['one', 'INVITATION_STATUS_REVOKED'],
    ]);
    expect(Date.parse(invitations[0].expiresAt)).toBeGreaterThan(Date.parse(invitations[0].createdAt));
    const page = (await host.query('list_invitations', { paginationOptions: { limit: '1' } })).body;
    expect(page.invitations).toEqual(invitations.slice(0, 1));
    expect(page.pageInfo.hasNextPage).toBe(true);
    expect((await root.query('list_invitations')).body.invitations).toEqual([]);
  });
});
