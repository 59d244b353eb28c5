import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, createSubOrganization, createUser, newKeyPair, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';

const COMPLETED = 'ACTIVITY_STATUS_COMPLETED';
const PENDING = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

const outcome = ({ status, body }: Answer) => `${status} ${body.errorCode ?? body.activity.status}`;
const path = (operation: string) => `/public/v1/submit/${operation}`;
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[outcome(answer)] = (counts[outcome(answer)] ?? 0) + 1;
  return counts;
}

const apiKey = (publicKey: string, apiKeyName = 'key') => ({ apiKeyName, publicKey, curveType: 'API_KEY_CURVE_P256' });
const person = (extra: Record<string, unknown> = {}) => ({
  userName: 'Person',
  apiKeys: [apiKey(newKeyPair().publicKey)],
  authenticators: [],
  oauthProviders: [],
  userTags: [],
  ...extra,
});

describe.each(DATABASES)('at once on %s', (database) => {
  let server: TestServer;
  let parent: TestClient;

  beforeAll(async () => {
    // A busy machine is no reason to be refused.
    server = await TestServer.start({ database, env: { CUSTOS_DATABASE_TIMEOUT_SECONDS: '60' } });
    parent = TestClient.root(server.credentials, server.baseUrl);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const newRoot = () => createSubOrganization(parent, `Org ${randomUUID()}`);
  const activitiesOf = async (client: TestClient, type: string): Promise<Answer['body'][]> =>
    (await client.query('list_activities', { filterByType: [type] })).body.activities;

  /** Many root users made in one request. */
  async function newMembers(root: TestClient, count: number, threshold: number): Promise<TestClient[]> {
    const keys = times(count, () => newKeyPair());
    const users = keys.map((key, index) => person({ userName: `m${index}`, apiKeys: [apiKey(key.publicKey)] }));
    const { userIds } = await root.run('create_users', { users });
    const members = keys.map((key, index) => root.as(key, userIds[index]));
    await root.run('update_root_quorum', { threshold, userIds: [root.userId, ...userIds] });
    return members;
  }

  test('thirty writers who change the user they act as all get through, though each alters what others were decided by', async () => {
    const root = await newRoot();
    const change = (name: string, isRename: boolean) =>
      isRename
        ? root.submit('update_user_name', { userId: root.userId, userName: name })
        : root.submit('create_user_tag', { userTagName: name, userIds: [] });
    const writers = times(30, async (writer) => {
      const answers: Answer[] = [];
      for (let count = 0; count < 6; count += 1) answers.push(await change(`${writer} ${count}`, writer % 2 === 0));
      return answers;
    });
    expect(tally((await Promise.all(writers)).flat())).toEqual({ [`200 ${COMPLETED}`]: 180 });
  });

  describe('fifty times the same bytes', () => {
    // One operation of each kind of lock and uniqueness; whoever comes second must find the activity, not its effect.
    test.each([
      ['create_users', () => ({ users: [person({ userEmail: `${randomUUID()}@example.com` })] })],
      ['create_user_tag', () => ({ userTagName: randomUUID(), userIds: [] })],
      ['create_api_keys', (userId: string) => ({ userId, apiKeys: [apiKey(newKeyPair().publicKey, randomUUID())] })],
      ['update_user_name', (userId: string) => ({ userId, userName: 'Once' })],
      ['set_organization_feature', () => ({ name: 'FEATURE_NAME_SWAP_CONFIG', value: '{}' })],
    ])('%s: one activity and one effect', async (operation, parameters) => {
      const root = await newRoot();
      const body = root.submitBody(operation, parameters(root.userId));
      const answers = await Promise.all(times(50, () => root.sendStamped(path(operation), body)));
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 50 });
      expect(new Set(answers.map(({ body: answer }) => answer.activity.id)).size).toBe(1);
      expect(new Set(answers.map(({ body: answer }) => JSON.stringify(answer.activity.result))).size).toBe(1);
      const { type } = JSON.parse(body) as { type: string };
      const stored = await activitiesOf(root, type);
      expect(stored).toHaveLength(1);
      expect(stored[0].votes).toHaveLength(1);
    });

    test('create_sub_organization: one sub-organization', async () => {
      const subOrganizationName = `Sub ${randomUUID()}`;
      const { userTags: _userTags, ...rootUser } = person();
      const body = parent.submitBody('create_sub_organization', {
        subOrganizationName,
        rootQuorumThreshold: 1,
        rootUsers: [rootUser],
      });
      const answers = await Promise.all(times(50, () => parent.sendStamped(path('create_sub_organization'), body)));
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 50 });
      const found = await parent.query('list_suborgs', { filterType: 'NAME', filterValue: subOrganizationName });
      expect(found.body.organizationIds).toHaveLength(1);
    });

    test('a request that is denied is denied fifty times and stored once', async () => {
      const root = await newRoot();
      const plain = await createUser(root, 'plain');
      const body = plain.submitBody('delete_users', { userIds: [root.userId] });
      const answers = await Promise.all(times(50, () => plain.sendStamped(path('delete_users'), body)));
      expect(tally(answers)).toEqual({ '403 REQUEST_NOT_AUTHORIZED': 50 });
      expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
      expect(await activitiesOf(root, 'ACTIVITY_TYPE_DELETE_USERS')).toHaveLength(1);
    });

    test('a proposal that waits is stored once, with one vote', async () => {
      const root = await newRoot();
      await newMembers(root, 1, 2);
      const body = root.submitBody('update_user_name', { userId: root.userId, userName: 'x' });
      const answers = await Promise.all(times(50, () => root.sendStamped(path('update_user_name'), body)));
      expect(tally(answers)).toEqual({ [`200 ${PENDING}`]: 50 });
      const stored = await activitiesOf(root, 'ACTIVITY_TYPE_UPDATE_USER_NAME');
      expect(stored.map(({ votes }) => votes.length)).toEqual([1]);
    });

    test('fifty members at once: their bytes are votes, and it executes once', async () => {
      const root = await newRoot();
      const members = await newMembers(root, 24, 10);
      const body = root.submitBody('create_user_tag', { userTagName: 'Once', userIds: [] });
      const answers = await Promise.all(
        [root, ...members, root, ...members].map((client) => client.sendStamped(path('create_user_tag'), body)),
      );
      const counts = tally(answers);
      expect((counts[`200 ${COMPLETED}`] ?? 0) + (counts[`200 ${PENDING}`] ?? 0), JSON.stringify(counts)).toBe(50);
      const [activity, ...more] = await activitiesOf(root, 'ACTIVITY_TYPE_CREATE_USER_TAG');
      expect(more).toEqual([]);
      expect(activity.status).toBe(COMPLETED);
      expect(activity.votes).toHaveLength(10);
      expect((await root.query('list_user_tags')).body.userTags).toHaveLength(1);
    });
  });

  describe('fifty approvals', () => {
    test('by 25 users, two each, of a threshold of 20: it executes exactly once', async () => {
      const root = await newRoot();
      const members = await newMembers(root, 25, 20);
      const proposed = await root.submit('create_user_tag', { userTagName: 'Once', userIds: [] });
      const { fingerprint, id } = proposed.body.activity;
      const answers = await Promise.all(
        [...members, ...members].map((member) => member.submit('approve_activity', { fingerprint })),
      );
      const counts = tally(answers);
      // Before the end a vote leaves it pending, after the end it reads or is refused.
      expect(
        Object.keys(counts)
          .sort()
          .filter((key) => !key.startsWith('200')),
      ).toEqual(counts['400 ACTIVITY_ALREADY_DECIDED'] === undefined ? [] : ['400 ACTIVITY_ALREADY_DECIDED']);
      expect(counts[`200 ${COMPLETED}`]).toBeGreaterThan(0);
      const { activity } = (await root.query('get_activity', { activityId: id })).body;
      expect(activity.status).toBe(COMPLETED);
      const voters = activity.votes.map((vote: { userId: string }) => vote.userId);
      expect(voters).toHaveLength(20);
      expect(new Set(voters).size).toBe(20);
      expect((await root.query('list_user_tags')).body.userTags).toHaveLength(1);
    });

    test('one short of the threshold leaves it pending', async () => {
      const root = await newRoot();
      const voters = await newMembers(root, 12, 12);
      const { fingerprint, id } = (await root.submit('create_user_tag', { userTagName: 'Never', userIds: [] })).body
        .activity;
      const answers = await Promise.all(
        times(5, () => voters.slice(0, 10))
          .flat()
          .map((member) => member.submit('approve_activity', { fingerprint })),
      );
      expect(tally(answers)).toEqual({ [`200 ${PENDING}`]: 50 });
      const { activity } = (await root.query('get_activity', { activityId: id })).body;
      expect(activity.votes).toHaveLength(11);
      expect((await root.query('list_user_tags')).body.userTags).toEqual([]);
    });

    test('approvals against one rejection: it is completed or rejected, never both', async () => {
      const root = await newRoot();
      const members = await newMembers(root, 10, 5);
      const results = await Promise.all(
        times(5, async (round) => {
          const { fingerprint, id } = (await root.submit('create_user_tag', { userTagName: `t${round}`, userIds: [] }))
            .body.activity;
          const answers = await Promise.all(
            members.map((member, index) =>
              member.submit(index === 5 ? 'reject_activity' : 'approve_activity', { fingerprint }),
            ),
          );
          const { activity } = (await root.query('get_activity', { activityId: id })).body;
          return { name: `t${round}`, activity, answers };
        }),
      );
      const tags = (await root.query('list_user_tags')).body.userTags.map((tag: { tagName: string }) => tag.tagName);
      for (const { name, activity, answers } of results) {
        expect(['ACTIVITY_STATUS_REJECTED', COMPLETED]).toContain(activity.status);
        expect(tags.includes(name)).toBe(activity.status === COMPLETED);
        expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true);
        const rejections = activity.votes.filter((vote: { selection: string }) => vote.selection.endsWith('REJECTED'));
        expect(rejections).toHaveLength(activity.status === COMPLETED ? 0 : 1);
      }
    });
  });

  test('changes of the quorum against approvals: nothing executes under a quorum that is gone', async () => {
    // Each round: A proposes under a threshold of 2 of {A, B, C}; B's approval races with a change that takes A and B
    // out of the quorum. If the change came first, B's vote must not complete the proposal.
    const rounds = await Promise.all(
      times(8, async () => {
        const a = await newRoot();
        const [b, c] = (await newMembers(a, 2, 2)) as [TestClient, TestClient];
        const rename = (await a.submit('create_user_tag', { userTagName: 'x', userIds: [] })).body.activity;
        const change = (await a.submit('update_root_quorum', { threshold: 1, userIds: [c.userId] })).body.activity;
        const [vote, changed] = await Promise.all([
          b.submit('approve_activity', { fingerprint: rename.fingerprint }),
          c.submit('approve_activity', { fingerprint: change.fingerprint }),
        ]);
        const final = (await c.query('get_activity', { activityId: rename.id })).body.activity;
        const { quorum } = (await c.query('get_organization_configs')).body.configs;
        return { vote, changed, final, quorum, c };
      }),
    );
    for (const { vote, changed, final, quorum, c } of rounds) {
      expect(outcome(changed)).toBe(`200 ${COMPLETED}`);
      expect(quorum).toEqual({ threshold: 1, userIds: [c.userId] });
      // Before the change: completed. After it: B may not vote at all.
      expect([`200 ${COMPLETED}`, '403 REQUEST_NOT_AUTHORIZED']).toContain(outcome(vote));
      expect(final.status).toBe(vote.status === 200 ? COMPLETED : PENDING);
    }
  });

  test('a proposal against the removal of its proposer from the quorum', async () => {
    const rounds = await Promise.all(
      times(8, async (round) => {
        const a = await newRoot();
        const [b] = (await newMembers(a, 1, 1)) as [TestClient];
        const [proposal, removal] = await Promise.all([
          a.submit('create_user_tag', { userTagName: `t${round}`, userIds: [] }),
          b.submit('update_root_quorum', { threshold: 1, userIds: [b.userId] }),
        ]);
        const tags = (await b.query('list_user_tags')).body.userTags;
        return { proposal, removal, tags };
      }),
    );
    for (const { proposal, removal, tags } of rounds) {
      expect(outcome(removal)).toBe(`200 ${COMPLETED}`);
      expect([`200 ${COMPLETED}`, '403 REQUEST_NOT_AUTHORIZED']).toContain(outcome(proposal));
      expect(tags).toHaveLength(proposal.status === 200 ? 1 : 0);
    }
  });

  test('a key used while it is being deleted: the request happened before or not at all', async () => {
    const root = await newRoot();
    const users = await newMembers(root, 10, 1);
    const rounds = await Promise.all(
      users.map(async (user, index) => {
        const { apiKeys } = (await root.query('get_api_keys', { userId: user.userId })).body;
        const [used, deleted] = await Promise.all([
          user.submit('create_user_tag', { userTagName: `t${index}`, userIds: [] }),
          root.submit('delete_api_keys', { userId: user.userId, apiKeyIds: [apiKeys[0].apiKeyId] }),
        ]);
        return { used, deleted, name: `t${index}` };
      }),
    );
    const tags = (await root.query('list_user_tags')).body.userTags.map((tag: { tagName: string }) => tag.tagName);
    for (const { used, deleted, name } of rounds) {
      expect([outcome(deleted), deleted.body.message]).toEqual([`200 ${COMPLETED}`, undefined]);
      expect([200, 401]).toContain(used.status);
      expect(tags.includes(name)).toBe(used.status === 200);
    }
  });

  describe('uniqueness', () => {
    test('thirty users with one email: one is made, the others conflict', async () => {
      const root = await newRoot();
      const answers = await Promise.all(
        times(30, (index) =>
          root.submit('create_users', { users: [person({ userName: `u${index}`, userEmail: 'one@example.com' })] }),
        ),
      );
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 1, '409 ALREADY_EXISTS': 29 });
      expect((await root.query('list_users')).body.users).toHaveLength(2);
      expect(await activitiesOf(root, 'ACTIVITY_TYPE_CREATE_USERS_V4')).toHaveLength(1);
    });

    test('one public key for thirty users', async () => {
      const root = await newRoot();
      const users = await newMembers(root, 30, 1);
      const { publicKey } = newKeyPair();
      const answers = await Promise.all(
        users.map(({ userId }) => root.submit('create_api_keys', { userId, apiKeys: [apiKey(publicKey, 'shared')] })),
      );
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 1, '409 ALREADY_EXISTS': 29 });
    });

    test('expiring keys of one user stay at ten', async () => {
      const root = await newRoot();
      const answers = await Promise.all(
        times(30, (index) =>
          root.submit('create_api_keys', {
            userId: root.userId,
            apiKeys: [{ ...apiKey(newKeyPair().publicKey, `k${index}`), expirationSeconds: '600' }],
          }),
        ),
      );
      expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 30 });
      expect((await root.query('get_api_keys')).body.apiKeys).toHaveLength(11);
    });

    test('two members delete each other’s last key: one way in is left', async () => {
      const rounds = await Promise.all(
        times(6, async () => {
          const a = await newRoot();
          const [b] = (await newMembers(a, 1, 1)) as [TestClient];
          const keyOf = async (userId: string) =>
            (await a.query('get_api_keys', { userId })).body.apiKeys[0].apiKeyId as string;
          const [keyA, keyB] = [await keyOf(a.userId), await keyOf(b.userId)];
          const answers = await Promise.all([
            a.submit('delete_api_keys', { userId: b.userId, apiKeyIds: [keyB] }),
            b.submit('delete_api_keys', { userId: a.userId, apiKeyIds: [keyA] }),
          ]);
          const alive = [await a.query('whoami'), await b.query('whoami')].filter(({ status }) => status === 200);
          return { answers, alive };
        }),
      );
      for (const { answers, alive } of rounds) {
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(alive).toHaveLength(1);
      }
    });
  });

  test('fifty different activities that take the organization for themselves all succeed', async () => {
    const root = await newRoot();
    const answers = await Promise.all(
      times(50, (index) => root.submit('create_users', { users: [person({ userName: `u${index}` })] })),
    );
    expect(tally(answers)).toEqual({ [`200 ${COMPLETED}`]: 50 });
    expect((await root.query('list_users')).body.users).toHaveLength(51);
  });

  test('everything together: each answer is true of what is stored', async () => {
    const root = await newRoot();
    const members = await newMembers(root, 4, 2);
    const pending = await Promise.all(
      times(6, async (index) => {
        const answer = await root.submit('create_user_tag', { userTagName: `tag ${index}`, userIds: [] });
        return answer.body.activity as { id: string; fingerprint: string };
      }),
    );
    const work: Promise<Answer>[] = [];
    for (const [index, { fingerprint }] of pending.entries()) {
      for (const member of members) work.push(member.submit('approve_activity', { fingerprint }));
      work.push(root.submit('update_user_name', { userId: root.userId, userName: `n${index}` }));
      work.push(
        members[0]!.submit('create_api_keys', {
          userId: members[0]!.userId,
          apiKeys: [apiKey(newKeyPair().publicKey, `own ${index}`)],
        }),
      );
      work.push(
        root.query('list_activities', { paginationOptions: { limit: '5' } }).then((answer) => ({
          ...answer,
          body: { activity: { status: answer.status === 200 ? 'LISTED' : 'BROKEN' } },
        })),
      );
    }
    const answers = await Promise.all(work);
    const unexpected = answers.filter(
      (answer) => answer.status !== 200 && outcome(answer) !== '400 ACTIVITY_ALREADY_DECIDED',
    );
    expect(unexpected.map(outcome)).toEqual([]);
    const tags = (await root.query('list_user_tags')).body.userTags;
    expect(tags).toHaveLength(pending.length);
    for (const { id } of pending) {
      const { activity } = (await root.query('get_activity', { activityId: id })).body;
      expect(activity.status).toBe(COMPLETED);
      expect(activity.votes).toHaveLength(2);
    }
    expect((await root.query('get_api_keys', { userId: members[0]!.userId })).body.apiKeys).toHaveLength(7);
  });
});
