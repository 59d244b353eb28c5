import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  type Activity,
  approve,
  COMPLETED,
  openConsensus,
  outcome,
  PENDING,
  path,
  propose,
  REJECTED,
  read,
  reject,
  verifies,
  voters,
} from './support.ts';

const fingerprintOf = (body: string) => `sha256:${createHash('sha256').update(body).digest('hex')}`;
describe.each(databasesOf(import.meta.url))('consensus on %s', (database) => {
  const suite = openConsensus(database);
  const { quorum } = suite;

  describe.each([1, 2, 3])('a threshold of %i among three', (threshold) => {
    test('executes with that many approvals and not one less', async () => {
      const { root, others } = await quorum(3, threshold);
      const name = `Name ${randomUUID()}`;
      const userName = async () => (await root.query('get_user', { userId: root.userId })).body.user.userName;
      let answer = await propose(root, name);
      const { fingerprint, id } = answer.body.activity;
      for (let given = 1; given < threshold; given += 1) {
        expect(answer.body.activity).toMatchObject({ id, status: PENDING, result: {} });
        expect(voters(answer.body.activity)).toHaveLength(given);
        expect(await userName()).not.toBe(name);
        answer = await approve(others[given - 1] as TestClient, fingerprint);
      }
      expect(answer.body.activity).toMatchObject({
        id,
        status: COMPLETED,
        result: { updateUserNameResult: { userId: root.userId } },
      });
      expect(voters(answer.body.activity)).toHaveLength(threshold);
      expect(await userName()).toBe(name);
    });

    test('root-quorum operations need it too, and nobody else may start one', async () => {
      const { root, others, plain } = await quorum(3, threshold);
      for (const [operation, parameters] of [
        ['set_organization_feature', { name: 'FEATURE_NAME_SMS_AUTH', value: 'false' }],
        ['remove_organization_feature', { name: 'FEATURE_NAME_SMS_AUTH' }],
        ['update_organization_name', { organizationName: 'New' }],
        ['update_root_quorum', { threshold, userIds: [root, ...others].map(({ userId }) => userId) }],
      ] as const) {
        const denied = await plain.submit(operation, parameters);
        expect(outcome(denied), operation).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
        let answer = await root.submit(operation, parameters);
        for (let given = 1; given < threshold; given += 1) {
          expect(answer.body.activity.status, operation).toBe(PENDING);
          answer = await approve(others[given - 1] as TestClient, answer.body.activity.fingerprint);
        }
        expect(outcome(answer), operation).toEqual([200, COMPLETED]);
      }
    });
  });

  describe('ways to approve', () => {
    test('the same bytes by another member', async () => {
      const { root, others } = await quorum(3, 3);
      const body = root.submitBody('update_user_name', { userId: root.userId, userName: 'Same bytes' });
      const first = (await root.sendStamped(path('update_user_name'), body)).body.activity;
      expect(first.fingerprint).toBe(fingerprintOf(body));
      const second = (await others[0]!.sendStamped(path('update_user_name'), body)).body.activity;
      expect(second).toMatchObject({ id: first.id, status: PENDING, fingerprint: first.fingerprint });
      expect(voters(second)).toEqual([root.userId, others[0]!.userId]);
      // Again by the same two: nothing new.
      for (const client of [root, others[0]!]) {
        expect((await client.sendStamped(path('update_user_name'), body)).body.activity.votes).toHaveLength(2);
      }
      const done = (await others[1]!.sendStamped(path('update_user_name'), body)).body.activity;
      expect(done).toMatchObject({ id: first.id, status: COMPLETED });
      expect(done.votes.map((vote: { message: string }) => vote.message)).toEqual([body, body, body]);
      expect(done.votes.every(verifies)).toBe(true);
      // And after the end it only reads, also for those who did not vote.
      const late = await root.sendStamped(path('update_user_name'), body);
      expect(late.body.activity).toEqual(done);
    });

    test('bytes that differ in one place are another activity', async () => {
      const { root, others } = await quorum(2, 2);
      const body = root.submitBody('update_user_name', { userId: root.userId, userName: 'x' });
      const first = await root.sendStamped(path('update_user_name'), body);
      const second = await others[0]!.sendStamped(path('update_user_name'), `${body} `);
      expect(second.body.activity.id).not.toBe(first.body.activity.id);
      expect(second.body.activity.status).toBe(PENDING);
    });

    test('by fingerprint; the answer is the target, and each vote can be verified', async () => {
      const { root, others } = await quorum(3, 3);
      const proposed = (await propose(root)).body.activity;
      const bodies = others.map((client) =>
        client.submitBody('approve_activity', { fingerprint: proposed.fingerprint }),
      );
      await others[0]!.sendStamped(path('approve_activity'), bodies[0]!);
      const done = (await others[1]!.sendStamped(path('approve_activity'), bodies[1]!)).body.activity;
      expect(done).toMatchObject({ id: proposed.id, type: 'ACTIVITY_TYPE_UPDATE_USER_NAME', intent: proposed.intent });
      expect(done.votes[0]).toEqual(proposed.votes[0]);
      for (const [index, client] of others.entries()) {
        const vote = done.votes[index + 1];
        expect(vote).toMatchObject({
          userId: client.userId,
          activityId: proposed.id,
          selection: 'VOTE_SELECTION_APPROVED',
          message: bodies[index],
          publicKey: client.key.publicKey,
          scheme: 'SIGNATURE_SCHEME_TK_API_P256',
          user: { userId: client.userId, userName: `member ${index + 1}` },
        });
      }
      expect(done.votes.every(verifies)).toBe(true);
      expect(verifies({ ...done.votes[0], message: `${done.votes[0].message} ` })).toBe(false);
      // Votes are no activities of their own.
      const types = (await root.query('list_activities')).body.activities.map((entry: { type: string }) => entry.type);
      expect(types).not.toContain('ACTIVITY_TYPE_APPROVE_ACTIVITY');
    });

    test('the user in a vote is the user as it was', async () => {
      const { root, others } = await quorum(2, 2);
      const pending = (await propose(root)).body.activity;
      const name = pending.votes[0].user.userName;
      const rename = (await propose(root, 'After the vote')).body.activity;
      await approve(others[0]!, rename.fingerprint);
      expect((await read(root, pending.id)).votes[0].user.userName).toBe(name);
    });
  });

  describe('rejecting', () => {
    test('one rejection is final', async () => {
      const { root, others } = await quorum(3, 3);
      const { fingerprint, id } = (await propose(root)).body.activity;
      await approve(others[0]!, fingerprint);
      const rejected = (await reject(others[1]!, fingerprint)).body.activity;
      expect(rejected).toMatchObject({ id, status: REJECTED, result: {}, canApprove: false, canReject: false });
      expect(rejected.votes.at(-1)).toMatchObject({ userId: others[1]!.userId, selection: 'VOTE_SELECTION_REJECTED' });
      expect(verifies(rejected.votes.at(-1))).toBe(true);
      expect(rejected).not.toHaveProperty('failure');
      for (const late of [others[0]!, others[1]!, root]) {
        const answer = await approve(late, fingerprint);
        // Those whose approval stands already get the activity back, the others a refusal.
        if (late === others[1]) expect(outcome(answer)).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
        else expect(outcome(answer)).toEqual([200, REJECTED]);
      }
      expect((await read(root, id)).status).toBe(REJECTED);
    });

    test('the proposer withdraws', async () => {
      const { root, others } = await quorum(2, 2);
      const { fingerprint } = (await propose(root)).body.activity;
      expect(outcome(await reject(root, fingerprint))).toEqual([200, REJECTED]);
      expect(outcome(await approve(others[0]!, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
    });

    test('the proposer withdraws even when it has left the quorum', async () => {
      const { root, others } = await quorum(3, 2);
      const { fingerprint, id } = (await propose(root)).body.activity;
      const change = await others[0]!.submit('update_root_quorum', {
        threshold: 2,
        userIds: others.map(({ userId }) => userId),
      });
      await approve(others[1]!, change.body.activity.fingerprint);
      expect(await read(root, id)).toMatchObject({ canApprove: false, canReject: true });
      expect(outcome(await approve(root, fingerprint))[0]).toBe(403);
      expect(outcome(await reject(root, fingerprint))).toEqual([200, REJECTED]);
    });
  });

  describe('after the end', () => {
    test('a vote is refused, the same vote again reads', async () => {
      const { root, others } = await quorum(3, 2);
      const { fingerprint } = (await propose(root)).body.activity;
      const done = (await approve(others[0]!, fingerprint)).body.activity;
      const refused = await approve(others[1]!, fingerprint);
      expect(outcome(refused)).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(refused.body.code).toBe(9);
      expect(outcome(await reject(others[1]!, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(outcome(await reject(others[0]!, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(outcome(await reject(root, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect((await approve(others[0]!, fingerprint)).body.activity).toEqual(done);
      expect((await approve(root, fingerprint)).body.activity).toEqual(done);
      expect(await read(root, done.id)).toEqual(done);
    });

    test('a denied activity is not open for votes', async () => {
      const { root, plain } = await quorum(2, 1);
      const denied = await propose(plain, 'x', root.userId);
      const { activityId } = denied.body.details.find((entry: Activity) => entry.activityId !== undefined);
      const { fingerprint } = await read(root, activityId);
      expect(outcome(await approve(root, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect((await read(root, activityId)).status).toBe(REJECTED);
    });

    test('the creation of the organization is not open for votes', async () => {
      const { activities } = (await suite.parent.query('list_activities')).body;
      const { fingerprint } = activities.at(-1);
      expect(outcome(await approve(suite.parent, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(outcome(await reject(suite.parent, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
    });
  });

  describe('repeated votes', () => {
    test('never count twice', async () => {
      const { root, others } = await quorum(4, 3);
      const { fingerprint, id } = (await propose(root)).body.activity;
      const body = others[0]!.submitBody('approve_activity', { fingerprint });
      const first = await others[0]!.sendStamped(path('approve_activity'), body);
      expect(voters(first.body.activity)).toEqual([root.userId, others[0]!.userId]);
      // The same bytes, new bytes, and the proposer's own approval.
      const again = await others[0]!.sendStamped(path('approve_activity'), body);
      expect(again.body.activity).toEqual(first.body.activity);
      for (const client of [others[0]!, others[0]!, root, root]) {
        const answer = await approve(client, fingerprint);
        expect(outcome(answer)).toEqual([200, PENDING]);
        expect(voters(answer.body.activity)).toEqual([root.userId, others[0]!.userId]);
      }
      expect((await read(root, id)).status).toBe(PENDING);
      expect(outcome(await approve(others[1]!, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a second credential of a user adds no weight', async () => {
      const { root, others } = await quorum(3, 2);
      const spare = newKeyPair();
      const apiKeys = [{ apiKeyName: 'spare', publicKey: spare.publicKey, curveType: 'API_KEY_CURVE_P256' }];
      await root.run('create_api_keys', { userId: root.userId, apiKeys });
      const { fingerprint } = (await propose(root)).body.activity;
      const answer = await approve(root.as(spare, root.userId), fingerprint);
      expect(outcome(answer)).toEqual([200, PENDING]);
      expect(voters(answer.body.activity)).toEqual([root.userId]);
      expect(outcome(await approve(others[0]!, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('an approval after one’s rejection, and a rejection after one’s approval', async () => {
      const { root, others } = await quorum(3, 3);
      const { fingerprint } = (await propose(root)).body.activity;
      expect(outcome(await approve(others[0]!, fingerprint))).toEqual([200, PENDING]);
      // A change of mind while it is still open is a rejection like any other.
      expect(outcome(await reject(others[0]!, fingerprint))).toEqual([200, REJECTED]);
      expect(outcome(await reject(others[0]!, fingerprint))).toEqual([200, REJECTED]);
    });
  });

  describe('who may vote', () => {
    test('a user outside the quorum gets 403 and leaves no trace', async () => {
      const { root, plain } = await quorum(2, 2);
      const body = root.submitBody('update_user_name', { userId: root.userId, userName: 'x' });
      const { fingerprint, id } = (await root.sendStamped(path('update_user_name'), body)).body.activity;
      for (const answer of [
        await approve(plain, fingerprint),
        await reject(plain, fingerprint),
        await plain.sendStamped(path('update_user_name'), body),
      ]) {
        expect(outcome(answer)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
        expect(answer.body.message).toMatch(/^You don't have sufficient permissions to take this action\./);
        const types = answer.body.details.map((entry: Activity) => entry['@type']);
        expect(types).toContain('type.googleapis.com/errors.v1.PolicyEnginePermissionError');
      }
      expect(voters(await read(root, id))).toEqual([root.userId]);
    });

    test('flags are relative to the reader', async () => {
      const { root, others, plain } = await quorum(3, 3);
      const { id, fingerprint, canApprove, canReject } = (await propose(root)).body.activity;
      const flags = async (client: TestClient) => {
        const activity = await read(client, id);
        const listed = (await client.query('list_activities')).body.activities.find(
          (entry: Activity) => entry.id === id,
        );
        const found = [activity.canApprove, activity.canReject];
        expect([listed.canApprove, listed.canReject]).toEqual(found);
        return found;
      };
      expect([canApprove, canReject]).toEqual([false, true]);
      expect(await flags(root)).toEqual([false, true]);
      expect(await flags(others[0]!)).toEqual([true, true]);
      expect(await flags(plain)).toEqual([false, false]);
      const approved = await approve(others[0]!, fingerprint);
      expect(approved.body.activity.canApprove).toBe(false);
      expect(await flags(others[0]!)).toEqual([false, true]);
      expect(await flags(others[1]!)).toEqual([true, true]);
      await approve(others[1]!, fingerprint);
      for (const client of [root, ...others, plain]) expect(await flags(client)).toEqual([false, false]);
    });
  });

  describe('failures', () => {
    test('in the completing vote: FAILED with the reason, HTTP 200, and only the effect is undone', async () => {
      const { root, others } = await quorum(2, 2);
      const userEmail = `${randomUUID()}@example.com`;
      const user = (name: string) => ({
        userName: name,
        userEmail,
        apiKeys: [],
        authenticators: [],
        oauthProviders: [],
        userTags: [],
      });
      const fresh = { ...user('fresh'), userEmail: `${randomUUID()}@example.com` };
      const first = (await root.submit('create_users', { users: [user('first')] })).body.activity;
      const second = (await root.submit('create_users', { users: [fresh, user('second')] })).body.activity;
      expect(outcome(await approve(others[0]!, first.fingerprint))).toEqual([200, COMPLETED]);
      const failed = await approve(others[0]!, second.fingerprint);
      expect(failed.status).toBe(200);
      const { activity } = failed.body;
      expect(activity).toMatchObject({
        id: second.id,
        status: 'ACTIVITY_STATUS_FAILED',
        result: {},
        canApprove: false,
        canReject: false,
        failure: { code: 6, message: expect.stringContaining('already exists') },
      });
      expect(Object.keys(activity.failure).sort()).toEqual(['code', 'details', 'message']);
      expect(activity.failure.details).toContainEqual(expect.objectContaining({ errorCode: 'ALREADY_EXISTS' }));
      expect(voters(activity)).toEqual([root.userId, others[0]!.userId]);
      const names = (await root.query('list_users')).body.users.map((entry: Activity) => entry.userName);
      expect(names).toContain('first');
      expect(names).not.toContain('fresh');
      // It is stored, terminal, and reading it or voting again changes nothing.
      expect(await read(root, second.id)).toEqual({ ...activity, canApprove: false, canReject: false });
      expect((await approve(others[0]!, second.fingerprint)).body.activity.status).toBe('ACTIVITY_STATUS_FAILED');
      const listed = await root.query('list_activities', { filterByStatus: ['ACTIVITY_STATUS_FAILED'] });
      expect(listed.body.activities.map((entry: Activity) => entry.id)).toEqual([second.id]);
    });

    test('in the proposer’s own call: an error, and nothing is stored', async () => {
      const { root } = await quorum(2, 1);
      const before = (await root.query('list_activities')).body.activities.length;
      const body = root.submitBody('delete_users', { userIds: [randomUUID()] });
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const answer = await root.sendStamped(path('delete_users'), body);
        expect(outcome(answer)).toEqual([404, 'RESOURCE_NOT_FOUND']);
      }
      expect((await root.query('list_activities')).body.activities).toHaveLength(before);
      expect(outcome(await approve(root, fingerprintOf(body)))).toEqual([404, 'ACTIVITY_NOT_FOUND']);
    });

    test('a body that failed may succeed later', async () => {
      const { root } = await quorum(2, 1);
      const tag = { userTagName: 'Later', userIds: [] };
      const { userTagId } = await root.run('create_user_tag', tag);
      const body = root.submitBody('create_user_tag', tag);
      expect((await root.sendStamped(path('create_user_tag'), body)).status).toBe(409);
      await root.run('delete_user_tags', { userTagIds: [userTagId] });
      expect(outcome(await root.sendStamped(path('create_user_tag'), body))).toEqual([200, COMPLETED]);
    });
  });

  test('a member’s own credentials need no quorum, another member’s do', async () => {
    const { root, others } = await quorum(3, 3);
    const add = (client: TestClient, userId: string) =>
      client.submit('create_api_keys', {
        userId,
        apiKeys: [{ apiKeyName: randomUUID(), publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
      });
    expect(outcome(await add(root, root.userId))).toEqual([200, COMPLETED]);
    expect(outcome(await add(root, others[0]!.userId))).toEqual([200, PENDING]);
  });

  test('what is pending is listed as such', async () => {
    const { root } = await quorum(2, 2);
    const { id } = (await propose(root)).body.activity;
    const { activities } = (await root.query('list_activities', { filterByStatus: [PENDING] })).body;
    expect(activities.map((entry: Activity) => entry.id)).toEqual([id]);
  });
});
