import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { approve, COMPLETED, FAILED, outcome, PENDING, policyFor, Rows, read, reject } from '../fixtures/access.ts';

describe.each(databasesOf(import.meta.url))('a proposal of a user who was deleted, on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let rows: Rows;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    rows = await Rows.open(service.app.config);
  });
  afterAll(async () => {
    await rows[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  /** Two of four members decide, also on logins, because a policy denies those. */
  async function newOrganization() {
    const root = await createSubOrganization(parent, `Org ${randomUUID()}`);
    const second = await createUser(root, 'second');
    const third = await createUser(root, 'third');
    const leaver = await createUser(root, 'leaver');
    await policyFor(root, root, {
      effect: 'EFFECT_DENY',
      condition: "activity.type == 'ACTIVITY_TYPE_STAMP_LOGIN'",
      consensus: 'true',
    });
    await policyFor(root, leaver, {
      condition: "activity.type == 'ACTIVITY_TYPE_DELETE_USERS'",
      consensus: [leaver, second].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && '),
    });
    const quorum = (members: TestClient[]) => ({ threshold: 2, userIds: members.map(({ userId }) => userId) });
    await root.run('update_root_quorum', quorum([root, second, third, leaver]));
    const together = async (operation: string, parameters: unknown) => {
      const { body } = await root.submit(operation, parameters);
      const done = await approve(second, body.activity.fingerprint);
      expect(outcome(done), operation).toEqual([200, COMPLETED]);
    };
    const deleteLeaver = async () => {
      await together('update_root_quorum', quorum([root, second, third]));
      await together('delete_users', { userIds: [leaver.userId] });
    };
    return { root, second, third, leaver, deleteLeaver, together };
  }

  const keysOf = async (client: TestClient, userId: string): Promise<string[]> =>
    (await client.query('get_api_keys', { userId })).body.apiKeys.map(
      (key: { credential: { publicKey: string } }) => key.credential.publicKey,
    );
  const everyKey = async (client: TestClient, ...users: TestClient[]): Promise<string[]> =>
    (await Promise.all(users.map(({ userId }) => keysOf(client, userId)))).flat();
  const login = (client: TestClient, publicKey: string) => client.submit('stamp_login', { publicKey });

  test('while the user is there, the approved login registers its key', async () => {
    const { root, second, leaver } = await newOrganization();
    const { publicKey } = newKeyPair();
    const asked = await login(leaver, publicKey);
    expect(outcome(asked)).toEqual([200, PENDING]);
    expect(outcome(await approve(second, asked.body.activity.fingerprint))).toEqual([200, COMPLETED]);
    expect(await keysOf(root, leaver.userId)).toContain(publicKey);
  });

  test('fails when the user is deleted, and says why', async () => {
    const { root, second, third, leaver, deleteLeaver } = await newOrganization();
    const { publicKey } = newKeyPair();
    const asked = (await login(leaver, publicKey)).body.activity;
    await deleteLeaver();
    expect(await read(root, asked.id)).toMatchObject({
      status: FAILED,
      failure: { message: expect.stringMatching(/proposed .* was deleted/) },
      canApprove: false,
      canReject: false,
    });
    for (const voter of [second, third]) {
      expect(outcome(await approve(voter, asked.fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(outcome(await reject(voter, asked.fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
    }
    expect(await everyKey(root, root, second, third)).not.toContain(publicKey);
  });

  test('one that an older version left open fails at the next vote and runs as nobody', async () => {
    const { root, second, third, leaver, deleteLeaver } = await newOrganization();
    const { publicKey } = newKeyPair();
    const asked = (await login(leaver, publicKey)).body.activity;
    await deleteLeaver();
    await rows.run('UPDATE activity SET status = ?, failure = NULL WHERE organization_id = ? AND id = ?', [
      PENDING,
      root.organizationId,
      asked.id,
    ]);
    expect(await read(root, asked.id)).toMatchObject({ status: PENDING });
    const voted = await approve(second, asked.fingerprint);
    expect(outcome(voted)).toEqual([200, FAILED]);
    expect(voted.body.activity.failure.message).toMatch(/proposed .* was deleted/);
    expect(outcome(await approve(third, asked.fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
    expect(await everyKey(root, root, second, third)).not.toContain(publicKey);
  });

  test('a user who proposes its own deletion is deleted', async () => {
    const { root, second, third, leaver, together } = await newOrganization();
    const userIds = [root, second, third].map(({ userId }) => userId);
    await together('update_root_quorum', { threshold: 2, userIds });
    const asked = (await leaver.submit('delete_users', { userIds: [leaver.userId] })).body.activity;
    expect(asked.status).toBe(PENDING);
    expect(outcome(await approve(second, asked.fingerprint))).toEqual([200, COMPLETED]);
    expect((await root.query('get_user', { userId: leaver.userId })).status).toBe(404);
    expect(await read(root, asked.id)).toMatchObject({ status: COMPLETED });
  });

  test('what others proposed stays open', async () => {
    const { root, second, deleteLeaver } = await newOrganization();
    const asked = (await root.submit('create_user_tag', { userTagName: 'kept', userIds: [] })).body.activity;
    await deleteLeaver();
    expect(outcome(await approve(second, asked.fingerprint))).toEqual([200, COMPLETED]);
  });
});
