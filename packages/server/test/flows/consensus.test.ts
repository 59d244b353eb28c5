import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, stampFor, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const PENDING = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';
const COMPLETED = 'ACTIVITY_STATUS_COMPLETED';
const REJECTED = 'ACTIVITY_STATUS_REJECTED';

type Activity = Answer['body'];

const outcome = ({ status, body }: Answer) => [status, body.errorCode ?? body.activity.status];
const voters = (activity: Activity): string[] => activity.votes.map((vote: { userId: string }) => vote.userId);
const path = (operation: string) => `/public/v1/submit/${operation}`;
const fingerprintOf = (body: string) => `sha256:${createHash('sha256').update(body).digest('hex')}`;

/** Whether anyone who has only the vote can verify it. */
function verifies(vote: { publicKey: string; signature: string; message: string }): boolean {
  const spki = Buffer.concat([
    Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex'),
    Buffer.from(vote.publicKey, 'hex'),
  ]);
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  return verify('sha256', Buffer.from(vote.message), key, Buffer.from(vote.signature, 'hex'));
}

/** An organization with this many root users and threshold, plus a user without rights. */
async function newQuorum(root: TestClient, members: number, threshold: number) {
  const others: TestClient[] = [];
  for (let index = 1; index < members; index += 1) others.push(await createUser(root, `member ${index}`));
  const plain = await createUser(root, 'plain');
  const userIds = [root, ...others].map((client) => client.userId);
  await root.run('update_root_quorum', { threshold, userIds });
  return { root, others, plain };
}

const propose = (client: TestClient, userName = `Name ${randomUUID()}`, userId = client.userId) =>
  client.submit('update_user_name', { userId, userName });
const approve = (client: TestClient, fingerprint: string) => client.submit('approve_activity', { fingerprint });
const reject = (client: TestClient, fingerprint: string) => client.submit('reject_activity', { fingerprint });
const read = async (client: TestClient, activityId: string): Promise<Activity> =>
  (await client.query('get_activity', { activityId })).body.activity;

describe.each(DATABASES)('consensus on %s', (database) => {
  let server: TestServer;
  let parent: TestClient;

  beforeAll(async () => {
    server = await TestServer.start({ database });
    parent = TestClient.root(server.credentials, server.baseUrl);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const quorum = async (members: number, threshold: number) =>
    newQuorum(await createSubOrganization(parent, `Org ${randomUUID()}`), members, threshold);

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
      const { activities } = (await parent.query('list_activities')).body;
      const { fingerprint } = activities.at(-1);
      expect(outcome(await approve(parent, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(outcome(await reject(parent, fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
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

  describe('changes while an activity is pending', () => {
    const change = async (by: TestClient[], threshold: number, members: TestClient[]) => {
      const [first, ...rest] = by;
      const userIds = members.map(({ userId }) => userId);
      const { activity } = (await first!.submit('update_root_quorum', { threshold, userIds })).body;
      for (const client of rest) await approve(client, activity.fingerprint);
      const { quorum: now } = (await first!.query('get_organization_configs')).body.configs;
      expect(now).toEqual({ threshold, userIds });
    };

    test('a raised threshold holds for it', async () => {
      const { root, others } = await quorum(3, 2);
      const { fingerprint } = (await propose(root)).body.activity;
      await change([root, others[0]!], 3, [root, ...others]);
      expect(outcome(await approve(others[0]!, fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await approve(others[1]!, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a lowered threshold completes it with the next vote', async () => {
      const { root, others } = await quorum(4, 3);
      const { fingerprint, id } = (await propose(root)).body.activity;
      await change([root, others[0]!, others[1]!], 2, [root, ...others]);
      expect((await read(root, id)).status).toBe(PENDING);
      expect(outcome(await approve(others[2]!, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a lowered threshold that is met already completes it when a member votes again', async () => {
      const { root, others } = await quorum(2, 2);
      const { fingerprint } = (await propose(root)).body.activity;
      await change([root, others[0]!], 1, [root]);
      const answer = await approve(root, fingerprint);
      expect(outcome(answer)).toEqual([200, COMPLETED]);
      expect(voters(answer.body.activity)).toEqual([root.userId]);
    });

    test('the vote of somebody who left the quorum no longer counts', async () => {
      const { root, others } = await quorum(4, 3);
      const [a, b, c] = others as [TestClient, TestClient, TestClient];
      const { fingerprint } = (await propose(root)).body.activity;
      await approve(a, fingerprint);
      await change([root, a, b], 2, [b, c]);
      // Two approvals are there, both by users outside the new quorum.
      expect(outcome(await approve(b, fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await approve(c, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('somebody who joined the quorum may vote', async () => {
      const { root, others, plain } = await quorum(2, 2);
      const { fingerprint } = (await propose(root)).body.activity;
      expect((await approve(plain, fingerprint)).status).toBe(403);
      await change([root, others[0]!], 2, [root, plain]);
      expect((await approve(others[0]!, fingerprint)).status).toBe(403);
      expect(outcome(await approve(plain, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a deleted approver no longer counts, and its vote stays on record', async () => {
      const { root, others } = await quorum(4, 3);
      const [a, b, c] = others as [TestClient, TestClient, TestClient];
      const { fingerprint, id } = (await propose(root)).body.activity;
      await approve(a, fingerprint);
      await change([root, a, b], 3, [root, b, c]);
      const removal = (await root.submit('delete_users', { userIds: [a.userId] })).body.activity;
      await approve(b, removal.fingerprint);
      expect(outcome(await approve(c, removal.fingerprint))).toEqual([200, COMPLETED]);
      expect(outcome(await approve(b, fingerprint))).toEqual([200, PENDING]);
      const pending = await read(root, id);
      expect(voters(pending)).toEqual([root.userId, a.userId, b.userId]);
      expect(pending.votes.every(verifies)).toBe(true);
      expect(outcome(await approve(c, fingerprint))).toEqual([200, COMPLETED]);
    });

    test('a deleted proposer: nobody can complete or reject it any more', async () => {
      const { root, others } = await quorum(3, 2);
      const [a, b] = others as [TestClient, TestClient];
      const first = (await propose(root, 'By the deleted', a.userId)).body.activity;
      await change([root, a], 2, [a, b]);
      const removal = (await a.submit('delete_users', { userIds: [root.userId] })).body.activity;
      expect(outcome(await approve(b, removal.fingerprint))).toEqual([200, COMPLETED]);
      expect(outcome(await approve(root, first.fingerprint))[0]).toBe(401);
      expect(outcome(await approve(a, first.fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(outcome(await reject(b, first.fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(await read(a, first.id)).toMatchObject({ status: 'ACTIVITY_STATUS_FAILED' });
    });

    test('the target is gone by the time of the last vote', async () => {
      const { root, others, plain } = await quorum(2, 2);
      const [a] = others as [TestClient];
      const rename = (await propose(root, 'x', plain.userId)).body.activity;
      const removal = (await root.submit('delete_users', { userIds: [plain.userId] })).body.activity;
      await approve(a, removal.fingerprint);
      const failed = await approve(a, rename.fingerprint);
      expect(outcome(failed)).toEqual([200, 'ACTIVITY_STATUS_FAILED']);
      expect(failed.body.activity.failure.code).toBe(5);
    });

    test('a pending change of the quorum is judged by the quorum of the moment', async () => {
      const { root, others, plain } = await quorum(3, 2);
      const [a, b] = others as [TestClient, TestClient];
      const takeover = (await a.submit('update_root_quorum', { threshold: 1, userIds: [a.userId, plain.userId] })).body
        .activity;
      await change([root, b], 2, [root, b]);
      // The proposer is out: its own vote is worth nothing any more.
      expect(outcome(await approve(root, takeover.fingerprint))).toEqual([200, PENDING]);
      expect(outcome(await reject(b, takeover.fingerprint))).toEqual([200, REJECTED]);
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

describe.each(DATABASES)('approvals and time on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let others: [TestClient, TestClient];
  let offset = 0;

  beforeAll(async () => {
    app = await openTestApp(database);
    const made = await newQuorum(app.root, 3, 3);
    root = made.root;
    others = made.others as [TestClient, TestClient];
  });
  afterAll(() => app[Symbol.asyncDispose]());

  const advance = (milliseconds: number) => {
    offset += milliseconds;
    app.advance(milliseconds);
  };
  const now = () => ({ timestampMs: String(Date.now() + offset) });
  const bodyOf = (client: TestClient, operation: string, parameters: unknown) =>
    client.submitBody(operation, parameters, now());
  const sendBody = (client: TestClient, operation: string, body: string) => client.sendStamped(path(operation), body);
  const proposeNow = async (userName = `Name ${randomUUID()}`) => {
    const body = bodyOf(root, 'update_user_name', { userId: root.userId, userName });
    const answer = await sendBody(root, 'update_user_name', body);
    expect(outcome(answer)).toEqual([200, PENDING]);
    return { body, ...answer.body.activity };
  };
  let nonce = 0;
  const voteBody = (client: TestClient, fingerprint: string, operation = 'approve_activity') => {
    nonce += 1;
    return client.submitBody(operation, { fingerprint }, { ...now(), nonce });
  };
  const voteNow = (client: TestClient, fingerprint: string, operation = 'approve_activity') =>
    sendBody(client, operation, voteBody(client, fingerprint, operation));

  test('a body older than an hour or too far ahead only reads', async () => {
    const { body, fingerprint, id } = await proposeNow();
    const stale = voteBody(others[0], fingerprint);
    advance(HOUR);
    for (const [operation, text] of [
      ['approve_activity', stale],
      ['update_user_name', body],
      [
        'reject_activity',
        others[0].submitBody(
          'reject_activity',
          { fingerprint },
          { timestampMs: String(Date.now() + offset - HOUR - 1) },
        ),
      ],
      [
        'approve_activity',
        others[0].submitBody(
          'approve_activity',
          { fingerprint },
          { timestampMs: String(Date.now() + offset + 6 * 60_000) },
        ),
      ],
    ] as const) {
      const answer = await sendBody(others[0], operation, text);
      expect(outcome(answer), operation).toEqual([200, PENDING]);
      expect(voters(answer.body.activity), operation).toEqual([root.userId]);
    }
    // A body that never became an activity is refused instead.
    const old = root.submitBody(
      'update_user_name',
      { userId: root.userId, userName: 'x' },
      {
        timestampMs: String(Date.now() + offset - HOUR - 1),
      },
    );
    expect(outcome(await sendBody(root, 'update_user_name', old))).toEqual([400, 'REQUEST_INVALID']);
    // The proposer's own old body still answers the activity.
    expect((await sendBody(root, 'update_user_name', body)).body.activity.id).toBe(id);
  });

  test('approvals hold for a day', async () => {
    const { fingerprint } = await proposeNow();
    await voteNow(others[0], fingerprint);
    advance(DAY - 60_000);
    expect(outcome(await voteNow(others[1], fingerprint))).toEqual([200, COMPLETED]);
  });

  test('after a day they lapse: old bodies only read, everybody approves again, the proposer too', async () => {
    const { body, fingerprint, id } = await proposeNow();
    const firstApproval = voteBody(others[0], fingerprint);
    expect(voters((await sendBody(others[0], 'approve_activity', firstApproval)).body.activity)).toHaveLength(2);
    advance(DAY);
    expect(await read(root, id)).toMatchObject({ status: PENDING, canApprove: true, canReject: true });
    expect(await read(others[0], id)).toMatchObject({ canApprove: true });

    // The last missing vote of the old round completes nothing.
    const late = await voteNow(others[1], fingerprint);
    expect(outcome(late)).toEqual([200, PENDING]);
    // Bodies that carried a vote before, and the co-signer's body, add nothing.
    for (const [client, operation, text] of [
      [others[0], 'approve_activity', firstApproval],
      [others[0], 'update_user_name', body],
      [root, 'update_user_name', body],
    ] as const) {
      const answer = await sendBody(client, operation, text);
      expect(outcome(answer)).toEqual([200, PENDING]);
      expect(answer.body.activity.canApprove).toBe(true);
    }
    expect(outcome(await voteNow(others[0], fingerprint))).toEqual([200, PENDING]);
    const done = await voteNow(root, fingerprint);
    expect(outcome(done)).toEqual([200, COMPLETED]);
    expect(done.body.activity.id).toBe(id);
    expect(done.body.activity.votes.every(verifies)).toBe(true);
  });

  test('a new round has a day of its own', async () => {
    const { fingerprint } = await proposeNow();
    advance(DAY + 1);
    await voteNow(others[0], fingerprint);
    advance(DAY - 60_000);
    await voteNow(others[1], fingerprint);
    advance(60_000);
    // The second round began with the first of its approvals and has ended now.
    expect(outcome(await voteNow(root, fingerprint))).toEqual([200, PENDING]);
    await voteNow(others[0], fingerprint);
    expect(outcome(await voteNow(others[1], fingerprint))).toEqual([200, COMPLETED]);
  });

  test('an approval body of an earlier round does not count in a later one, even while it is live', async () => {
    const { fingerprint, id } = await proposeNow();
    advance(DAY - 10 * 60_000);
    const early = voteBody(others[0], fingerprint);
    await sendBody(others[0], 'approve_activity', early);
    advance(11 * 60_000);
    // Live by its timestamp, but it has carried a vote already.
    const replayed = await sendBody(others[0], 'approve_activity', early);
    expect(outcome(replayed)).toEqual([200, PENDING]);
    await voteNow(root, fingerprint);
    expect(outcome(await voteNow(others[1], fingerprint))).toEqual([200, PENDING]);
    await sendBody(others[0], 'approve_activity', early);
    expect((await read(root, id)).status).toBe(PENDING);
    expect(outcome(await voteNow(others[0], fingerprint))).toEqual([200, COMPLETED]);
  });

  test('a lapsed activity can still be rejected', async () => {
    const { fingerprint } = await proposeNow();
    advance(3 * DAY);
    expect(outcome(await voteNow(others[0], fingerprint, 'reject_activity'))).toEqual([200, REJECTED]);
    expect(outcome(await voteNow(others[1], fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
  });

  test('edges of the window of a new activity', async () => {
    const at = (shift: number) =>
      root.submit(
        'create_user_tag',
        { userTagName: randomUUID(), userIds: [] },
        {
          timestampMs: String(Date.now() + offset + shift),
        },
      );
    // Inside by a minute, so that the time between here and there does not matter.
    expect((await at(-HOUR + 60_000)).status).toBe(200);
    expect((await at(4 * 60_000)).status).toBe(200);
    for (const shift of [-HOUR, 6 * 60_000]) {
      const answer = await at(shift);
      expect(outcome(answer)).toEqual([400, 'REQUEST_INVALID']);
      expect(JSON.stringify(answer.body.details)).toContain('"field":"timestampMs"');
    }
    expect(
      (
        await root.submit(
          'create_user_tag',
          { userTagName: randomUUID(), userIds: [] },
          { timestampMs: Date.now() + offset },
        )
      ).status,
    ).toBe(200);
  });

  test('a stamp of somebody else over the proposer’s bytes is theirs alone', async () => {
    const { body } = await proposeNow();
    const bytes = Buffer.from(body);
    const stamp = stampFor(bytes, others[0].key);
    const response = await fetch(`${app.baseUrl}${path('update_user_name')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-stamp': stamp },
      body: bytes,
    });
    const { activity } = (await response.json()) as { activity: Activity };
    expect(voters(activity)).toEqual([root.userId, others[0].userId]);
  });
});
