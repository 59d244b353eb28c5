import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { Receiver } from '../harness/bundles.ts';
import { createUser, newKeyPair, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import {
  ALLOWED,
  allow,
  approve,
  ClockClient,
  COMPLETED,
  countActivities,
  DENIED,
  denialOf,
  deny,
  evaluationsOf,
  FAILED,
  flags,
  hasTag,
  isUser,
  newOrganization,
  newTag,
  outcome,
  outcomesOf,
  PENDING,
  path,
  REJECTED,
  read,
  reject,
  rename,
  voters,
  WAITS,
} from './fixtures/policy-flows.ts';
import { ethereum, newWallet } from './fixtures/wallets.ts';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

/** A wallet is made with the keyring, so that a test can stop a request between its decision and its commit. */
const makeWallet = (client: TestClient) =>
  client.submit('create_wallet', { walletName: `Wallet ${randomUUID()}`, accounts: [ethereum()] });
const walletCount = async (client: TestClient): Promise<number> =>
  (await client.query('list_wallets')).body.wallets.length;
const nameOf = async (client: TestClient, userId = client.userId): Promise<string> =>
  (await client.query('get_user', { userId })).body.user.userName;
const untag = (root: TestClient, userTagId: string, { userId }: TestClient) =>
  root.run('update_user_tag', { userTagId, addUserIds: [], removeUserIds: [userId] });
const retag = (root: TestClient, userTagId: string, { userId }: TestClient) =>
  root.run('update_user_tag', { userTagId, addUserIds: [userId], removeUserIds: [] });

describe.each(DATABASES)('consensus of policies on %s', (database) => {
  let server: TestServer;
  let parent: TestClient;

  beforeAll(async () => {
    server = await TestServer.start({ database });
    parent = TestClient.root(server.credentials, server.baseUrl);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Two of `ops` together may rename; alice, bob and carol are of it, dave is not. */
  async function opsOrganization(needed = 2) {
    const organization = await newOrganization(parent, 'alice', 'bob', 'carol', 'dave');
    const { root, alice, bob, carol } = organization;
    const tagId = await newTag(root, alice, bob, carol);
    const condition = "activity.kind == 'UPDATE_USER_NAME'";
    const policyId = await allow(root, { condition, consensus: hasTag(tagId, needed) });
    return { ...organization, tagId, policyId, condition };
  }

  describe('submitting', () => {
    test('waits when the submitter is part of the consensus, and is denied otherwise', async () => {
      const { alice, dave, root, policyId } = await opsOrganization();
      expect(outcome(await rename(alice))).toEqual(WAITS);
      const refused = await rename(dave);
      expect(outcome(refused)).toEqual(DENIED);
      expect(denialOf(refused).policyEvaluations).toMatchObject([
        { policyId, outcome: 'OUTCOME_DENY_IMPLICIT', reason: 'APPROVER_NOT_INCLUDED' },
      ]);
      await root.run('update_policy', { policyId, policyConsensus: `${isUser(dave)} && ${isUser(alice)}` });
      expect(outcome(await rename(dave))).toEqual(WAITS);
    });

    test('is denied when nobody could complete the consensus', async () => {
      const { alice, policyId } = await opsOrganization(4);
      const answer = await rename(alice);
      expect(outcome(answer)).toEqual(DENIED);
      expect(denialOf(answer).policyEvaluations).toMatchObject([
        { policyId, outcome: 'OUTCOME_DENY_IMPLICIT', reason: 'CONSENSUS_UNREACHABLE' },
      ]);
    });

    test('needs no vote where the submitter is the whole consensus', async () => {
      const { alice, root } = await opsOrganization();
      await allow(root, { consensus: isUser(alice) });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
    });
  });

  describe('voting', () => {
    test('adds up, and the vote that completes executes in the same call', async () => {
      const { alice, bob, carol } = await opsOrganization(3);
      const userName = `Name ${randomUUID()}`;
      const { fingerprint, id } = (await rename(alice, userName)).body.activity;
      const second = await approve(bob, fingerprint);
      expect(outcome(second)).toEqual(WAITS);
      expect(voters(second.body.activity)).toEqual([alice.userId, bob.userId]);
      expect(await nameOf(alice)).toBe('alice');
      const third = await approve(carol, fingerprint);
      expect(third.body.activity).toMatchObject({
        id,
        status: COMPLETED,
        result: { updateUserNameResult: { userId: alice.userId } },
        canApprove: false,
        canReject: false,
      });
      expect(voters(third.body.activity)).toEqual([alice.userId, bob.userId, carol.userId]);
      expect(await nameOf(alice)).toBe(userName);
    });

    test('with the same bytes is an approval as well', async () => {
      const { alice, bob, dave } = await opsOrganization();
      const body = alice.submitBody('update_user_name', { userId: alice.userId, userName: 'Both' });
      const pending = await alice.sendStamped(path('update_user_name'), body);
      expect(outcome(pending)).toEqual(WAITS);
      expect(outcome(await dave.sendStamped(path('update_user_name'), body))).toEqual(DENIED);
      const done = await bob.sendStamped(path('update_user_name'), body);
      expect(outcome(done)).toEqual(ALLOWED);
      expect(done.body.activity.id).toBe(pending.body.activity.id);
    });

    test('twice by one user counts once', async () => {
      const { alice, bob } = await opsOrganization(3);
      const { fingerprint } = (await rename(alice)).body.activity;
      for (const client of [alice, bob, bob, alice]) {
        expect(outcome(await approve(client, fingerprint))).toEqual(WAITS);
      }
    });

    test('with a second credential adds the credential and no weight', async () => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
      const spare = newKeyPair();
      const { apiKeyIds } = await alice.run('create_api_keys', {
        userId: alice.userId,
        apiKeys: [{ apiKeyName: 'spare', publicKey: spare.publicKey, curveType: 'API_KEY_CURVE_P256' }],
      });
      await allow(root, { condition: "activity.kind == 'UPDATE_USER_NAME'", consensus: 'approvers.count() >= 2' });
      const { fingerprint } = (await rename(alice)).body.activity;
      expect(outcome(await approve(alice.as(spare, alice.userId), fingerprint))).toEqual(WAITS);
      expect(outcome(await approve(bob, fingerprint))).toEqual(ALLOWED);
      // A consensus that asks for both keys of one user.
      const policies = (await root.query('list_policies')).body.policies.map(
        (entry: { policyId: string }) => entry.policyId,
      );
      await root.run('delete_policies', { policyIds: policies });
      const consensus = `credentials.any(c, c.id == '${apiKeyIds[0]}') && credentials.filter(c, c.user_id == '${alice.userId}').count() >= 2`;
      await allow(root, { condition: "activity.kind == 'UPDATE_USER_NAME'", consensus });
      const pending = await rename(alice);
      expect(outcome(pending)).toEqual(WAITS);
      expect(outcome(await approve(alice.as(spare, alice.userId), pending.body.activity.fingerprint))).toEqual(ALLOWED);
    });

    test('by somebody who is not part of it is refused and leaves nothing behind', async () => {
      const { root, alice, bob, dave } = await opsOrganization();
      const pending = (await rename(alice)).body.activity;
      const [activities, records] = [await countActivities(root), await evaluationsOf(root, pending.id)];
      for (const attempt of [approve, reject]) {
        const refused = await attempt(dave, pending.fingerprint);
        expect(outcome(refused)).toEqual(DENIED);
        expect(refused.body.code).toBe(7);
        expect(denialOf(refused)).toBeDefined();
      }
      expect(await read(alice, pending.id)).toEqual(pending);
      expect(await countActivities(root)).toBe(activities);
      expect(await evaluationsOf(root, pending.id)).toEqual(records);
      expect(outcome(await approve(bob, pending.fingerprint))).toEqual(ALLOWED);
    });

    test('by a user of another organization finds nothing', async () => {
      const { alice } = await opsOrganization();
      const other = await opsOrganization();
      const { fingerprint } = (await rename(alice)).body.activity;
      expect(outcome(await approve(other.alice, fingerprint))).toEqual([404, 'ACTIVITY_NOT_FOUND']);
      expect(outcome(await approve(other.root, fingerprint))).toEqual([404, 'ACTIVITY_NOT_FOUND']);
    });

    test('root users may complete it by themselves', async () => {
      const { root, alice } = await opsOrganization();
      const pending = (await rename(alice)).body.activity;
      expect(outcome(await approve(root, pending.fingerprint))).toEqual(ALLOWED);
      const records = await evaluationsOf(root, pending.id);
      expect(records.map((record) => record.policyEvaluations.length)).toEqual([1, 0]);
    });

    test('for the root quorum alone does not spoil the consensus', async () => {
      const { root, alice, bob, dave } = await newOrganization(parent, 'alice', 'bob', 'dave');
      await allow(root, {
        condition: "activity.kind == 'UPDATE_USER_NAME'",
        consensus: `${isUser(alice)} && ${isUser(bob)}`,
      });
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, dave.userId] });
      const { fingerprint } = (await rename(alice)).body.activity;
      expect(outcome(await approve(root, fingerprint))).toEqual(WAITS);
      expect(outcome(await approve(bob, fingerprint))).toEqual(ALLOWED);
    });

    test('that completes what cannot be done any more ends in a failure', async () => {
      const { root, alice, bob, dave } = await opsOrganization();
      const { fingerprint, id } = (await rename(alice, 'Gone', dave.userId)).body.activity;
      await root.run('delete_users', { userIds: [dave.userId] });
      const failed = await approve(bob, fingerprint);
      expect(outcome(failed)).toEqual([200, FAILED]);
      expect(failed.body.activity.failure.code).toBe(5);
      expect((await read(alice, id)).status).toBe(FAILED);
    });
  });

  describe('what changes between votes', () => {
    test('a tag that is taken away takes the approval with it', async () => {
      const { root, alice, bob, carol, dave, tagId } = await opsOrganization(3);
      await retag(root, tagId, dave);
      const { fingerprint } = (await rename(alice)).body.activity;
      await approve(bob, fingerprint);
      await untag(root, tagId, bob);
      expect(outcome(await approve(carol, fingerprint))).toEqual(WAITS);
      await retag(root, tagId, bob);
      // Bob's approval still stands; the next vote sees it again.
      expect(outcome(await approve(carol, fingerprint))).toEqual(ALLOWED);
    });

    test('nobody is heard any more when the tags that are left are too few', async () => {
      const { root, alice, bob, carol, tagId } = await opsOrganization(3);
      const { fingerprint, id } = (await rename(alice)).body.activity;
      await approve(bob, fingerprint);
      await untag(root, tagId, bob);
      expect(outcome(await approve(carol, fingerprint))).toEqual(DENIED);
      expect((await read(root, id)).votes).toHaveLength(2);
      await retag(root, tagId, bob);
      expect(outcome(await approve(carol, fingerprint))).toEqual(ALLOWED);
    });

    test('a tag that is given makes a voter', async () => {
      const { root, alice, dave, tagId } = await opsOrganization();
      const { fingerprint } = (await rename(alice)).body.activity;
      expect(outcome(await approve(dave, fingerprint))).toEqual(DENIED);
      await retag(root, tagId, dave);
      expect(outcome(await approve(dave, fingerprint))).toEqual(ALLOWED);
    });

    test('the submitter who lost the tag no longer counts', async () => {
      const { root, alice, bob, carol, tagId } = await opsOrganization();
      const { fingerprint } = (await rename(alice)).body.activity;
      await untag(root, tagId, alice);
      const first = await approve(bob, fingerprint);
      // Bob alone is not two, and whether his vote is heard or not, nothing may execute.
      expect(outcome(first)).not.toEqual(ALLOWED);
      expect(await nameOf(root, alice.userId)).toBe('alice');
      if (first.status === 200) expect(outcome(await approve(carol, fingerprint))).toEqual(ALLOWED);
    });

    test('a deleted approver no longer counts', async () => {
      const { root, alice, bob, carol } = await opsOrganization(3);
      const { fingerprint, id } = (await rename(alice)).body.activity;
      await approve(bob, fingerprint);
      await root.run('delete_users', { userIds: [bob.userId] });
      const last = await approve(carol, fingerprint);
      expect(outcome(last)).not.toEqual(ALLOWED);
      expect((await read(root, id)).status).toBe(PENDING);
      expect(await nameOf(root, alice.userId)).toBe('alice');
    });

    test('a policy that asks for more is asked for more', async () => {
      const { root, alice, bob, carol, tagId, policyId } = await opsOrganization();
      const { fingerprint } = (await rename(alice)).body.activity;
      await root.run('update_policy', { policyId, policyConsensus: hasTag(tagId, 3) });
      expect(outcome(await approve(bob, fingerprint))).toEqual(WAITS);
      expect(outcome(await approve(carol, fingerprint))).toEqual(ALLOWED);
    });

    test('a policy that asks for less is met by the next vote', async () => {
      const { root, alice, bob, carol, tagId, policyId } = await opsOrganization(3);
      const { fingerprint, id } = (await rename(alice)).body.activity;
      await approve(bob, fingerprint);
      await root.run('update_policy', { policyId, policyConsensus: hasTag(tagId, 1) });
      expect((await read(root, id)).status).toBe(PENDING);
      expect(outcome(await approve(carol, fingerprint))).toEqual(ALLOWED);
    });

    test('a deleted policy leaves only the root quorum', async () => {
      const { root, alice, bob, policyId } = await opsOrganization();
      const { fingerprint, id } = (await rename(alice)).body.activity;
      await root.run('delete_policy', { policyId });
      expect(outcome(await approve(bob, fingerprint))).toEqual(DENIED);
      expect((await read(root, id)).votes).toHaveLength(1);
      expect(outcome(await approve(root, fingerprint))).toEqual(ALLOWED);
    });

    test('a new denial rejects at the next vote', async () => {
      const { root, alice, bob, carol, policyId } = await opsOrganization(3);
      const pending = (await rename(alice)).body.activity;
      const denial = await deny(root, { condition: "activity.resource == 'USER'" });
      expect((await read(root, pending.id)).status).toBe(PENDING);
      const denied = await approve(bob, pending.fingerprint);
      expect(outcome(denied)).toEqual(DENIED);
      expect(denialOf(denied)).toMatchObject({
        message: `The following policies denied this action: ${denial}`,
        activityId: pending.id,
      });
      expect(outcomesOf(denialOf(denied).policyEvaluations)).toMatchObject({ [denial]: 'OUTCOME_DENY_EXPLICIT' });
      const after = await read(root, pending.id);
      expect(after).toMatchObject({ status: REJECTED, result: {}, canApprove: false, canReject: false });
      const records = await evaluationsOf(root, pending.id);
      expect(records.map(({ policyEvaluations }) => outcomesOf(policyEvaluations))).toEqual([
        { [policyId]: 'OUTCOME_REQUIRES_CONSENSUS' },
        { [policyId]: 'OUTCOME_REQUIRES_CONSENSUS', [denial]: 'OUTCOME_DENY_EXPLICIT' },
      ]);
      // It is over, also when the denial is gone.
      await root.run('delete_policy', { policyId: denial });
      expect(outcome(await approve(carol, pending.fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(outcome(await approve(root, pending.fingerprint))).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
      expect(await nameOf(root, alice.userId)).toBe('alice');
    });

    test('a submitter who asks again is told of the denial, a voter who does reads what became of it', async () => {
      const { root, alice, bob } = await opsOrganization(3);
      const body = alice.submitBody('update_user_name', { userId: alice.userId, userName: 'Denied later' });
      const pending = (await alice.sendStamped(path('update_user_name'), body)).body.activity;
      const denial = await deny(root, { condition: "activity.resource == 'USER'" });
      const vote = bob.submitBody('approve_activity', { fingerprint: pending.fingerprint });
      const denied = await bob.sendStamped(path('approve_activity'), vote);
      expect(outcome(denied)).toEqual(DENIED);
      expect(outcome(await bob.sendStamped(path('approve_activity'), vote))).toEqual([200, REJECTED]);
      const proposer = await alice.sendStamped(path('update_user_name'), body);
      expect(outcome(proposer)).toEqual(DENIED);
      expect(outcomesOf(denialOf(proposer).policyEvaluations)).toMatchObject({ [denial]: 'OUTCOME_DENY_EXPLICIT' });
    });

    test('a denial that bites when a certain user votes rejects by that vote', async () => {
      const { root, alice, bob, carol } = await opsOrganization(3);
      const denial = await deny(root, { consensus: isUser(carol) });
      const { fingerprint, id } = (await rename(alice)).body.activity;
      expect(outcome(await approve(bob, fingerprint))).toEqual(WAITS);
      const denied = await approve(carol, fingerprint);
      expect(outcome(denied)).toEqual(DENIED);
      expect(denialOf(denied).message).toContain(denial);
      expect(await read(root, id)).toMatchObject({ status: REJECTED });
      expect(voters(await read(root, id))).toEqual([alice.userId, bob.userId, carol.userId]);
    });

    test('a root user’s vote stands above the denial', async () => {
      const { root, alice } = await opsOrganization();
      const { fingerprint } = (await rename(alice)).body.activity;
      await deny(root);
      expect(outcome(await approve(root, fingerprint))).toEqual(ALLOWED);
    });
  });

  describe('rejecting', () => {
    test('ends it, by whoever could approve, and by the submitter', async () => {
      const organization = await opsOrganization(3);
      const { alice, bob, carol, root } = organization;
      for (const [name, client] of [
        ['one who could approve', carol],
        ['one who has approved', bob],
        ['the submitter', alice],
        ['a root user', root],
      ] as const) {
        const { fingerprint, id } = (await rename(alice)).body.activity;
        await approve(bob, fingerprint);
        const rejected = await reject(client, fingerprint);
        expect(outcome(rejected), name).toEqual([200, REJECTED]);
        expect(rejected.body.activity.votes.at(-1)).toMatchObject({
          userId: client.userId,
          selection: 'VOTE_SELECTION_REJECTED',
        });
        expect(outcome(await approve(carol, fingerprint)), name).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
        expect((await read(root, id)).status).toBe(REJECTED);
      }
    });

    test('is closed to those whose approval would not count', async () => {
      const { root, alice, bob, dave, tagId } = await opsOrganization();
      const { fingerprint, id } = (await rename(alice)).body.activity;
      expect(outcome(await reject(dave, fingerprint))).toEqual(DENIED);
      await untag(root, tagId, bob);
      expect(outcome(await reject(bob, fingerprint))).toEqual(DENIED);
      expect((await read(root, id)).status).toBe(PENDING);
    });

    test('the submitter withdraws even without the tag', async () => {
      const { root, alice, tagId } = await opsOrganization();
      const { fingerprint } = (await rename(alice)).body.activity;
      await untag(root, tagId, alice);
      expect(outcome(await reject(alice, fingerprint))).toEqual([200, REJECTED]);
    });
  });

  describe('canApprove and canReject', () => {
    test('say to each reader what a vote of theirs would do', async () => {
      const { root, alice, bob, carol, dave } = await opsOrganization(3);
      const stranger = (await newOrganization(parent, 'eve')).eve;
      const { fingerprint, id } = (await rename(alice)).body.activity;
      expect(await flags(alice, id), 'the submitter').toEqual([false, true]);
      expect(await flags(bob, id), 'one who may approve').toEqual([true, true]);
      expect(await flags(carol, id), 'another').toEqual([true, true]);
      expect(await flags(dave, id), 'one who may not').toEqual([false, false]);
      expect(await flags(root, id), 'a root user').toEqual([true, true]);
      const above = (await parent.query('get_activity', { organizationId: root.organizationId, activityId: id })).body;
      expect(above.activity).toMatchObject({ id, canApprove: false, canReject: false });
      expect((await stranger.query('get_activity', { activityId: id })).status).toBe(404);
      const listed = (await bob.query('list_activities', { filterByStatus: [PENDING] })).body.activities;
      expect(listed).toMatchObject([{ id, canApprove: true, canReject: true }]);

      const answer = (await approve(bob, fingerprint)).body.activity;
      expect(answer.canApprove).toBe(false);
      expect(await flags(carol, id)).toEqual([true, true]);
      expect(await flags(alice, id)).toEqual([false, true]);
      await approve(carol, fingerprint);
      for (const client of [root, alice, bob, carol, dave]) expect(await flags(client, id)).toEqual([false, false]);
    });

    test('one who has approved may still reject, and is told so', async () => {
      const { alice, bob } = await opsOrganization(3);
      const { fingerprint, id } = (await rename(alice)).body.activity;
      await approve(bob, fingerprint);
      expect(await flags(bob, id)).toEqual([false, true]);
      expect(outcome(await reject(bob, fingerprint))).toEqual([200, REJECTED]);
    });

    test('where anybody may approve, everybody is told so', async () => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
      await allow(root, { consensus: 'approvers.count() >= 3' });
      const { id } = (await rename(alice)).body.activity;
      expect(await flags(bob, id)).toEqual([true, true]);
      expect(await flags(alice, id)).toEqual([false, true]);
    });

    test('where only the root quorum can still agree, others are told that they cannot', async () => {
      const { root, alice, bob, dave } = await newOrganization(parent, 'alice', 'bob', 'dave');
      await allow(root, { consensus: `${isUser(alice)} && ${isUser(bob)}` });
      await deny(root, { condition: "activity.kind == 'UPDATE_USER_NAME'" });
      const update = await root.submit('update_root_quorum', { threshold: 2, userIds: [root.userId, dave.userId] });
      expect(outcome(update)).toEqual(ALLOWED);
      const { id } = (await rename(root)).body.activity;
      expect(await flags(dave, id)).toEqual([true, true]);
      expect(await flags(bob, id)).toEqual([false, false]);
    });
  });

  test('two approvers at once complete it once', async () => {
    const { root, alice, bob, carol } = await opsOrganization();
    const tagId = await newTag(root, alice, bob, carol);
    await allow(root, { condition: "activity.kind == 'CREATE_WALLET'", consensus: hasTag(tagId, 2) });
    for (let round = 0; round < 5; round += 1) {
      const before = await walletCount(root);
      const { fingerprint, id } = (await makeWallet(alice)).body.activity;
      const answers = await Promise.all([approve(bob, fingerprint), approve(carol, fingerprint)]);
      const completing = answers.filter((answer) => answer.status === 200);
      expect(completing.length).toBeGreaterThanOrEqual(1);
      for (const answer of answers) {
        expect([ALLOWED, [400, 'ACTIVITY_ALREADY_DECIDED']]).toContainEqual(outcome(answer));
      }
      const done = await read(root, id);
      expect(done.status).toBe(COMPLETED);
      expect(done.votes).toHaveLength(2);
      expect(await walletCount(root)).toBe(before + 1);
    }
  });

  test('many users who send the same bytes at once: one activity, executed once', async () => {
    const { root, alice, bob, carol } = await opsOrganization(3);
    const tagId = await newTag(root, alice, bob, carol);
    await allow(root, { condition: "activity.kind == 'CREATE_WALLET'", consensus: hasTag(tagId, 3) });
    for (let round = 0; round < 3; round += 1) {
      const before = await walletCount(root);
      const body = alice.submitBody('create_wallet', { walletName: `Wallet ${randomUUID()}`, accounts: [ethereum()] });
      const people = [alice, bob, carol, bob, alice, carol];
      const answers = await Promise.all(people.map((client) => client.sendStamped(path('create_wallet'), body)));
      for (const answer of answers) expect([ALLOWED, WAITS]).toContainEqual(outcome(answer));
      expect(new Set(answers.map((answer) => answer.body.activity.id)).size).toBe(1);
      const done = await read(root, answers[0]?.body.activity.id);
      expect(done.status).toBe(COMPLETED);
      expect([...voters(done)].sort()).toEqual([alice.userId, bob.userId, carol.userId].sort());
      expect(await walletCount(root)).toBe(before + 1);
    }
  });

  test('an approval and a rejection at once: one of them decides', async () => {
    const { root, alice, bob, carol } = await opsOrganization();
    for (let round = 0; round < 5; round += 1) {
      const userName = `Name ${randomUUID()}`;
      const { fingerprint, id } = (await rename(alice, userName)).body.activity;
      const [approved, rejected] = await Promise.all([approve(bob, fingerprint), reject(carol, fingerprint)]);
      const { status } = await read(root, id);
      expect([COMPLETED, REJECTED]).toContain(status);
      expect((await nameOf(root, alice.userId)) === userName).toBe(status === COMPLETED);
      const [winner, loser] = status === COMPLETED ? [approved, rejected] : [rejected, approved];
      expect(outcome(winner)).toEqual([200, status]);
      expect(outcome(loser)).toEqual([400, 'ACTIVITY_ALREADY_DECIDED']);
    }
  });
});

describe.each(DATABASES)('rules that change under a decision on %s', (database) => {
  let service: TestApp;
  let root: TestClient;
  let alice: TestClient;
  let bob: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    root = service.root;
    alice = await createUser(root, 'alice');
    bob = await createUser(root, 'bob');
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    const { policies } = (await root.query('list_policies')).body;
    const policyIds = policies.map((entry: { policyId: string }) => entry.policyId);
    if (policyIds.length > 0) await root.run('delete_policies', { policyIds });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  /** Runs `meanwhile` when the keyring has done its part of a request, before the request commits. */
  async function interrupted<T>(
    method: 'createWallet' | 'exportWallet',
    request: () => Promise<T>,
    meanwhile: () => Promise<unknown>,
  ): Promise<T> {
    const { keyring } = service.app;
    const real = keyring[method].bind(keyring) as (...given: unknown[]) => Promise<never>;
    let isFirst = true;
    const spy = vi.spyOn(keyring, method).mockImplementation(async (...given: unknown[]) => {
      const made = await real(...given);
      if (isFirst) {
        isFirst = false;
        await meanwhile();
      }
      return made;
    });
    const answer = await request();
    expect(spy).toHaveBeenCalled();
    spy.mockRestore();
    return answer;
  }

  test('a policy that was deleted allows nothing', async () => {
    const policyId = await allow(root, { condition: "activity.kind == 'CREATE_WALLET'" });
    const before = await walletCount(root);
    const undisturbed = await interrupted(
      'createWallet',
      () => makeWallet(alice),
      async () => {},
    );
    expect(outcome(undisturbed)).toEqual(ALLOWED);
    const answer = await interrupted(
      'createWallet',
      () => makeWallet(alice),
      () => root.run('delete_policy', { policyId }),
    );
    expect(outcome(answer)).toEqual(DENIED);
    expect(denialOf(answer).policyEvaluations).toEqual([]);
    expect(await walletCount(root)).toBe(before + 1);
    expect((await read(root, denialOf(answer).activityId)).status).toBe(REJECTED);
  });

  test('a denial that came meanwhile denies', async () => {
    await allow(root);
    const before = await walletCount(root);
    let denial = '';
    const answer = await interrupted(
      'createWallet',
      () => makeWallet(alice),
      async () => {
        denial = await deny(root, { condition: "activity.kind == 'CREATE_WALLET'" });
      },
    );
    expect(denialOf(answer).message).toContain(denial);
    expect(await walletCount(root)).toBe(before);
  });

  test('a policy that now asks for votes makes it wait', async () => {
    const policyId = await allow(root, { condition: "activity.kind == 'CREATE_WALLET'" });
    const before = await walletCount(root);
    const answer = await interrupted(
      'createWallet',
      () => makeWallet(alice),
      () => root.run('update_policy', { policyId, policyConsensus: 'approvers.count() >= 2' }),
    );
    expect(outcome(answer)).toEqual(WAITS);
    expect(await walletCount(root)).toBe(before);
    expect(outcome(await approve(bob, answer.body.activity.fingerprint))).toEqual(ALLOWED);
    expect(await walletCount(root)).toBe(before + 1);
  });

  test('another policy that allows it just as well lets it through', async () => {
    const policyId = await allow(root);
    const other = await allow(root, { condition: "activity.kind == 'CREATE_WALLET'" });
    const answer = await interrupted(
      'createWallet',
      () => makeWallet(alice),
      () => root.run('delete_policy', { policyId }),
    );
    expect(outcome(answer)).toEqual(ALLOWED);
    const [record] = await evaluationsOf(root, answer.body.activity.id);
    expect(outcomesOf(record.policyEvaluations)).toEqual({ [other]: 'OUTCOME_ALLOW' });
  });

  test('a submitter who lost the tag is denied', async () => {
    const tagId = await newTag(root, alice);
    await allow(root, { consensus: hasTag(tagId, 1) });
    const before = await walletCount(root);
    const answer = await interrupted(
      'createWallet',
      () => makeWallet(alice),
      () => untag(root, tagId, alice),
    );
    expect(outcome(answer)).toEqual(DENIED);
    expect(await walletCount(root)).toBe(before);
  });

  test('the last vote does not complete what the policy no longer allows', async () => {
    const policyId = await allow(root, {
      condition: "activity.kind == 'CREATE_WALLET'",
      consensus: 'approvers.count() >= 2',
    });
    const before = await walletCount(root);
    const { fingerprint, id } = (await makeWallet(alice)).body.activity;
    const answer = await interrupted(
      'createWallet',
      () => approve(bob, fingerprint),
      () => root.run('delete_policy', { policyId }),
    );
    expect(outcome(answer)).toEqual(DENIED);
    expect(await read(root, id)).toMatchObject({ status: PENDING });
    expect(await walletCount(root)).toBe(before);
  });

  test('a denial that came meanwhile rejects at the last vote', async () => {
    await allow(root, { condition: "activity.kind == 'CREATE_WALLET'", consensus: 'approvers.count() >= 2' });
    const before = await walletCount(root);
    const { fingerprint, id } = (await makeWallet(alice)).body.activity;
    const answer = await interrupted(
      'createWallet',
      () => approve(bob, fingerprint),
      () => deny(root),
    );
    expect(outcome(answer)).toEqual(DENIED);
    expect((await read(root, id)).status).toBe(REJECTED);
    expect(await walletCount(root)).toBe(before);
  });

  test('a user whom the policy knows by name and who was renamed is denied', async () => {
    const carol = await createUser(root, 'The treasurer');
    await allow(root, {
      condition: "activity.kind == 'CREATE_WALLET'",
      consensus: "approvers.any(u, u.alias == 'The treasurer')",
    });
    expect(outcome(await makeWallet(carol))).toEqual(ALLOWED);
    const before = await walletCount(root);
    const answer = await interrupted(
      'createWallet',
      () => makeWallet(carol),
      () => root.run('update_user_name', { userId: carol.userId, userName: 'Retired' }),
    );
    expect(outcome(answer)).toEqual(DENIED);
    expect(await walletCount(root)).toBe(before);
  });

  test('a wallet that may be exported once is exported once', async () => {
    const { walletId } = await newWallet(root);
    await allow(root, { condition: "activity.kind == 'EXPORT_WALLET' && wallet.exported == false" });
    const take = () => alice.submit('export_wallet', { walletId, targetPublicKey: new Receiver().publicKey });
    const answer = await interrupted('exportWallet', take, async () => expect(outcome(await take())).toEqual(ALLOWED));
    expect(outcome(answer)).toEqual(DENIED);
  });
});

describe.each(DATABASES)('approvals for policies and time on %s', (database) => {
  let service: TestApp;
  let root: TestClient;
  let people: [TestClient, TestClient, TestClient];
  let tagId: string;

  beforeAll(async () => {
    service = await openTestApp(database);
    root = new ClockClient(service.app.clock, service.root);
    people = [await createUser(root, 'alice'), await createUser(root, 'bob'), await createUser(root, 'carol')];
    tagId = await newTag(root, ...people);
    await allow(root, { condition: "activity.kind == 'UPDATE_USER_NAME'", consensus: hasTag(tagId, 2) });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('hold for a day', async () => {
    const [alice, bob] = people;
    const { fingerprint } = (await rename(alice)).body.activity;
    service.advance(DAY - 60_000);
    expect(outcome(await approve(bob, fingerprint))).toEqual(ALLOWED);
  });

  test('lapse after a day and must be given again, also by the submitter', async () => {
    const [alice, bob] = people;
    const { fingerprint, id } = (await rename(alice)).body.activity;
    service.advance(DAY);
    const late = await approve(bob, fingerprint);
    expect(outcome(late)).toEqual(WAITS);
    expect((await read(root, id)).status).toBe(PENDING);
    expect(outcome(await approve(alice, fingerprint))).toEqual(ALLOWED);
  });

  test('after a day those whose approval lapsed are told that they can approve again', async () => {
    const [alice, bob, carol] = people;
    const { id } = (await rename(alice)).body.activity;
    service.advance(DAY);
    expect(await flags(bob, id)).toEqual([true, true]);
    expect(await flags(carol, id)).toEqual([true, true]);
    expect(await flags(alice, id)).toEqual([true, true]);
  });

  test('a new round has a day of its own', async () => {
    const [alice, bob, carol] = people;
    const { fingerprint } = (await rename(alice)).body.activity;
    service.advance(DAY);
    expect(outcome(await approve(bob, fingerprint))).toEqual(WAITS);
    service.advance(DAY - HOUR);
    expect(outcome(await approve(carol, fingerprint))).toEqual(ALLOWED);
  });

  test('a lapsed activity can still be rejected, by those who could approve it', async () => {
    const [alice, bob] = people;
    const dave = await createUser(root, `dave ${randomUUID()}`);
    const { fingerprint } = (await rename(alice)).body.activity;
    service.advance(2 * DAY);
    expect(outcome(await reject(dave, fingerprint))).toEqual(DENIED);
    expect(outcome(await reject(bob, fingerprint))).toEqual([200, REJECTED]);
  });
});
