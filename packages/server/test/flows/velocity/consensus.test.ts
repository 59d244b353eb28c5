import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type Answer, createSubOrganization, createUser, TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { TestServer } from '../../harness/server.ts';
import {
  addPasskey,
  approve,
  Caller,
  COMPLETED,
  FAILED,
  outcome,
  PENDING,
  path,
  policyFor,
  propose,
  read,
  reject,
  tagNames,
  times,
  UNPROVEN,
  voters,
} from '../fixtures/access.ts';
import { newWallet } from '../fixtures/wallets.ts';
import { control, countOf, DONE, ETH, EXCEEDED, eth, openVelocity, SIGN, sumOf } from './support.ts';

const HOUR = 60 * 60 * 1000;

function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const key = outcome(answer).join(' ');
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
describe.each(DATABASES)('velocity controls on %s', (database) => {
  const suite = openVelocity(database);
  const { newOrg, newTreasury, newSpender } = suite;

  describe('consensus', () => {
    /** Two users who must agree, neither of them root. */
    async function twoOfTwo() {
      const root = await createSubOrganization(suite.parent, `Org ${randomUUID()}`);
      const [a, b] = [await createUser(root, 'a'), await createUser(root, 'b')];
      const consensus = [a, b].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ');
      await policyFor(root, a, { consensus });
      return { root, a, b };
    }

    test('what waits does not count, the vote that completes it does', async () => {
      const { root, a, b } = await twoOfTwo();
      await control(root, countOf());
      const pending = await Promise.all(times(3, () => propose(a)));
      expect(pending.map(outcome)).toEqual(times(3, () => [200, PENDING]));
      const fingerprints = pending.map(({ body }) => body.activity.fingerprint as string);
      expect(outcome(await approve(b, fingerprints[0]!))).toEqual(DONE);
      // The others wait on, and the vote that could not complete them is not there.
      const late = await approve(b, fingerprints[1]!);
      expect(outcome(late)).toEqual(EXCEEDED);
      const { activity } = pending[1]!.body;
      expect((await read(root, activity.id)).status).toBe(PENDING);
      expect(voters(await read(root, activity.id))).toEqual([a.userId]);
      expect(outcome(await reject(b, fingerprints[2]!))).toEqual([200, 'ACTIVITY_STATUS_REJECTED']);
      // Once there is room, the same vote completes it.
      const { velocityControls } = (await root.query('list_velocity_controls')).body;
      await root.run('delete_velocity_control', { velocityControlId: velocityControls[0].velocityControlId });
      expect(outcome(await approve(b, fingerprints[1]!))).toEqual(DONE);
    });

    test('what fails in the end is released', async () => {
      const { root, a, b } = await twoOfTwo();
      await control(root, countOf());
      const [first, second] = [(await propose(a, 'Same')).body.activity, (await propose(a, 'Other')).body.activity];
      expect(outcome(await propose(root, 'Elsewhere'))).toEqual(DONE);
      await suite.rows.run('DELETE FROM velocity_entry WHERE organization_id = ?', [root.organizationId]);
      // The name is taken by the time of the vote, without the control having seen it.
      const { userTags } = (await root.query('list_user_tags')).body;
      await root.run('update_user_tag', {
        userTagId: userTags[0].tagId,
        newUserTagName: 'Same',
        addUserIds: [],
        removeUserIds: [],
      });
      expect(outcome(await approve(b, first.fingerprint))).toEqual([200, FAILED]);
      expect(
        await suite.rows.run('SELECT id FROM velocity_entry WHERE organization_id = ?', [root.organizationId]),
      ).toEqual([]);
      expect(outcome(await approve(b, second.fingerprint))).toEqual(DONE);
    });

    test('by user: it counts for the proposer, whoever completes it', async () => {
      const { root, a, b } = await twoOfTwo();
      await control(root, countOf({ groupBy: { user: {} } }));
      const byA = [await propose(a), await propose(a)].map(({ body }) => body.activity.fingerprint as string);
      const byB = (await propose(b)).body.activity.fingerprint as string;
      expect(outcome(await approve(b, byA[0]!))).toEqual(DONE);
      expect(outcome(await approve(b, byA[1]!))).toEqual(EXCEEDED);
      expect(outcome(await approve(a, byB))).toEqual(DONE);
    });

    test('the last proof of a factor that would go beyond leaves the activity waiting for it', async () => {
      const { root, user } = await newOrg();
      const passkey = await addPasskey(user);
      const velocityControlId = await control(root, countOf());
      await root.run('create_mfa_policy', {
        userId: user.userId,
        mfaPolicyName: 'passkey',
        condition: 'true',
        requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }],
        order: 0,
      });
      const { id, fingerprint, status } = (await propose(user)).body.activity;
      expect(status).toBe(UNPROVEN);
      expect(outcome(await propose(passkey))).toEqual(DONE);
      expect(outcome(await approve(passkey, fingerprint))).toEqual(EXCEEDED);
      expect((await read(root, id)).status).toBe(UNPROVEN);
      await root.run('delete_velocity_control', { velocityControlId });
      expect(outcome(await approve(passkey, fingerprint))).toEqual(DONE);
    });

    test('votes at once: as many are completed as fit', async () => {
      const { root, a, b } = await twoOfTwo();
      await control(root, countOf({ threshold: '5' }));
      const proposed = await Promise.all(times(8, () => propose(a)));
      const answers = await Promise.all(proposed.map(({ body }) => approve(b, body.activity.fingerprint)));
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 5, '403 VELOCITY_EXCEEDED': 3 });
      expect(await tagNames(root)).toHaveLength(5);
    });
  });

  describe('at once', () => {
    // Signing holds the organization together with others, so that only the control itself keeps requests apart.
    test.each([1, 2, 3, 4])('of six signatures, five get through (round %i)', async () => {
      const { root, user, address } = await newTreasury();
      await control(root, countOf({ types: [SIGN], threshold: '5', window: { rolling: { duration: '1h' } } }));
      const answers = await Promise.all(times(6, () => eth(user, address, '1')));
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 5, '403 VELOCITY_EXCEEDED': 1 });
      expect((await root.query('list_activities', { filterByType: [SIGN] })).body.activities).toHaveLength(5);
    });

    test('of six activities that take the organization for themselves, five get through', async () => {
      const { root, user } = await newOrg();
      await control(root, countOf({ threshold: '5' }));
      const answers = await Promise.all(times(6, () => propose(user)));
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 5, '403 VELOCITY_EXCEEDED': 1 });
      expect(await tagNames(root)).toHaveLength(5);
    });

    test('of many requests of many users against several controls, as many as the narrowest allows', async () => {
      const { root, user, address } = await newTreasury();
      const users = [user, await newSpender(root), await newSpender(root)];
      for (const threshold of ['9', '7', '8']) await control(root, countOf({ types: [SIGN], threshold }));
      await control(root, countOf({ types: [SIGN], threshold: '4', groupBy: { user: {} } }));
      const answers = await Promise.all(times(30, (index) => eth(users[index % 3] as TestClient, address, '1')));
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 7, '403 VELOCITY_EXCEEDED': 23 });
    });

    test('amounts add up exactly', async () => {
      const { root, user, address } = await newTreasury();
      await control(root, sumOf([ETH], { threshold: '1' }));
      const answers = await Promise.all(times(9, () => eth(user, address, '0.2')));
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 5, '403 VELOCITY_EXCEEDED': 4 });
    });

    test('the same bytes many times beside others: one place for them', async () => {
      const { root, user } = await newOrg();
      await control(root, countOf({ threshold: '5' }));
      const body = user.submitBody('create_user_tag', { userTagName: 'Same', userIds: [] });
      expect(outcome(await user.sendStamped(path('create_user_tag'), body))).toEqual(DONE);
      const answers = await Promise.all([
        ...times(5, () => user.sendStamped(path('create_user_tag'), body)),
        ...times(6, () => propose(user)),
      ]);
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 9, '403 VELOCITY_EXCEEDED': 2 });
      expect(await tagNames(root)).toHaveLength(5);
    });

    test('a control that is made meanwhile holds for everything that commits after it', async () => {
      const { root, user, address } = await newTreasury();
      const made = root.submit('create_velocity_control', countOf({ types: [SIGN], threshold: '3' }));
      const answers = await Promise.all(times(12, () => eth(user, address, '1')));
      expect(outcome(await made)).toEqual(DONE);
      const counted = await suite.rows.run('SELECT id FROM velocity_entry WHERE organization_id = ?', [
        root.organizationId,
      ]);
      const refused = answers.filter(({ status }) => status !== 200);
      for (const answer of refused) expect(outcome(answer)).toEqual(EXCEEDED);
      // Refused is something only once three have been counted, and no more ever are.
      expect(counted.length).toBeLessThanOrEqual(3);
      if (refused.length > 0) expect(counted).toHaveLength(3);
    });
  });
});

describe('two processes on one PostgreSQL', () => {
  let one: TestServer;
  let two: TestServer;

  beforeAll(async () => {
    one = await TestServer.start({ database: 'postgres' });
    two = await TestServer.start({ dataDir: one.dataDir, env: { CUSTOS_DATABASE_URL: one.databaseUrl ?? '' } });
  });
  afterAll(async () => {
    await two?.[Symbol.asyncDispose]();
    await one?.[Symbol.asyncDispose]();
  });

  test.each([1, 2, 3, 4, 5, 6])('of requests to both, as many get through as fit (round %i)', async () => {
    const parent = TestClient.root(one.credentials, one.baseUrl);
    const root = await createSubOrganization(parent, `Org ${randomUUID()}`);
    const user = await createUser(root, 'user');
    await policyFor(root, user);
    const address = (await newWallet(root)).addresses[0] as string;
    const elsewhere = new TestClient(two.baseUrl, user.organizationId, user.key, user.userId);
    // The other process knows the rules as they were, as one that serves requests all the time does.
    expect(outcome(await eth(elsewhere, address, '1'))).toEqual(DONE);
    await control(root, countOf({ types: [SIGN], threshold: '5', window: { rolling: { duration: '1h' } } }));
    const answers = await Promise.all(times(12, (index) => eth(index % 2 === 0 ? user : elsewhere, address, '1')));
    expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 5, '403 VELOCITY_EXCEEDED': 7 });
    for (const client of [user, elsewhere]) expect(outcome(await eth(client, address, '1'))).toEqual(EXCEEDED);
  });
});

describe.each(DATABASES)('velocity controls and time on %s', (database) => {
  let app: TestApp;
  let parent: TestClient;
  let offset = 0;

  beforeAll(async () => {
    app = await openTestApp(database);
    parent = new Caller(app.root, { offsetMs: () => offset });
  });
  afterAll(() => app?.[Symbol.asyncDispose]());

  const advance = (milliseconds: number) => {
    offset += milliseconds;
    app.advance(milliseconds);
  };

  async function newOrg() {
    const sub = await createSubOrganization(parent, `Org ${randomUUID()}`);
    const root = new Caller(sub, { offsetMs: () => offset });
    const user = await createUser(root, 'user');
    await policyFor(root, user);
    return { root, user };
  }

  test.each([
    ['3600s', HOUR],
    ['90m', 1.5 * HOUR],
    ['24h', 24 * HOUR],
    ['7d', 7 * 24 * HOUR],
  ])('a rolling window of %s', async (duration, length) => {
    const { root, user } = await newOrg();
    await control(root, countOf({ threshold: '2', window: { rolling: { duration } } }));
    expect(outcome(await propose(user))).toEqual(DONE);
    advance(length / 2);
    expect(outcome(await propose(user))).toEqual(DONE);
    expect(outcome(await propose(user))).toEqual(EXCEEDED);
    // A minute before the first one leaves the window, and then at the moment that it has left.
    advance(length / 2 - 60_000);
    expect(outcome(await propose(user))).toEqual(EXCEEDED);
    advance(60_000);
    expect(outcome(await propose(user))).toEqual(DONE);
    expect(outcome(await propose(user))).toEqual(EXCEEDED);
    advance(length / 2);
    expect(outcome(await propose(user))).toEqual(DONE);
    expect(outcome(await propose(user))).toEqual(EXCEEDED);
    advance(3 * length);
    for (const _ of times(2, () => 0)) expect(outcome(await propose(user))).toEqual(DONE);
    expect(outcome(await propose(user))).toEqual(EXCEEDED);
  });

  test('an infinite window never lets go', async () => {
    const { root, user } = await newOrg();
    await control(root, countOf());
    expect(outcome(await propose(user))).toEqual(DONE);
    advance(10 * 366 * 24 * HOUR);
    expect(outcome(await propose(user))).toEqual(EXCEEDED);
  });

  test('an activity counts when it is done, not when it was proposed', async () => {
    const { root, user } = await newOrg();
    const other = await createUser(root, 'other');
    const { policies } = (await root.query('list_policies')).body;
    await root.run('delete_policy', { policyId: policies[0].policyId });
    const consensus = [user, other].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ');
    await policyFor(root, user, { consensus });
    await control(root, countOf({ window: { rolling: { duration: '1h' } } }));
    const [first, second] = [(await propose(user)).body.activity, (await propose(user)).body.activity];
    advance(2 * HOUR);
    expect(outcome(await approve(other, first.fingerprint))).toEqual(DONE);
    advance(HOUR - 60_000);
    const early = await approve(other, second.fingerprint);
    expect(outcome(early)).toEqual(EXCEEDED);
    expect(await read(root, second.id)).toMatchObject({ status: PENDING });
    expect(voters(await read(root, second.id))).toEqual([user.userId]);
    // The window has rolled on: the same vote completes it.
    advance(60_000);
    expect(outcome(await approve(other, second.fingerprint))).toEqual(DONE);
  });

  test('what the root quorum did counts in the window like anything else', async () => {
    const { root, user } = await newOrg();
    await control(root, countOf({ threshold: '1', window: { rolling: { duration: '1h' } } }));
    for (const _ of times(2, () => 0)) expect(outcome(await propose(root))).toEqual(DONE);
    expect(outcome(await propose(user))).toEqual(EXCEEDED);
    advance(HOUR);
    expect(outcome(await propose(user))).toEqual(DONE);
  });
});
