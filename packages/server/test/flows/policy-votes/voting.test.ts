import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newKeyPair } from '../../harness/client.ts';
import { DATABASES, databasesOf } from '../../harness/databases.ts';
import {
  ALLOWED,
  allow,
  approve,
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
  PENDING,
  path,
  REJECTED,
  read,
  reject,
  rename,
  voters,
  WAITS,
} from '../fixtures/policy-flows.ts';
import { ethereum } from '../fixtures/wallets.ts';
import { makeWallet, nameOf, openVotes, untag, walletCount } from './support.ts';

describe.each(databasesOf(import.meta.url))('consensus of policies on %s', (database) => {
  const suite = openVotes(database);
  const { opsOrganization } = suite;

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
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
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
      const { root, alice, bob, dave } = await newOrganization(suite.parent, 'alice', 'bob', 'dave');
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
      const stranger = (await newOrganization(suite.parent, 'eve')).eve;
      const { fingerprint, id } = (await rename(alice)).body.activity;
      expect(await flags(alice, id), 'the submitter').toEqual([false, true]);
      expect(await flags(bob, id), 'one who may approve').toEqual([true, true]);
      expect(await flags(carol, id), 'another').toEqual([true, true]);
      expect(await flags(dave, id), 'one who may not').toEqual([false, false]);
      expect(await flags(root, id), 'a root user').toEqual([true, true]);
      const above = (await suite.parent.query('get_activity', { organizationId: root.organizationId, activityId: id }))
        .body;
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
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
      await allow(root, { consensus: 'approvers.count() >= 3' });
      const { id } = (await rename(alice)).body.activity;
      expect(await flags(bob, id)).toEqual([true, true]);
      expect(await flags(alice, id)).toEqual([false, true]);
    });

    test('where only the root quorum can still agree, others are told that they cannot', async () => {
      const { root, alice, bob, dave } = await newOrganization(suite.parent, 'alice', 'bob', 'dave');
      await allow(root, { consensus: `${isUser(alice)} && ${isUser(bob)}` });
      await deny(root, { condition: "activity.kind == 'UPDATE_USER_NAME'" });
      const update = await root.submit('update_root_quorum', { threshold: 2, userIds: [root.userId, dave.userId] });
      expect(outcome(update)).toEqual(ALLOWED);
      const { id } = (await rename(root)).body.activity;
      expect(await flags(dave, id)).toEqual([true, true]);
      expect(await flags(bob, id)).toEqual([false, false]);
    });
  });
});

describe.each(DATABASES)('votes for policies at once on %s', (database) => {
  const { opsOrganization } = openVotes(database);

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
