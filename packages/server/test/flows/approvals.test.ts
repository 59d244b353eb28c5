import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ActivityStore } from '../../src/core/store/activities.ts';
import type { ApprovalInputs } from '../../src/domains/activities/approvals/approval.ts';
import { Inbox } from '../../src/domains/activities/approvals/inbox.ts';
import { amend } from '../../src/storage/integrity/amend.ts';
import { partial } from '../../src/storage/integrity/partial.ts';
import type { Schema } from '../../src/storage/schema.ts';
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
    expect(forMe.approvals.map(({ activity }: Any) => activity.id)).toEqual(mine.map(({ id }) => id));
    expect(forMe.counts).toEqual({ forMe: 5, forOthers: 5, isComplete: true });
    const forOthers = await list(own, { filter: 'FOR_OTHERS' });
    expect(forOthers.approvals.map(({ activity }: Any) => activity.id)).toEqual(others.map(({ id }) => id));
    expect((await list(own)).approvals).toHaveLength(10);

    const seen: string[] = [];
    for (let after = ''; ; ) {
      const page = await list(own, { filter: 'FOR_ME', paginationOptions: { limit: '2', after } });
      seen.push(...page.approvals.map(({ activity }: Any) => activity.id));
      expect(page.approvals.length).toBeLessThanOrEqual(2);
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    expect(seen).toEqual(mine.map(({ id }) => id));
    const { endCursor: before } = forMe.pageInfo;
    const back = await list(own, { filter: 'FOR_ME', paginationOptions: { limit: '2', before } });
    expect(back.approvals.map(({ activity }: Any) => activity.id)).toEqual([mine[2].id, mine[3].id]);
    expect(back.pageInfo.hasPreviousPage).toBe(true);
    const further = { limit: '2', before: back.pageInfo.startCursor };
    const front = await list(own, { filter: 'FOR_ME', paginationOptions: further });
    expect(front.approvals.map(({ activity }: Any) => activity.id)).toEqual([mine[0].id, mine[1].id]);
    for (const after of [mine[0].id, 'x', '1.2', `1.2.${mine[0].id}.3`, `1.x.${mine[0].id}`]) {
      const { status, body } = await own.query('list_approvals', { paginationOptions: { after } });
      expect([status, body.errorCode]).toEqual([400, 'REQUEST_INVALID']);
    }

    await approve(own, mine[0]);
    await second.submit('reject_activity', { fingerprint: others[0].fingerprint });
    const decided = await list(own, { filter: 'DECIDED', paginationOptions: { limit: '2' } });
    expect(decided.approvals.map(({ activity, progress }: Any) => [activity.id, progress.outcome])).toEqual([
      [others[0].id, 'ACTIVITY_STATUS_REJECTED'],
      [mine[0].id, 'ACTIVITY_STATUS_COMPLETED'],
    ]);
    expect(decided.approvals[0].progress.votes.at(-1)).toMatchObject({ userId: second.userId, selection: 'REJECTED' });
  });

  test('come by the time that is left, over all pages, and those that have lapsed come last', async () => {
    const own = await createSubOrganization(parent, `Order ${randomUUID()}`);
    const second = await createUser(own, 'Second');
    await own.run('update_root_quorum', { threshold: 2, userIds: [own.userId, second.userId] });
    const ids: string[] = [];
    for (let index = 0; index < 6; index += 1)
      ids.push((await second.submit('create_user_tag', tag())).body.activity.id);
    const [a, b, c, d, e, f] = ids as [string, string, string, string, string, string];
    const nowMs = Date.now();
    const startedHoursAgo = [
      [a, 3],
      [b, 30],
      [c, 23],
      [d, 1],
      [e, 25],
      [f, 12],
    ] as const;
    await app.app.storage.write(async (store) => {
      const { db } = store(ActivityStore) as unknown as { db: Kysely<Schema> };
      for (const [id, hours] of startedHoursAgo) {
        const round_started_at_ms = nowMs - hours * HOUR;
        await amend(db, 'activity', sql`id = ${id}`, () => ({ round_started_at_ms }));
      }
    });
    const expected = [c, f, a, d, b, e];
    const seen: string[] = [];
    for (let after = ''; ; ) {
      const page = await list(own, { filter: 'FOR_ME', paginationOptions: { limit: '1', after } });
      seen.push(...page.approvals.map(({ activity }: Any) => activity.id));
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    expect(seen).toEqual(expected);
    const all = await list(own, { filter: 'FOR_ME' });
    expect(all.approvals.map(({ activity }: Any) => activity.id)).toEqual(expected);
    const left: number[] = all.approvals.map(({ progress }: Any) => Date.parse(progress.lapsesAt ?? '9999-01-01'));
    expect(left).toEqual([...left].sort((one, other) => one - other));
    const back: string[] = [];
    for (let before = all.pageInfo.endCursor; ; ) {
      const page = await list(own, { filter: 'FOR_ME', paginationOptions: { limit: '2', before } });
      back.unshift(...page.approvals.map(({ activity }: Any) => activity.id));
      if (!page.pageInfo.hasPreviousPage) break;
      before = page.pageInfo.startCursor;
    }
    expect(back).toEqual(expected.slice(0, -1));
  });

  test('are at most a hundred at once, also of those that were decided', async () => {
    const own = await createSubOrganization(parent, `Many ${randomUUID()}`);
    const second = await createUser(own, 'Second');
    await own.run('update_root_quorum', { threshold: 2, userIds: [own.userId, second.userId] });
    const { id, fingerprint } = (await second.submit('create_user_tag', tag())).body.activity;
    await own.submit('approve_activity', { fingerprint });
    await app.app.storage.write(async (store) => {
      const { db } = store(ActivityStore) as unknown as { db: Kysely<Schema> };
      const row = await db.selectFrom('activity').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
      for (let index = 0; index < 104; index += 1) {
        const copy = app.app.storage.integrity.marked('activity', {
          ...row,
          id: randomUUID(),
          fingerprint: randomUUID(),
        });
        await db.insertInto('activity').values(copy).execute();
      }
    });
    const first = await list(own, { filter: 'DECIDED' });
    expect([first.approvals.length, first.pageInfo.hasNextPage]).toEqual([100, true]);
    const rest = await list(own, { filter: 'DECIDED', paginationOptions: { after: first.pageInfo.endCursor } });
    expect([rest.approvals.length, rest.pageInfo.hasNextPage]).toEqual([5, false]);
  });

  test('are counted without judging again what has not changed', async () => {
    const own = await createSubOrganization(parent, `Counts ${randomUUID()}`);
    const second = await createUser(own, 'Second');
    await own.run('update_root_quorum', { threshold: 2, userIds: [own.userId, second.userId] });
    const proposed: Any[] = [];
    for (let index = 0; index < 5; index += 1)
      proposed.push((await second.submit('create_user_tag', tag())).body.activity);
    const { read } = app.app.storage;
    let judged = 0;
    const counts = async (rulesVersion = 1) => {
      judged = 0;
      const organization = { authorityVersion: 1, rulesVersion };
      const { organizationId } = own;
      const actor = {
        organizationId,
        organization,
        home: organization,
        userId: own.userId,
        credential: { kind: 'read-session' },
      };
      const inputs = { read, actor, nowMs: Date.now(), rehearseVote: async () => ({ isAwaited: ++judged > 0 }) };
      return await new Inbox(inputs as unknown as ApprovalInputs).counts();
    };
    expect([await counts(), judged]).toEqual([{ forMe: 5, forOthers: 0, isComplete: true }, 5]);
    expect([await counts(), judged]).toEqual([{ forMe: 5, forOthers: 0, isComplete: true }, 0]);
    expect([await counts(2), judged]).toEqual([{ forMe: 5, forOthers: 0, isComplete: true }, 5]);
    await approve(own, proposed[0]);
    expect([await counts(2), judged]).toEqual([{ forMe: 4, forOthers: 0, isComplete: true }, 0]);
    proposed.push((await second.submit('create_user_tag', tag())).body.activity);
    expect([await counts(2), judged]).toEqual([{ forMe: 5, forOthers: 0, isComplete: true }, 1]);

    // By the query itself, at once.
    expect((await list(own)).counts).toEqual({ forMe: 5, forOthers: 0, isComplete: true });
    await approve(own, proposed[1]);
    expect((await list(own)).counts).toEqual({ forMe: 4, forOthers: 0, isComplete: true });
    expect((await list(second)).counts).toEqual({ forMe: 0, forOthers: 4, isComplete: true });
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

  test('tell nobody where voters were once their organization is deleted', async () => {
    const own = await createSubOrganization(parent, `Gone ${randomUUID()}`);
    const second = await createUser(own, 'Second');
    await own.run('update_root_quorum', { threshold: 2, userIds: [own.userId, second.userId] });
    await approve(second, (await own.submit('create_user_tag', tag())).body.activity);
    const addresses = async (): Promise<string[]> =>
      await app.app.storage.write(async (store) => {
        const { db } = store(ActivityStore) as unknown as { db: Kysely<Schema> };
        const votes = db
          .selectFrom('vote')
          .modifyFront(partial('addresses'))
          .select('source_address')
          .where('organization_id', '=', own.organizationId);
        return (await votes.execute()).flatMap(({ source_address }) => source_address ?? []);
      });
    expect(new Set(await addresses())).toEqual(new Set(['127.0.0.1']));
    const gone = await own.submit('delete_sub_organization', { deleteWithoutExport: true });
    await approve(second, gone.body.activity);
    expect((await own.query('whoami')).body.errorCode).toBe('ORGANIZATION_NOT_FOUND');
    expect(await addresses()).toEqual([]);
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
