import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  addApiKey,
  addPasskey,
  approve,
  COMPLETED,
  FAILED,
  outcome,
  type PasskeyCaller,
  PENDING,
  path,
  policyFor,
  propose,
  REJECTED,
  read,
  reject,
  tagNames,
  UNPROVEN,
  voters,
} from '../fixtures/access.ts';
import { API_KEY, enforce, KEY_THEN_PASSKEY, mfaParameters, openMfa, PASSKEY, statuses, step } from './support.ts';

describe.each(databasesOf(import.meta.url))('MFA on %s', (database) => {
  const suite = openMfa(database);
  const { newOrg, newUser } = suite;

  /** Root users with a passkey each; those that are armed must prove key and passkey for every tag. */
  async function newQuorum(members: number, threshold: number, armed: readonly number[]) {
    const first = await newOrg();
    const clients = [first];
    while (clients.length < members) clients.push(await createUser(first, `member ${clients.length}`));
    const passkeys: PasskeyCaller[] = [];
    for (const client of clients) passkeys.push(await addPasskey(client, first));
    for (const index of armed) {
      const condition = "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'";
      await enforce(first, clients[index] as TestClient, KEY_THEN_PASSKEY, { condition });
    }
    await first.run('update_root_quorum', { threshold, userIds: clients.map(({ userId }) => userId) });
    return { clients, passkeys } as {
      clients: [TestClient, TestClient, TestClient];
      passkeys: [PasskeyCaller, PasskeyCaller, PasskeyCaller];
    };
  }

  /** A user of an organization whose root quorum is two. */
  async function createUserBy([first, second]: readonly TestClient[], userName: string): Promise<TestClient> {
    const key = newKeyPair();
    const apiKeys = [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }];
    const users = [{ userName, apiKeys, authenticators: [], oauthProviders: [], userTags: [] }];
    const { fingerprint } = (await first!.submit('create_users', { users })).body.activity;
    const { result } = (await approve(second!, fingerprint)).body.activity;
    return first!.as(key, (Object.values(result)[0] as { userIds: string[] }).userIds[0]);
  }

  describe('together with consensus', () => {
    test('the proposer first: nobody else approves before', async () => {
      const { clients, passkeys } = await newQuorum(2, 2, [0]);
      const [a, b] = clients;
      const { id, fingerprint } = (await propose(a, 'Two')).body.activity;
      const early = await approve(b, fingerprint);
      expect(outcome(early)).toEqual([400, 'FAILED_PRECONDITION']);
      expect(await read(b, id)).toMatchObject({ status: UNPROVEN, canApprove: false, canReject: true, votes: [] });
      expect(await read(a, id)).toMatchObject({ canApprove: true, canReject: true });
      const proved = await approve(passkeys[0], fingerprint);
      expect(outcome(proved)).toEqual([200, PENDING]);
      expect(voters(proved.body.activity)).toEqual([a.userId]);
      expect(await read(b, id)).toMatchObject({ status: PENDING, canApprove: true });
      expect(await read(a, id)).toMatchObject({ canApprove: false, canReject: true });
      expect(await tagNames(a)).toEqual([]);
      expect(outcome(await approve(b, fingerprint))).toEqual([200, COMPLETED]);
      expect(await tagNames(a)).toEqual(['Two']);
    });

    test('an approver is asked in its own answer, and its vote counts only once proven', async () => {
      const { clients, passkeys } = await newQuorum(3, 3, [1]);
      const [a, b, c] = clients;
      const { id, fingerprint } = (await propose(a)).body.activity;
      const asked = await approve(b, fingerprint);
      expect(outcome(asked)).toEqual([200, UNPROVEN]);
      expect(asked.body.activity).toMatchObject({ id, canApprove: true });
      expect(voters(asked.body.activity)).toEqual([a.userId]);
      // To everybody else it waits for votes, and it does wait for theirs.
      expect(await read(a, id)).toMatchObject({ status: PENDING });
      expect(await read(b, id)).toMatchObject({ status: PENDING, canApprove: true });
      expect(await statuses(c, id)).toMatchObject([{ userId: b.userId, satisfied: false }]);
      expect(await statuses(c, id, b.userId)).toHaveLength(1);
      expect(await statuses(c, id, c.userId)).toEqual([]);
      const third = await approve(c, fingerprint);
      expect(outcome(third)).toEqual([200, PENDING]);
      expect(voters(third.body.activity)).toEqual([a.userId, c.userId]);
      const done = await approve(passkeys[1], fingerprint);
      expect(outcome(done)).toEqual([200, COMPLETED]);
      expect(voters(done.body.activity).sort()).toEqual([a.userId, b.userId, c.userId].sort());
    });

    test('one who has yet to prove more keeps nobody from completing it', async () => {
      const { clients, passkeys } = await newQuorum(3, 2, [1]);
      const [a, b, c] = clients;
      const { id, fingerprint } = (await propose(a)).body.activity;
      expect(outcome(await approve(b, fingerprint))).toEqual([200, UNPROVEN]);
      const done = await approve(c, fingerprint);
      expect(outcome(done)).toEqual([200, COMPLETED]);
      expect(voters(done.body.activity)).toEqual([a.userId, c.userId]);
      // Too late to count: the approval that was begun only reads.
      expect((await approve(passkeys[1], fingerprint)).body.activity).toEqual(done.body.activity);
      expect(await statuses(a, id)).toMatchObject([{ userId: b.userId, satisfied: false }]);
    });

    test('each of several is asked for its own', async () => {
      const { clients, passkeys } = await newQuorum(3, 3, [0, 1, 2]);
      const [a, b, c] = clients;
      const { id, fingerprint } = (await propose(a)).body.activity;
      expect(outcome(await approve(passkeys[0], fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await approve(b, fingerprint))).toEqual([200, UNPROVEN]);
      expect(outcome(await approve(c, fingerprint))).toEqual([200, UNPROVEN]);
      // Another's passkey proves nothing for oneself.
      expect(outcome(await approve(passkeys[2], fingerprint))).toEqual([200, PENDING]);
      expect(voters(await read(a, id))).toEqual([a.userId, c.userId]);
      expect(outcome(await approve(passkeys[1], fingerprint))).toEqual([200, COMPLETED]);
      expect((await statuses(a, id)).map((entry: { satisfied: boolean }) => entry.satisfied)).toEqual([
        true,
        true,
        true,
      ]);
    });

    test('the bytes of the proposal are an approval that is asked for proofs like any other', async () => {
      const { clients, passkeys } = await newQuorum(2, 2, [1]);
      const [a, b] = clients;
      const body = a.submitBody('create_user_tag', { userTagName: 'Same', userIds: [] });
      const { fingerprint } = (await a.sendStamped(path('create_user_tag'), body)).body.activity;
      expect(outcome(await b.sendStamped(path('create_user_tag'), body))).toEqual([200, UNPROVEN]);
      expect(await tagNames(a)).toEqual([]);
      expect(outcome(await approve(passkeys[1], fingerprint))).toEqual([200, COMPLETED]);
    });

    test('the flags tell that who has yet to prove more, and whoever else may, can still approve', async () => {
      const root = await newOrg();
      const [a, b, c] = [await createUser(root, 'a'), await createUser(root, 'b'), await createUser(root, 'c')];
      const isOneOf = (...clients: TestClient[]) =>
        clients.map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' || ');
      await policyFor(root, a, { consensus: `(${isOneOf(a)}) && (${isOneOf(b, c)})` });
      const passkey = await addPasskey(b, root);
      await enforce(root, b, KEY_THEN_PASSKEY);
      const { id, fingerprint } = (await propose(a)).body.activity;
      const flags = async (client: TestClient) => {
        const { canApprove, canReject } = await read(client, id);
        return [canApprove, canReject];
      };
      for (const client of [b, c]) expect(await flags(client)).toEqual([true, true]);
      expect(outcome(await approve(b, fingerprint))).toEqual([200, UNPROVEN]);
      // Nothing counts yet, so nothing has changed for anybody.
      for (const client of [b, c]) expect(await flags(client)).toEqual([true, true]);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('without MFA there is nothing to tell', async () => {
      const { clients } = await newQuorum(2, 2, []);
      const { id } = (await propose(clients[0])).body.activity;
      expect(await statuses(clients[0], id)).toEqual([]);
      const unknown = await clients[0].query('get_mfa_status', { activityId: randomUUID() });
      expect(outcome(unknown)).toEqual([404, 'ACTIVITY_NOT_FOUND']);
    });

    test('every credential that proved something stands beside the approval', async () => {
      const root = await newOrg();
      const user = await createUser(root, 'user');
      const passkey = await addPasskey(user);
      // Allowed only with a passkey; the passkey is the first proof, and the last one is an API key.
      await policyFor(root, user, {
        consensus: "credentials.any(credential, credential.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')",
      });
      expect((await propose(user)).status).toBe(403);
      await enforce(root, user, [step(PASSKEY), step(API_KEY)]);
      const { fingerprint, status } = (await propose(passkey)).body.activity;
      expect(status).toBe(UNPROVEN);
      expect(outcome(await approve(user, fingerprint))).toEqual([200, COMPLETED]);
    });
  });

  describe('denials', () => {
    test('a denied request never asks for factors', async () => {
      const { root, user } = await newUser();
      const plain = await createUser(root, 'plain');
      await enforce(root, plain, [step(PASSKEY)]);
      await enforce(root, user, [step(PASSKEY)]);
      await policyFor(root, user, { effect: 'EFFECT_DENY' });
      for (const client of [plain, user]) {
        const denied = await propose(client);
        expect(outcome(denied)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
        const { activityId } = denied.body.details.find((entry: { activityId?: string }) => entry.activityId);
        expect((await read(root, activityId)).status).toBe(REJECTED);
        expect(await statuses(root, activityId)).toEqual([]);
      }
    });

    test('nor does a vote that no consensus waits for', async () => {
      const { clients } = await newQuorum(2, 2, []);
      const [root, second] = clients;
      const plain = await createUserBy(clients, 'plain');
      const armed = await root.submit('create_mfa_policy', mfaParameters(plain.userId, [step(PASSKEY)]));
      await approve(second, armed.body.activity.fingerprint);
      const { fingerprint, id } = (await propose(root)).body.activity;
      expect(outcome(await approve(plain, fingerprint))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      expect(await statuses(root, id)).toEqual([]);
    });

    test('what is forbidden meanwhile is not done by the last proof', async () => {
      const { root, user, passkey } = await newUser();
      await enforce(root, user, KEY_THEN_PASSKEY);
      const { id, fingerprint } = (await propose(user)).body.activity;
      const denyId = await policyFor(root, user, { effect: 'EFFECT_DENY' });
      const denied = await approve(passkey, fingerprint);
      expect(outcome(denied)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      expect(JSON.stringify(denied.body)).toContain(denyId);
      expect((await read(root, id)).status).toBe(REJECTED);
      expect(await tagNames(root)).toEqual([]);
    });

    test('a waiting submission can be withdrawn, and refused by those who could approve it', async () => {
      const { root, user, passkey } = await newUser();
      const plain = await createUser(root, 'plain');
      await enforce(root, user, KEY_THEN_PASSKEY);
      const mine = (await propose(user)).body.activity;
      expect((await reject(plain, mine.fingerprint)).status).toBe(403);
      expect(outcome(await reject(user, mine.fingerprint))).toEqual([200, REJECTED]);
      const other = (await propose(user)).body.activity;
      expect(outcome(await reject(root, other.fingerprint))).toEqual([200, REJECTED]);
      for (const { fingerprint } of [mine, other]) {
        // Its submission was an approval already, so that another one only reads.
        expect(outcome(await approve(passkey, fingerprint))).toEqual([200, REJECTED]);
        expect(outcome(await approve(root, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      }
      expect(await tagNames(root)).toEqual([]);
    });
  });

  describe('changes meanwhile', () => {
    test.each([
      ['made easier', { requiredAuthenticationMethods: [step(API_KEY)] }],
      ['made harder', { requiredAuthenticationMethods: [step(API_KEY), step(PASSKEY), step(PASSKEY)] }],
      ['made to select nothing', { condition: 'false' }],
    ])('a policy that is %s holds as it was for what waits already', async (_what, change) => {
      const { root, user, passkey } = await newUser();
      const mfaPolicyId = await enforce(root, user, KEY_THEN_PASSKEY);
      const { id, fingerprint } = (await propose(user)).body.activity;
      await root.run('update_mfa_policy', { userId: user.userId, mfaPolicyId, ...change });
      expect((await statuses(user, id))[0].requiredMethods).toEqual(KEY_THEN_PASSKEY);
      expect(outcome(await approve(user, fingerprint))).toEqual([200, UNPROVEN]);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a deleted policy still holds for what waits, and for nothing new', async () => {
      const { root, user, passkey } = await newUser();
      const mfaPolicyId = await enforce(root, user, KEY_THEN_PASSKEY);
      const { fingerprint } = (await propose(user)).body.activity;
      await root.run('delete_mfa_policy', { userId: user.userId, mfaPolicyId });
      expect(outcome(await propose(user))).toEqual([200, COMPLETED]);
      expect(outcome(await approve(user, fingerprint))).toEqual([200, UNPROVEN]);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a policy that comes first meanwhile does not change what waits', async () => {
      const { root, user, passkey } = await newUser();
      await enforce(root, user, KEY_THEN_PASSKEY, { order: 3 });
      const { fingerprint } = (await propose(user)).body.activity;
      await enforce(root, user, [step(API_KEY)]);
      expect(outcome(await approve(user, fingerprint))).toEqual([200, UNPROVEN]);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('to change or delete a policy, its own proofs are needed', async () => {
      const root = await newOrg();
      const passkey = await addPasskey(root);
      const mfaPolicyId = await enforce(root, root, KEY_THEN_PASSKEY);
      const policies = async () => (await root.query('get_mfa_policies', { userId: root.userId })).body.mfaPolicies;
      const own = { userId: root.userId, mfaPolicyId };
      const change = await root.submit('update_mfa_policy', { ...own, condition: 'false' });
      expect(outcome(change)).toEqual([200, UNPROVEN]);
      const removal = await root.submit('delete_mfa_policy', own);
      expect(outcome(removal)).toEqual([200, UNPROVEN]);
      const another = await root.submit('create_mfa_policy', mfaParameters(root.userId, [step(API_KEY)]));
      expect(outcome(another)).toEqual([200, UNPROVEN]);
      expect(await policies()).toMatchObject([{ mfaPolicyId, condition: 'true' }]);
      expect(outcome(await approve(passkey, removal.body.activity.fingerprint))).toEqual([200, COMPLETED]);
      expect(await policies()).toEqual([]);
      expect(outcome(await propose(root))).toEqual([200, COMPLETED]);
    });

    test('a credential that signed out has proven what it proved; one that was taken away has not', async () => {
      const { root, user, passkey } = await newUser();
      const second = await addApiKey(user, root);
      const third = await addApiKey(user, root);
      const condition = "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'";
      await enforce(root, user, KEY_THEN_PASSKEY, { condition });
      const kept = (await propose(second.client)).body.activity;
      await second.client.run('delete_api_keys', { userId: user.userId, apiKeyIds: [second.apiKeyId] });
      expect((await approve(second.client, kept.fingerprint)).status).toBe(401);
      expect(outcome(await approve(passkey, kept.fingerprint))).toEqual([200, COMPLETED]);
      const lost = (await propose(third.client)).body.activity;
      await root.run('delete_api_keys', { userId: user.userId, apiKeyIds: [third.apiKeyId] });
      expect(outcome(await approve(passkey, lost.fingerprint))).toEqual([200, FAILED]);
    });
  });

  describe('records', () => {
    test('a policy is shown with its user, alone and in the list, in the order it is asked', async () => {
      const { root, user } = await newUser();
      const later = await enforce(root, user, [step(PASSKEY)], { order: 9, notes: 'why' });
      const earlier = await enforce(root, user, KEY_THEN_PASSKEY, { order: 1, condition: "activity.action == 'SIGN'" });
      const { mfaPolicies } = (await root.query('get_mfa_policies', { userId: user.userId })).body;
      expect(mfaPolicies).toMatchObject([
        { mfaPolicyId: earlier, order: 1, requiredAuthenticationMethods: KEY_THEN_PASSKEY },
        { mfaPolicyId: later, order: 9, notes: 'why', condition: 'true' },
      ]);
      const one = await root.query('get_mfa_policy', { userId: user.userId, mfaPolicyId: earlier });
      expect(one.body.mfaPolicy).toEqual(mfaPolicies[0]);
      const shown = (await root.query('get_user', { userId: user.userId })).body.user.mfaPolicies;
      expect(shown).toEqual(mfaPolicies);
      const { users } = (await root.query('list_users')).body;
      expect(users.find((entry: { userId: string }) => entry.userId === user.userId).mfaPolicies).toEqual(mfaPolicies);
      // A vote shows the user as it was.
      const { activity } = (await user.submit('update_user_name', { userId: user.userId, userName: 'x' })).body;
      expect(activity.status).toBe(UNPROVEN);
      // And it is nobody else's.
      const wrong = await root.query('get_mfa_policy', { userId: root.userId, mfaPolicyId: earlier });
      expect(outcome(wrong)).toEqual([404, 'RESOURCE_NOT_FOUND']);
      const stranger = await newOrg();
      expect((await stranger.query('get_mfa_policies', { userId: user.userId })).status).toBe(404);
      expect((await root.submit('delete_mfa_policy', { userId: root.userId, mfaPolicyId: earlier })).status).toBe(404);
    });

    test('a change keeps what it does not name', async () => {
      const { root, user } = await newUser();
      const mfaPolicyId = await enforce(root, user, KEY_THEN_PASSKEY, { order: 4, notes: 'kept' });
      await root.run('update_mfa_policy', { userId: user.userId, mfaPolicyId, mfaPolicyName: 'Renamed' });
      const { mfaPolicy } = (await root.query('get_mfa_policy', { userId: user.userId, mfaPolicyId })).body;
      expect(mfaPolicy).toMatchObject({
        mfaPolicyName: 'Renamed',
        order: 4,
        notes: 'kept',
        condition: 'true',
        requiredAuthenticationMethods: KEY_THEN_PASSKEY,
      });
    });

    test('deleting a user deletes its policies', async () => {
      const { root, user } = await newUser();
      await enforce(root, user, KEY_THEN_PASSKEY);
      const kept = await enforce(root, root, [step(API_KEY)]);
      const count = () =>
        suite.rows.run('SELECT id FROM mfa_policy WHERE organization_id = ? ORDER BY id', [root.organizationId]);
      expect(await count()).toHaveLength(2);
      await root.run('delete_users', { userIds: [user.userId] });
      expect(await count()).toEqual([{ id: kept }]);
      expect((await root.query('get_mfa_policies', { userId: user.userId })).status).toBe(404);
    });

    test.each<[string, (parameters: ReturnType<typeof mfaParameters>) => object, string]>([
      [
        'a code with an id',
        (all) => ({
          ...all,
          requiredAuthenticationMethods: [step({ type: 'AUTHENTICATION_TYPE_EMAIL_OTP', id: randomUUID() })],
        }),
        'requiredAuthenticationMethods.0.any.0.id',
      ],
      ['no step', (all) => ({ ...all, requiredAuthenticationMethods: [] }), 'requiredAuthenticationMethods'],
      ['a step without methods', (all) => ({ ...all, requiredAuthenticationMethods: [step()] }), 'any'],
      [
        'an unknown method',
        (all) => ({ ...all, requiredAuthenticationMethods: [step({ type: 'AUTHENTICATION_TYPE_FACE' })] }),
        'type',
      ],
      ['a condition that asks for approvers', (all) => ({ ...all, condition: 'approvers.count() > 1' }), 'condition'],
      ['a condition that does not parse', (all) => ({ ...all, condition: 'activity.action ==' }), 'condition'],
      ['a negative order', (all) => ({ ...all, order: -1 }), 'order'],
      ['an order in text', (all) => ({ ...all, order: '1' }), 'order'],
    ])('%s is refused', async (_what, change, field) => {
      const { root, user } = await newUser();
      const parameters = mfaParameters(user.userId, KEY_THEN_PASSKEY);
      const answer = await root.submit('create_mfa_policy', change(parameters));
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain(field);
      expect((await root.submit('create_mfa_policy', parameters)).status).toBe(200);
    });

    test('an unknown user is not found, nor one of another organization', async () => {
      const root = await newOrg();
      const stranger = await newOrg();
      for (const userId of [randomUUID(), stranger.userId]) {
        const answer = await root.submit('create_mfa_policy', mfaParameters(userId, KEY_THEN_PASSKEY));
        expect(outcome(answer)).toEqual([404, 'RESOURCE_NOT_FOUND']);
      }
    });
  });
});
