import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { Receiver } from '../../harness/bundles.ts';
import { createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  ALLOWED,
  allow,
  approve,
  ClockClient,
  DENIED,
  denialOf,
  deny,
  evaluationsOf,
  flags,
  hasTag,
  isUser,
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
} from '../fixtures/policy-flows.ts';
import { newWallet } from '../fixtures/wallets.ts';
import { makeWallet, nameOf, openVotes, untag, walletCount } from './support.ts';

const HOUR = 60 * 60 * 1000;

const DAY = 24 * HOUR;

const retag = (root: TestClient, userTagId: string, { userId }: TestClient) =>
  root.run('update_user_tag', { userTagId, addUserIds: [userId], removeUserIds: [] });
describe.each(databasesOf(import.meta.url))('consensus of policies on %s', (database) => {
  const suite = openVotes(database);
  const { opsOrganization } = suite;

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
});

describe.each(databasesOf(import.meta.url))('rules that change under a decision on %s', (database) => {
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

describe.each(databasesOf(import.meta.url))('approvals for policies and time on %s', (database) => {
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
