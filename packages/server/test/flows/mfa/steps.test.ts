import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { DATABASES, databasesOf } from '../../harness/databases.ts';
import {
  addApiKey,
  addPasskey,
  addSessionKey,
  approve,
  COMPLETED,
  FAILED,
  firstApiKeyId,
  outcome,
  path,
  propose,
  tagNames,
  UNPROVEN,
  voters,
} from '../fixtures/access.ts';
import { API_KEY, enforce, KEY_THEN_PASSKEY, openMfa, PASSKEY, proven, statuses, step } from './support.ts';

const SESSION = { type: 'AUTHENTICATION_TYPE_SESSION' };
describe.each(databasesOf(import.meta.url))('MFA on %s', (database) => {
  const suite = openMfa(database);
  const { newUser, newOrg } = suite;

  describe('two steps', () => {
    test('the submission waits, nothing is done, and the last proof executes in its own call', async () => {
      const { root, user, passkey } = await newUser();
      const apiKeyId = await firstApiKeyId(user);
      const mfaPolicyId = await enforce(root, user, KEY_THEN_PASSKEY);
      const answer = await propose(user, 'Proven');
      expect(outcome(answer)).toEqual([200, UNPROVEN]);
      const { id, fingerprint, ...waiting } = answer.body.activity;
      expect(waiting).toMatchObject({ result: {}, votes: [], canApprove: true, canReject: true });
      expect(waiting).not.toHaveProperty('failure');
      expect(await tagNames(root)).toEqual([]);
      const asked = { mfaPolicyId, userId: user.userId, requiredMethods: KEY_THEN_PASSKEY };
      expect(await statuses(user, id)).toEqual([
        { ...asked, satisfied: false, satisfiedMethods: [{ ...API_KEY, id: apiKeyId }] },
      ]);

      const body = passkey.submitBody('approve_activity', { fingerprint });
      const done = await passkey.sendStamped(path('approve_activity'), body);
      expect(outcome(done)).toEqual([200, COMPLETED]);
      expect(done.body.activity).toMatchObject({ id, canApprove: false, canReject: false });
      expect(done.body.activity.result.createUserTagResult.userTagId).toBeDefined();
      expect(await tagNames(root)).toEqual(['Proven']);
      expect(voters(done.body.activity)).toEqual([user.userId]);
      expect(done.body.activity.votes[0].message).toBe(body);
      expect(await statuses(user, id)).toEqual([
        {
          ...asked,
          satisfied: true,
          satisfiedMethods: [
            { ...API_KEY, id: apiKeyId },
            { ...PASSKEY, id: passkey.authenticatorId },
          ],
        },
      ]);
      // Once more, with the same bytes and with new ones: the same activity, and no second effect.
      expect((await passkey.sendStamped(path('approve_activity'), body)).body.activity).toEqual(done.body.activity);
      expect((await approve(passkey, fingerprint)).body.activity).toEqual(done.body.activity);
      expect(await tagNames(root)).toEqual(['Proven']);
    });

    test('are listed as waiting, and resubmitting the bytes reads without proving', async () => {
      const { root, user, passkey } = await newUser();
      await enforce(root, user, KEY_THEN_PASSKEY);
      const body = user.submitBody('create_user_tag', { userTagName: 'Again', userIds: [] });
      const { id, fingerprint } = (await user.sendStamped(path('create_user_tag'), body)).body.activity;
      const listed = (await root.query('list_activities', { filterByStatus: [UNPROVEN] })).body.activities;
      expect(listed.map((entry: { id: string }) => entry.id)).toEqual([id]);
      // The very bytes of the submission, under the missing factor, prove nothing further.
      for (const client of [user, passkey, root]) {
        const again = await client.sendStamped(path('create_user_tag'), body);
        expect(again.body.activity).toMatchObject({ id, status: UNPROVEN });
      }
      expect(await proven(user, id)).toBe(1);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, COMPLETED]);
      expect((await user.sendStamped(path('create_user_tag'), body)).body.activity).toMatchObject({
        id,
        status: COMPLETED,
      });
    });

    test('in sequence: a proof that matches only a later step is discarded', async () => {
      const { root, user, passkey } = await newUser();
      await enforce(root, user, [step(PASSKEY), step(API_KEY)]);
      const { id, fingerprint } = (await propose(user)).body.activity;
      expect(await proven(user, id)).toBe(0);
      for (const [client, status, steps] of [
        [user, UNPROVEN, 0],
        [passkey, UNPROVEN, 1],
        [passkey, UNPROVEN, 1],
        [user, COMPLETED, 2],
      ] as const) {
        expect(outcome(await approve(client, fingerprint))).toEqual([200, status]);
        expect(await proven(user, id)).toBe(steps);
      }
    });

    test('need a proof each, also of the same method, and one signed body is one proof', async () => {
      const { root, user } = await newUser();
      const second = await addApiKey(user, root);
      await enforce(root, user, [step(API_KEY), step(API_KEY), step(API_KEY)]);
      const { id, fingerprint } = (await propose(user)).body.activity;
      const body = user.submitBody('approve_activity', { fingerprint });
      expect(outcome(await user.sendStamped(path('approve_activity'), body))).toEqual([200, UNPROVEN]);
      expect(await proven(user, id)).toBe(2);
      // The same bytes again, by the same key and by another of the user.
      for (const client of [user, second.client]) {
        expect(outcome(await client.sendStamped(path('approve_activity'), body))).toEqual([200, UNPROVEN]);
        expect(await proven(user, id)).toBe(2);
      }
      expect(outcome(await approve(second.client, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a body whose time has passed proves nothing', async () => {
      const { root, user, passkey } = await newUser();
      await enforce(root, user, KEY_THEN_PASSKEY);
      const { id, fingerprint } = (await propose(user)).body.activity;
      const stale = { timestampMs: String(Date.now() - 61 * 60_000) };
      const answer = await passkey.submit('approve_activity', { fingerprint }, stale);
      expect(outcome(answer)).toEqual([200, UNPROVEN]);
      expect(await proven(user, id)).toBe(1);
    });

    test('what fails after the last proof is stored as FAILED', async () => {
      const { root, user, passkey } = await newUser();
      await enforce(root, user, KEY_THEN_PASSKEY);
      const { fingerprint } = (await propose(user, 'Taken')).body.activity;
      expect(outcome(await propose(root, 'Taken'))).toEqual([200, COMPLETED]);
      const failed = await approve(passkey, fingerprint);
      expect(outcome(failed)).toEqual([200, FAILED]);
      expect(failed.body.activity.failure.code).toBe(6);
    });
  });

  describe('methods', () => {
    test('any one of a step is enough', async () => {
      const { root, user, passkey } = await newUser();
      await enforce(root, user, [step(PASSKEY, API_KEY)]);
      expect(outcome(await propose(user))).toEqual([200, COMPLETED]);
      expect(outcome(await propose(passkey))).toEqual([200, COMPLETED]);
      const done = (await propose(passkey)).body.activity;
      expect(await statuses(user, done.id)).toMatchObject([
        { satisfied: true, satisfiedMethods: [{ ...PASSKEY, id: passkey.authenticatorId }] },
      ]);
    });

    test('an id means that credential and no other', async () => {
      const { root, user, passkey } = await newUser();
      const second = await addApiKey(user, root);
      const otherPasskey = await addPasskey(user, root);
      await enforce(root, user, [
        step({ ...API_KEY, id: second.apiKeyId }),
        step({ ...PASSKEY, id: otherPasskey.authenticatorId }),
      ]);
      const { id, fingerprint } = (await propose(user)).body.activity;
      for (const [client, status, steps] of [
        [user, UNPROVEN, 0],
        [otherPasskey, UNPROVEN, 0],
        [second.client, UNPROVEN, 1],
        [passkey, UNPROVEN, 1],
        [otherPasskey, COMPLETED, 2],
      ] as const) {
        expect(outcome(await approve(client, fingerprint))).toEqual([200, status]);
        expect(await proven(user, id)).toBe(steps);
      }
    });

    test('a key that a login made is a session and not an API key', async () => {
      const { root, user } = await newUser();
      const login = await addSessionKey(suite.rows, user);
      const readWrite = await addSessionKey(suite.rows, user, { type: 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256' });
      await enforce(root, user, [step(SESSION)], { condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'" });
      await enforce(root, user, [step(API_KEY)], { order: 1 });
      expect(outcome(await propose(user))).toEqual([200, UNPROVEN]);
      expect(outcome(await propose(login))).toEqual([200, COMPLETED]);
      expect(outcome(await propose(readWrite))).toEqual([200, COMPLETED]);
      const rename = (client: TestClient) =>
        client.submit('update_user_name', { userId: user.userId, userName: randomUUID() });
      expect(outcome(await rename(login))).toEqual([200, UNPROVEN]);
      expect(outcome(await rename(readWrite))).toEqual([200, UNPROVEN]);
      expect(outcome(await rename(user))).toEqual([200, COMPLETED]);
    });

    test('the zero id is the session without a profile, another id the profile', async () => {
      const { root, user } = await newUser();
      const profile = { sessionProfileName: randomUUID(), scope: 'true' };
      const { sessionProfileId } = await suite.parent.run('create_session_profile', profile);
      const plain = await addSessionKey(suite.rows, user);
      const profiled = await addSessionKey(suite.rows, user, { sessionProfileId });
      const policyId = await enforce(root, user, [step({ ...SESSION, id: '00000000-0000-0000-0000-000000000000' })]);
      expect(outcome(await propose(profiled))).toEqual([200, UNPROVEN]);
      expect(outcome(await propose(plain))).toEqual([200, COMPLETED]);
      await root.run('update_mfa_policy', {
        userId: user.userId,
        mfaPolicyId: policyId,
        requiredAuthenticationMethods: [step({ ...SESSION, id: sessionProfileId })],
      });
      expect(outcome(await propose(plain))).toEqual([200, UNPROVEN]);
      expect(outcome(await propose(profiled))).toEqual([200, COMPLETED]);
      await root.run('update_mfa_policy', {
        userId: user.userId,
        mfaPolicyId: policyId,
        requiredAuthenticationMethods: [step(SESSION)],
      });
      for (const session of [plain, profiled]) expect(outcome(await propose(session))).toEqual([200, COMPLETED]);
    });

    test('a passkey does not prove an API key, nor an API key a passkey', async () => {
      const { root, user, passkey } = await newUser();
      await enforce(root, user, [step(API_KEY)], { condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'" });
      await enforce(root, user, [step(PASSKEY)], { order: 1 });
      expect(outcome(await propose(passkey))).toEqual([200, UNPROVEN]);
      const rename = await user.submit('update_user_name', { userId: user.userId, userName: 'x' });
      expect(outcome(rename)).toEqual([200, UNPROVEN]);
    });
  });

  describe('which policy', () => {
    test('the first by order whose condition holds, and no other', async () => {
      const { root, user } = await newUser();
      const isTag = "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'";
      await enforce(root, user, [step(PASSKEY)], { order: 5 });
      const only = await enforce(root, user, [step(API_KEY)], { order: 2, condition: isTag });
      const done = await propose(user);
      expect(outcome(done)).toEqual([200, COMPLETED]);
      expect(await statuses(user, done.body.activity.id)).toMatchObject([{ mfaPolicyId: only }]);
      // Where the earlier one says nothing, the later one is asked.
      const rename = await user.submit('update_user_name', { userId: user.userId, userName: 'x' });
      expect(outcome(rename)).toEqual([200, UNPROVEN]);
      // Moved behind, it loses.
      await root.run('update_mfa_policy', { userId: user.userId, mfaPolicyId: only, order: 6 });
      expect(outcome(await propose(user))).toEqual([200, UNPROVEN]);
    });

    test('of equal order the older one', async () => {
      const { root, user } = await newUser();
      await enforce(root, user, [step(API_KEY)]);
      await enforce(root, user, [step(PASSKEY)]);
      expect(outcome(await propose(user))).toEqual([200, COMPLETED]);
    });

    test('none whose condition is false or speaks of what the activity does not have', async () => {
      const { root, user } = await newUser();
      for (const condition of [
        'false',
        "activity.action == 'SIGN'",
        'eth.tx.value > 0',
        "activity.params.wallet_id == 'x'",
      ]) {
        await enforce(root, user, [step(PASSKEY)], { condition });
      }
      const done = await propose(user);
      expect(outcome(done)).toEqual([200, COMPLETED]);
      expect(await statuses(user, done.body.activity.id)).toEqual([]);
    });

    test('one whose condition breaks in another way is enforced', async () => {
      const { root, user } = await newUser();
      await enforce(root, user, [step(PASSKEY)], { condition: "activity.params.user_ids[7] == 'x'" });
      const target = await createUser(root, 'target');
      const removal = await user.submit('delete_users', { userIds: [target.userId] });
      expect(outcome(removal)).toEqual([200, UNPROVEN]);
    });

    test('another user is not asked', async () => {
      const { root, user } = await newUser();
      await enforce(root, user, [step(PASSKEY)]);
      expect(outcome(await propose(root))).toEqual([200, COMPLETED]);
    });

    test('root users are asked too, also for what only the root quorum may do', async () => {
      const root = await newOrg();
      const passkey = await addPasskey(root);
      await enforce(root, root, KEY_THEN_PASSKEY);
      const { fingerprint } = (await propose(root, 'By root')).body.activity;
      expect(await tagNames(root)).toEqual([]);
      expect(outcome(await approve(passkey, fingerprint))).toEqual([200, COMPLETED]);
      const rename = await root.submit('update_organization_name', { organizationName: 'New' });
      expect(outcome(rename)).toEqual([200, UNPROVEN]);
      expect((await root.query('get_organization')).body.organizationData.name).not.toBe('New');
      expect(outcome(await approve(passkey, rename.body.activity.fingerprint))).toEqual([200, COMPLETED]);
    });

    test('what a user may always do is asked for too: its own credentials', async () => {
      const root = await newOrg();
      const user = await createUser(root, 'user');
      const passkey = await addPasskey(user);
      await enforce(root, user, KEY_THEN_PASSKEY);
      const apiKeys = [{ apiKeyName: 'own', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }];
      const answer = await user.submit('create_api_keys', { userId: user.userId, apiKeys });
      expect(outcome(answer)).toEqual([200, UNPROVEN]);
      expect((await root.query('get_api_keys', { userId: user.userId })).body.apiKeys).toHaveLength(1);
      expect(outcome(await approve(passkey, answer.body.activity.fingerprint))).toEqual([200, COMPLETED]);
      expect((await root.query('get_api_keys', { userId: user.userId })).body.apiKeys).toHaveLength(2);
    });
  });
});

describe.each(DATABASES)('proofs at once on %s', (database) => {
  const { newUser } = openMfa(database);

  test('one signed body is one proof also when it comes many times at once', async () => {
    const { root, user } = await newUser();
    await enforce(root, user, [step(API_KEY), step(API_KEY), step(API_KEY)]);
    const { id, fingerprint } = (await propose(user)).body.activity;
    const body = user.submitBody('approve_activity', { fingerprint });
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => user.sendStamped(path('approve_activity'), body)),
    );
    expect(answers.map(outcome)).toEqual(answers.map(() => [200, UNPROVEN]));
    expect(await proven(user, id)).toBe(2);
  });

  test('the last proof given many times at once executes once', async () => {
    const { root, user, passkey } = await newUser();
    await enforce(root, user, KEY_THEN_PASSKEY);
    const { fingerprint } = (await propose(user, 'Once')).body.activity;
    const answers = await Promise.all(Array.from({ length: 8 }, () => approve(passkey, fingerprint)));
    expect(answers.map(outcome)).toEqual(answers.map(() => [200, COMPLETED]));
    expect(await tagNames(root)).toEqual(['Once']);
  });
});
