import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { enforce, PASSKEY, step } from './mfa/support.ts';

const HOUR = 3_600_000;
const tag = () => ({ userTagName: randomUUID(), userIds: [] });

// biome-ignore lint/suspicious/noExplicitAny: answers are asserted on.
type Any = any;

describe.each(DATABASES)('approvals on %s', (database) => {
  let app: TestApp;
  let parent: TestClient;
  let root: TestClient;
  let ada: TestClient;
  let grace: TestClient;
  let linus: TestClient;

  beforeAll(async () => {
    app = await openTestApp(database);
    parent = app.root;
    root = await createSubOrganization(parent, 'Inbox');
    ada = await createUser(root, 'Ada');
    grace = await createUser(root, 'Grace', { userEmail: 'grace@example.com' });
    linus = await createUser(root, 'Linus');
    await root.run('create_policies', {
      policies: [
        {
          policyName: 'Two of three make tags',
          effect: 'EFFECT_ALLOW',
          condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
          consensus: `approvers.filter(user, user.id in ['${ada.userId}', '${grace.userId}', '${linus.userId}']).count() >= 2`,
          notes: '',
        },
      ],
    });
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, grace.userId] });
  });
  afterAll(() => app[Symbol.asyncDispose]());

  const propose = async (by: TestClient): Promise<Any> => (await by.submit('create_user_tag', tag())).body.activity;
  const list = async (by: TestClient, parameters: object = {}): Promise<Any> => {
    const { status, body } = await by.query('list_approvals', { ...parameters });
    expect([status, body.message]).toEqual([200, undefined]);
    return body;
  };
  const get = async (by: TestClient, activityId: string): Promise<Any> => {
    const { status, body } = await by.query('get_approval', { activityId });
    expect([status, body.message]).toEqual([200, undefined]);
    return body.approval;
  };
  const approve = (by: TestClient, { fingerprint }: Any) => by.submit('approve_activity', { fingerprint });

  test('tell whom an activity waits for, on every way', async () => {
    const activity = await propose(ada);
    const { progress } = await get(grace, activity.id);
    expect(progress).toMatchObject({
      waitsForMe: true,
      completes: true,
      given: 1,
      required: 2,
      ways: [
        {
          kind: 'POLICY',
          policyName: 'Two of three make tags',
          given: 1,
          required: 2,
          missing: { anyone: false, userIds: expect.arrayContaining([grace.userId, linus.userId]) },
        },
        { kind: 'ROOT_QUORUM', given: 0, required: 2, missing: { userIds: [root.userId, grace.userId] } },
      ],
      submitter: {
        userId: ada.userId,
        userName: 'Ada',
        isProgram: true,
        credentialName: 'Ada key',
        credentialKind: 'API_KEY',
        sourceAddress: '127.0.0.1',
      },
      votes: [{ userId: ada.userId, selection: 'APPROVED' }],
    });
    expect(progress.ways[0].text).toMatch(/^Missing: one of (you or Linus|Linus or you)$/);
    expect(new Date(progress.lapsesAt).getTime() - new Date(activity.createdAt).getTime()).toBe(24 * HOUR);
    expect((await get(ada, activity.id)).progress).toMatchObject({ waitsForMe: false, myVote: 'APPROVED' });
    expect((await get(root, activity.id)).progress).toMatchObject({ waitsForMe: true, completes: false });

    await approve(grace, activity);
    const { progress: done } = await get(root, activity.id);
    expect(done).toMatchObject({
      waitsForMe: false,
      given: 2,
      required: 2,
      ways: [],
      outcome: 'ACTIVITY_STATUS_COMPLETED',
      decidedAt: expect.any(String),
    });
    expect(done.votes.map(({ userName, isProgram }: Any) => [userName, isProgram])).toEqual([
      ['Ada', true],
      ['Grace', false],
    ]);
    expect(done).not.toHaveProperty('lapsesAt');
  });

  test('agree with whether a vote would be taken', async () => {
    const outsider = await createPending(root, grace, 'Nobody');
    const activity = await propose(linus);
    for (const voter of [root, ada, grace, linus, outsider]) {
      const { progress } = await get(voter, activity.id);
      const { status, body } = await voter.submit('approve_activity', { fingerprint: `${activity.fingerprint}` });
      const isTaken = status === 200 && body.activity.votes.some(({ userId }: Any) => userId === voter.userId);
      expect([voter.userId, progress.waitsForMe]).toEqual([voter.userId, isTaken && voter !== linus]);
      if (body.activity?.status === 'ACTIVITY_STATUS_COMPLETED') {
        expect(progress.completes).toBe(true);
        break;
      }
      if (status === 200) expect(progress.completes).toBe(false);
    }
  });

  test('are listed for me, for others and decided, in pages, and counted', async () => {
    const own = await createSubOrganization(parent, `Lists ${randomUUID()}`);
    const second = await createUser(own, 'Second');
    await own.run('update_root_quorum', { threshold: 2, userIds: [own.userId, second.userId] });
    const mine: Any[] = [];
    const others: Any[] = [];
    for (let index = 0; index < 5; index += 1) {
      mine.push((await second.submit('create_user_tag', tag())).body.activity);
      others.push((await own.submit('create_user_tag', tag())).body.activity);
    }
    const forMe = await list(own, { filter: 'FOR_ME' });
    expect(forMe.approvals.map(({ activity }: Any) => activity.id)).toEqual(mine.map(({ id }) => id).reverse());
    expect(forMe.counts).toEqual({ forMe: 5, forOthers: 5, isComplete: true });
    const forOthers = await list(own, { filter: 'FOR_OTHERS' });
    expect(forOthers.approvals.map(({ activity }: Any) => activity.id)).toEqual(others.map(({ id }) => id).reverse());
    expect((await list(own)).approvals).toHaveLength(10);

    const seen: string[] = [];
    for (let after = ''; ; ) {
      const page = await list(own, { filter: 'FOR_ME', paginationOptions: { limit: '2', after } });
      seen.push(...page.approvals.map(({ activity }: Any) => activity.id));
      expect(page.approvals.length).toBeLessThanOrEqual(2);
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    expect(seen).toEqual(mine.map(({ id }) => id).reverse());
    const back = await list(own, { filter: 'FOR_ME', paginationOptions: { limit: '2', before: mine[0].id } });
    expect(back.approvals.map(({ activity }: Any) => activity.id)).toEqual([mine[2].id, mine[1].id]);
    expect(back.pageInfo.hasPreviousPage).toBe(true);

    await approve(own, mine[0]);
    await second.submit('reject_activity', { fingerprint: others[0].fingerprint });
    const decided = await list(own, { filter: 'DECIDED', paginationOptions: { limit: '2' } });
    expect(decided.approvals.map(({ activity, progress }: Any) => [activity.id, progress.outcome])).toEqual([
      [others[0].id, 'ACTIVITY_STATUS_REJECTED'],
      [mine[0].id, 'ACTIVITY_STATUS_COMPLETED'],
    ]);
    expect(decided.approvals[0].progress.votes.at(-1)).toMatchObject({ userId: second.userId, selection: 'REJECTED' });
  });

  test('say which factor is next, and whose', async () => {
    const careful = await createUser(await soloRoot(), 'Careful');
    const boss = careful.as(soloKey, soloUserId);
    await boss.run('create_policies', {
      policies: [{ policyName: 'Anything', effect: 'EFFECT_ALLOW', condition: 'true', consensus: 'true', notes: '' }],
    });
    await enforce(boss, careful, [step(PASSKEY)]);
    const activity = (await careful.submit('create_user_tag', tag())).body.activity;
    expect(activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
    const { progress } = await get(careful, activity.id);
    expect(progress).toMatchObject({
      waitsForMe: true,
      authentication: {
        isMine: true,
        userId: careful.userId,
        factors: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }], isProven: false, isNext: true }],
        text: 'You have to confirm with a passkey (step 1 of 1)',
      },
    });
    const { progress: seen } = await get(boss, activity.id);
    expect(seen).toMatchObject({
      waitsForMe: false,
      authentication: { isMine: false, text: 'Careful has to confirm with a passkey (step 1 of 1)' },
    });
  });

  test('tell a parent who voted, and neither address nor key', async () => {
    const activity = await propose(ada);
    const asParent = new TestClient(parent.baseUrl, root.organizationId, parent.key, parent.userId);
    const { progress } = await get(asParent, activity.id);
    expect(progress.waitsForMe).toBe(false);
    expect(progress.submitter).toEqual({ userId: ada.userId, userName: 'Ada', isProgram: false });
    const { status, body } = await root.query('get_approval', { activityId: randomUUID() });
    expect([status, body.errorCode]).toEqual([404, 'ACTIVITY_NOT_FOUND']);
    const wrong = await root.query('list_approvals', { filter: 'ALL' });
    expect(wrong.status).toBe(400);
  });

  test('lapse after a day, and then everybody is asked again', async () => {
    const activity = await propose(ada);
    app.advance(25 * HOUR);
    const { progress } = await get(ada, activity.id);
    expect(progress).toMatchObject({ waitsForMe: true, isLapsed: true, given: 0, votes: [] });
    expect(progress).not.toHaveProperty('lapsesAt');
    const timestampMs = String(Date.now() + 25 * HOUR);
    await grace.submit('approve_activity', { fingerprint: activity.fingerprint }, { timestampMs });
    expect((await get(ada, activity.id)).progress).toMatchObject({ waitsForMe: true, completes: true, given: 1 });
  });

  let soloKey: TestClient['key'];
  let soloUserId: string;
  async function soloRoot(): Promise<TestClient> {
    const solo = await createSubOrganization(parent, `Solo ${randomUUID()}`);
    soloKey = solo.key;
    soloUserId = solo.userId;
    return solo;
  }

  async function createPending(one: TestClient, other: TestClient, userName: string): Promise<TestClient> {
    const key = newKeyPair();
    const apiKeys = [{ apiKeyName: userName, publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }];
    const pending = await one.submit('create_users', {
      users: [{ userName, apiKeys, authenticators: [], oauthProviders: [], userTags: [] }],
    });
    const done = await other.submit('approve_activity', { fingerprint: pending.body.activity.fingerprint });
    return one.as(key, (Object.values(done.body.activity.result)[0] as Any).userIds[0]);
  }
});
