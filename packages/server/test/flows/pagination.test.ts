import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';

const COUNT = 23;
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const NOTHING = { hasNextPage: false, hasPreviousPage: false, startCursor: '', endCursor: '' };

interface List {
  readonly operation: string;
  readonly field: string;
  readonly idOf: (item: Answer['body']) => string;
  readonly parameters?: Record<string, unknown>;
  /** The organization to ask; the parent for its children. */
  readonly client: TestClient;
  /** All ids in list order, known independently of paging. */
  readonly ids: readonly string[];
  /** Removes the object with this id. */
  readonly remove?: (id: string) => Promise<unknown>;
}

const LISTS = [
  'list_users',
  'list_user_tags',
  'get_api_keys',
  'get_api_keys of a user',
  'list_activities',
  'list_suborgs',
  'list_suborgs with a filter',
] as const;

const apiKey = (apiKeyName: string) => ({
  apiKeyName,
  publicKey: newKeyPair().publicKey,
  curveType: 'API_KEY_CURVE_P256',
});
const person = (userName: string) => ({
  userName,
  apiKeys: [apiKey('key')],
  authenticators: [],
  oauthProviders: [],
  userTags: [],
});

describe.each(DATABASES)('lists on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let stranger: TestClient;
  const lists = new Map<string, List>();

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    const subIds: string[] = [];
    const roots: TestClient[] = [];
    for (const index of times(COUNT, (item) => item)) {
      const sub = await createSubOrganization(parent, index % 2 === 0 ? 'Even' : 'Odd');
      roots.push(sub);
      subIds.push(sub.organizationId);
    }
    const [root, keyOwner, busy] = roots as [TestClient, TestClient, TestClient];
    stranger = roots[3]!;
    await createUser(stranger, 'elsewhere');
    const { userIds } = await root.run('create_users', { users: times(COUNT - 1, (index) => person(`u${index}`)) });
    const users = [root.userId, ...userIds];
    const tagIds: string[] = [];
    for (const index of times(COUNT, (item) => item)) {
      tagIds.push((await root.run('create_user_tag', { userTagName: `t${index}`, userIds: [] })).userTagId);
    }
    const { apiKeyIds } = await keyOwner.run('create_api_keys', {
      userId: keyOwner.userId,
      apiKeys: times(COUNT - 1, (index) => apiKey(`k${index}`)),
    });
    const other = await createUser(keyOwner, 'other');
    const all = (await keyOwner.query('get_api_keys')).body.apiKeys.map((key: { apiKeyId: string }) => key.apiKeyId);
    const ofOwner = [all[0], ...apiKeyIds];
    const activityIds: string[] = [];
    for (const index of times(COUNT, (item) => item)) {
      const answer = await busy.submit('update_user_name', { userId: busy.userId, userName: `n${index}` });
      activityIds.unshift(answer.body.activity.id);
    }
    const add = (name: (typeof LISTS)[number], list: Omit<List, 'operation'>) =>
      lists.set(name, { operation: name.split(' ')[0] as string, ...list });
    add('list_users', {
      field: 'users',
      idOf: (user) => user.userId,
      client: root,
      ids: users,
      remove: (userId) => root.run('delete_users', { userIds: [userId] }),
    });
    add('list_user_tags', {
      field: 'userTags',
      idOf: (tag) => tag.tagId,
      client: root,
      ids: tagIds,
      remove: (tagId) => root.run('delete_user_tags', { userTagIds: [tagId] }),
    });
    add('get_api_keys', {
      field: 'apiKeys',
      idOf: (key) => key.apiKeyId,
      client: keyOwner,
      ids: all,
      remove: (apiKeyId) => keyOwner.run('delete_api_keys', { userId: keyOwner.userId, apiKeyIds: [apiKeyId] }),
    });
    add('get_api_keys of a user', {
      field: 'apiKeys',
      idOf: (key) => key.apiKeyId,
      parameters: { userId: keyOwner.userId },
      client: keyOwner,
      ids: ofOwner,
    });
    expect(all).toHaveLength(COUNT + 1);
    expect(other.userId).not.toBe(keyOwner.userId);
    add('list_activities', { field: 'activities', idOf: (activity) => activity.id, client: busy, ids: activityIds });
    add('list_suborgs', { field: 'organizationIds', idOf: (id) => id, client: parent, ids: subIds });
    add('list_suborgs with a filter', {
      field: 'organizationIds',
      idOf: (id) => id,
      parameters: { filterType: 'NAME', filterValue: 'Even' },
      client: parent,
      ids: subIds.filter((_id, index) => index % 2 === 0),
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  async function ask(list: List, paginationOptions?: unknown): Promise<Answer> {
    return await list.client.query(list.operation, {
      ...list.parameters,
      ...(paginationOptions !== undefined && { paginationOptions }),
    });
  }
  async function page(list: List, options?: unknown): Promise<{ ids: string[]; pageInfo: Answer['body'] }> {
    const { status, body } = await ask(list, options);
    expect(status, JSON.stringify(body)).toBe(200);
    return { ids: body[list.field].map(list.idOf), pageInfo: body.pageInfo };
  }
  /** What a page of these ids must say about itself. */
  const infoFor = (all: readonly string[], ids: readonly string[]) => ({
    hasNextPage: all.indexOf(ids.at(-1) as string) < all.length - 1,
    hasPreviousPage: all.indexOf(ids[0] as string) > 0,
    startCursor: ids[0],
    endCursor: ids.at(-1),
  });

  describe.each(LISTS)('%s', (name) => {
    const listOf = () => lists.get(name) as List;

    test('without options answers everything in order', async () => {
      const list = listOf();
      for (const options of [undefined, null]) {
        const { ids, pageInfo } = await page(list, options);
        expect(ids).toEqual(list.ids);
        expect(pageInfo).toEqual(infoFor(list.ids, ids));
      }
    });

    test('the limit is 10 unless said, and exact', async () => {
      const list = listOf();
      for (const [options, size] of [
        [{}, 10],
        [{ limit: null }, 10],
        // Generated clients send empty strings for what they do not set.
        [{ limit: '', before: '', after: '' }, 10],
        [{ limit: '1' }, 1],
        [{ limit: '7' }, 7],
        [{ limit: 7 }, 7],
        [{ limit: '100' }, list.ids.length],
      ] as const) {
        const { ids, pageInfo } = await page(list, options);
        expect(ids, JSON.stringify(options)).toEqual(list.ids.slice(0, size));
        expect(pageInfo).toEqual(infoFor(list.ids, ids));
      }
    });

    test.each([
      { limit: '0' },
      { limit: '101' },
      { limit: '-1' },
      { limit: '1.5' },
      { limit: '1e1' },
      { limit: ' 5' },
      { limit: 'ten' },
      { limit: 0 },
      { limit: 101 },
      { limit: 1.5 },
      { limit: true },
      { limit: ['5'] },
      { after: 'x' },
      { after: 5 },
      { after: randomUUID() },
      { before: randomUUID() },
      [],
      'everything',
    ])('%j is refused', async (options) => {
      const { status, body } = await ask(listOf(), options);
      expect([status, body.errorCode]).toEqual([400, 'REQUEST_INVALID']);
      expect(JSON.stringify(body.details)).toContain('"field":"paginationOptions');
    });

    test('both cursors at once are refused', async () => {
      const list = listOf();
      const { status, body } = await ask(list, { before: list.ids[5], after: list.ids[2] });
      expect([status, body.errorCode]).toEqual([400, 'REQUEST_INVALID']);
    });

    test('a cursor of another organization or another kind of object is refused', async () => {
      const list = listOf();
      const theirs = [
        stranger.userId,
        (await stranger.query('get_api_keys')).body.apiKeys[0].apiKeyId,
        (await stranger.query('list_activities')).body.activities[0].id,
        list.operation === 'list_suborgs' ? parent.organizationId : stranger.organizationId,
      ];
      for (const cursor of theirs) {
        for (const side of ['after', 'before']) {
          const { status, body } = await ask(list, { [side]: cursor });
          expect([status, body.errorCode]).toEqual([400, 'REQUEST_INVALID']);
          expect(JSON.stringify(body.details)).toContain(`"field":"paginationOptions.${side}"`);
        }
      }
    });

    test('at the ends a page is empty', async () => {
      const list = listOf();
      const last = list.ids.at(-1);
      expect(await page(list, { after: last })).toEqual({ ids: [], pageInfo: { ...NOTHING, hasPreviousPage: true } });
      expect(await page(list, { before: list.ids[0] })).toEqual({
        ids: [],
        pageInfo: { ...NOTHING, hasNextPage: true },
      });
    });

    test('walks in either direction visit each object once and in order', async () => {
      const list = listOf();
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 4 }),
          fc.constantFrom('after' as const, 'before' as const),
          async (sizes, side) => {
            const seen: string[] = [];
            let cursor = side === 'after' ? undefined : list.ids.at(-1);
            for (let step = 0; ; step += 1) {
              const limit = sizes[step % sizes.length] as number;
              const { ids, pageInfo } = await page(list, { limit: String(limit), ...(cursor && { [side]: cursor }) });
              expect(ids.length).toBeLessThanOrEqual(limit);
              if (ids.length > 0) expect(pageInfo).toEqual(infoFor(list.ids, ids));
              if (side === 'after') seen.push(...ids);
              else seen.unshift(...ids);
              if (side === 'after' ? !pageInfo.hasNextPage : !pageInfo.hasPreviousPage) break;
              cursor = side === 'after' ? pageInfo.endCursor : pageInfo.startCursor;
            }
            expect(seen).toEqual(side === 'after' ? list.ids : list.ids.slice(0, -1));
          },
        ),
        { numRuns: 12 },
      );
    });

    test('a random jump answers the neighbours of its cursor', async () => {
      const list = listOf();
      await fc.assert(
        fc.asyncProperty(
          fc.nat(list.ids.length - 1),
          fc.integer({ min: 1, max: 30 }),
          fc.boolean(),
          async (at, limit, forwards) => {
            const options = { limit: String(limit), [forwards ? 'after' : 'before']: list.ids[at] };
            const { ids } = await page(list, options);
            expect(ids).toEqual(
              forwards ? list.ids.slice(at + 1, at + 1 + limit) : list.ids.slice(Math.max(0, at - limit), at),
            );
          },
        ),
        { numRuns: 15 },
      );
    });
  });

  describe('deleted cursors', () => {
    test.each(['list_users', 'list_user_tags', 'get_api_keys'] as const)('%s goes on from its place', async (name) => {
      const list = lists.get(name) as List;
      const at = 8;
      const gone = list.ids[at] as string;
      await list.remove?.(gone);
      const left = list.ids.filter((id) => id !== gone);
      lists.set(name, { ...list, ids: left });
      if (name === 'get_api_keys') {
        const owner = lists.get('get_api_keys of a user') as List;
        lists.set('get_api_keys of a user', { ...owner, ids: owner.ids.filter((id) => id !== gone) });
      }
      expect((await page(list, { after: gone, limit: '3' })).ids).toEqual(left.slice(at, at + 3));
      expect((await page(list, { before: gone, limit: '3' })).ids).toEqual(left.slice(at - 3, at));
    });

    test('list_suborgs goes on from a deleted one', async () => {
      const list = lists.get('list_suborgs') as List;
      const doomed = await createSubOrganization(parent, 'Doomed');
      const next = await createSubOrganization(parent, 'Next');
      await doomed.run('delete_sub_organization', { deleteWithoutExport: true });
      expect((await page(list, { after: doomed.organizationId })).ids).toEqual([next.organizationId]);
      expect((await page(list, { before: doomed.organizationId, limit: '2' })).ids).toEqual(list.ids.slice(-2));
      await next.run('delete_sub_organization', { deleteWithoutExport: true });
    });

    test('pageInfo says what is there, not what was', async () => {
      const root = await createSubOrganization(parent, 'Few tags');
      const [first, second, third] = await Promise.all(
        ['a', 'b', 'c'].map(async (userTagName) => {
          const { userTagId } = await root.run('create_user_tag', { userTagName, userIds: [] });
          return userTagId as string;
        }),
      ).then((ids) => ids.sort());
      const tags = async (paginationOptions: unknown) => {
        const { body } = await root.query('list_user_tags', { paginationOptions });
        return { ids: body.userTags.map((tag: { tagId: string }) => tag.tagId), pageInfo: body.pageInfo };
      };
      await root.run('delete_user_tags', { userTagIds: [first, third] });
      const alone = { hasNextPage: false, hasPreviousPage: false, startCursor: second, endCursor: second };
      expect(await tags({ after: first })).toEqual({ ids: [second], pageInfo: alone });
      expect(await tags({ before: third })).toEqual({ ids: [second], pageInfo: alone });
      await root.run('delete_sub_organization', { deleteWithoutExport: true });
    });
  });

  describe('list_activities', () => {
    test('filters by status and type, alone and together', async () => {
      const root = await createSubOrganization(parent, 'Filters');
      const second = await createUser(root, 'second');
      const plain = await createUser(root, 'plain');
      await root.run('create_user_tag', { userTagName: 't', userIds: [] });
      await plain.submit('create_user_tag', { userTagName: 'u', userIds: [] });
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      const pending = await root.submit('create_user_tag', { userTagName: 'v', userIds: [] });
      const find = async (filter: Record<string, unknown>) => {
        const { status, body } = await root.query('list_activities', filter);
        expect(status, JSON.stringify(body)).toBe(200);
        return body.activities.map((activity: Answer['body']) => [
          activity.type.replace('ACTIVITY_TYPE_', ''),
          activity.status.replace('ACTIVITY_STATUS_', ''),
        ]);
      };
      const tag = 'ACTIVITY_TYPE_CREATE_USER_TAG';
      expect(await find({ filterByType: [tag] })).toEqual([
        ['CREATE_USER_TAG', 'CONSENSUS_NEEDED'],
        ['CREATE_USER_TAG', 'REJECTED'],
        ['CREATE_USER_TAG', 'COMPLETED'],
      ]);
      expect(await find({ filterByType: [tag], filterByStatus: ['ACTIVITY_STATUS_REJECTED'] })).toHaveLength(1);
      expect(
        await find({ filterByStatus: ['ACTIVITY_STATUS_REJECTED', 'ACTIVITY_STATUS_CONSENSUS_NEEDED'] }),
      ).toHaveLength(2);
      expect(await find({ filterByType: [tag, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM'] })).toHaveLength(4);
      expect(await find({ filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION'] })).toEqual([]);
      expect(await find({ filterByType: [], filterByStatus: [] })).toHaveLength(6);
      expect(await find({ filterByStatus: null })).toHaveLength(6);
      const paged = await root.query('list_activities', {
        filterByType: [tag],
        paginationOptions: { limit: '1', after: pending.body.activity.id },
      });
      expect(paged.body.activities.map((activity: Answer['body']) => activity.status)).toEqual([
        'ACTIVITY_STATUS_REJECTED',
      ]);
      for (const filter of [
        { filterByStatus: ['DONE'] },
        { filterByStatus: 'ACTIVITY_STATUS_COMPLETED' },
        { filterByType: ['x'] },
        { filterByType: ['ACTIVITY_TYPE_'] },
      ]) {
        const refused = await root.query('list_activities', filter);
        expect([refused.status, refused.body.errorCode]).toEqual([400, 'REQUEST_INVALID']);
      }
      await root.submit('delete_sub_organization', {}).then(async ({ body }) => {
        await second.submit('approve_activity', { fingerprint: body.activity.fingerprint });
      });
    });
  });

  test('get_authenticators of a user without any', async () => {
    const root = lists.get('list_users')!.client;
    const answer = await root.query('get_authenticators', { userId: root.userId, paginationOptions: { limit: '5' } });
    expect(answer.body).toEqual({ authenticators: [], pageInfo: NOTHING });
    const refused = await root.query('get_authenticators', { userId: root.userId, paginationOptions: { limit: '0' } });
    expect(refused.status).toBe(400);
  });

  test('list_verified_suborgs takes the same options', async () => {
    const answer = await parent.query('list_verified_suborgs', { paginationOptions: { limit: '5' } });
    expect(answer.body).toEqual({ organizationIds: [], pageInfo: NOTHING });
    expect((await parent.query('list_verified_suborgs', { paginationOptions: { limit: '0' } })).status).toBe(400);
    const mine = lists.get('list_suborgs')!.ids[0];
    expect((await parent.query('list_verified_suborgs', { paginationOptions: { after: mine } })).status).toBe(200);
  });
});

describe.each(DATABASES)('CUSTOS_LIST_MAX on %s', (database) => {
  test('beyond it a list must be paged', async () => {
    await using service = await openTestApp(database, { CUSTOS_LIST_MAX: '5' });
    const root = service.root;
    const lists = [
      ['list_users', {}],
      ['list_user_tags', {}],
      ['get_api_keys', {}],
      ['get_api_keys', { userId: root.userId }],
      ['list_suborgs', {}],
      ['get_organization', {}],
    ] as const;
    const tag = (index: number) => root.run('create_user_tag', { userTagName: `t${index}`, userIds: [] });
    await root.run('create_users', { users: times(4, (index) => person(`u${index}`)) });
    await root.run('delete_api_keys', {
      userId: (await root.query('list_users')).body.users[1].userId,
      apiKeyIds: [(await root.query('get_api_keys')).body.apiKeys[1].apiKeyId],
    });
    await root.run('create_api_keys', { userId: root.userId, apiKeys: [apiKey('second')] });
    for (const index of times(5, (item) => item)) {
      await tag(index);
      await createSubOrganization(root, `s${index}`);
    }
    // Exactly as many as allowed.
    for (const [operation, parameters] of lists) {
      expect((await root.query(operation, parameters)).status, operation).toBe(200);
    }
    await tag(5);
    await createSubOrganization(root, 's5');
    await root.run('create_api_keys', { userId: root.userId, apiKeys: times(4, (index) => apiKey(`k${index}`)) });
    await root.run('create_users', { users: [person('one more')] });
    for (const [operation, parameters] of [...lists, ['list_activities', {}] as const]) {
      const { status, body } = await root.query(operation, parameters);
      expect([status, body.errorCode, body.code], operation).toEqual([400, 'RESULT_TOO_LARGE', 3]);
      expect(body.message, operation).toContain('paginationOptions');
      if (operation === 'get_organization') continue;
      const paged = await root.query(operation, { ...parameters, paginationOptions: { limit: '100' } });
      expect(paged.status, operation).toBe(200);
    }
  });
});
