import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import {
  addApiKey,
  addPasskey,
  approve,
  Caller,
  COMPLETED,
  FAILED,
  from,
  outcome,
  PENDING,
  path,
  policyFor,
  propose,
  Rows,
  read,
  reject,
  tagNames,
  times,
  voters,
} from './fixtures/access.ts';

const HOME = '203.0.113.5';
const HOME_BLOCK = '203.0.113.0/24';
const AWAY = '198.51.100.7';
const REFUSED = [403, 'IP_NOT_ALLOWED'];
const LOCKOUT = [400, 'IP_LOCKOUT'];

const rulesOf = (...blocks: string[]) => blocks.map((cidr) => ({ cidr }));
const setList = (client: TestClient, parameters: Record<string, unknown>) =>
  client.submit('set_ip_allowlist', parameters);
const getList = async (client: TestClient, publicKey?: string) =>
  (await client.query('get_ip_allowlist', { ...(publicKey !== undefined && { publicKey }) })).body.allowlist;
const whoami = (client: TestClient) => client.query('whoami');
const statusFrom = async (client: TestClient, address: string) => (await whoami(from(client, address))).status;

// Every request of this suite comes through a proxy on loopback that the service trusts, so that a test can say where
// from.
describe.each(databasesOf(import.meta.url))('IP allowlists on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database, {
      CUSTOS_TRUSTED_PROXIES: '127.0.0.1/32,10.0.0.0/8',
      CUSTOS_FAILED_AUTH_PER_MINUTE: '0',
    });
    parent = service.root;
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  /** The root user of a new organization, calling from home. */
  const newOrg = async (): Promise<TestClient> =>
    from(await createSubOrganization(parent, `Org ${randomUUID()}`), HOME);

  describe('of an organization', () => {
    test('lets its addresses in and no other, for queries, submits and votes, and says nothing of its rules', async () => {
      const root = await newOrg();
      const second = await createUser(root, 'second');
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      const list = (await setList(root, { enabled: true, rules: rulesOf(HOME_BLOCK) })).body.activity;
      const pending = (await propose(root)).body.activity;
      expect(outcome(await approve(second, list.fingerprint))).toEqual([200, COMPLETED]);
      const away = from(second, AWAY);
      const body = root.submitBody('create_user_tag', { userTagName: 'Bytes', userIds: [] });
      await root.sendStamped(path('create_user_tag'), body);
      for (const refused of [
        await whoami(away),
        await away.query('list_users'),
        await propose(away),
        await approve(away, pending.fingerprint),
        await reject(away, pending.fingerprint),
        await away.sendStamped(path('create_user_tag'), body),
        // Whether the rest of the request makes sense is not looked at.
        await away.submit('create_user_tag', {}),
        await approve(away, `sha256:${'0'.repeat(64)}`),
      ]) {
        expect(outcome(refused)).toEqual(REFUSED);
        expect(refused.body.code).toBe(7);
        expect(JSON.stringify(refused.body)).not.toContain('203.0.113');
      }
      expect(voters(await read(root, pending.id))).toEqual([root.userId]);
      expect((await whoami(second)).status).toBe(200);
      expect(outcome(await approve(second, pending.fingerprint))).toEqual([200, COMPLETED]);
    });

    test('is judged after the stamp', async () => {
      const root = await newOrg();
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK) });
      expect((await whoami(from(root.as(newKeyPair()), AWAY))).body.errorCode).toBe('PUBLIC_KEY_NOT_FOUND');
      expect(outcome(await whoami(from(root, AWAY)))).toEqual(REFUSED);
    });

    test('that is not enabled lets everybody in', async () => {
      const root = await newOrg();
      await root.run('set_ip_allowlist', { enabled: false, rules: rulesOf('192.0.2.0/24') });
      expect(await statusFrom(root, AWAY)).toBe(200);
      await root.run('set_ip_allowlist', { rules: rulesOf('192.0.2.0/24') });
      expect(await statusFrom(root, AWAY)).toBe(200);
      expect(await getList(root)).toMatchObject({ enabled: false, rules: [{ cidr: '192.0.2.0/24' }] });
    });

    test('that is enabled without rules blocks everything', async () => {
      const root = await newOrg();
      expect(outcome(await setList(root, { enabled: true }))).toEqual(LOCKOUT);
      await root.run('set_ip_allowlist', { enabled: true, rules: [], allowLockout: true });
      for (const address of [HOME, AWAY, '::1', '127.0.0.1']) expect(await statusFrom(root, address)).toBe(403);
      expect(outcome(await root.submit('remove_ip_allowlist', {}))).toEqual(REFUSED);
    });

    test.each([
      [
        '203.0.113.0/24',
        ['203.0.113.0', '203.0.113.255', '::ffff:203.0.113.9', '::ffff:cb00:7109'],
        ['203.0.112.255', '203.0.114.0'],
      ],
      ['203.0.113.5', ['203.0.113.5'], ['203.0.113.4', '203.0.113.6']],
      ['0.0.0.0/0', ['203.0.113.5', '255.255.255.255', '::ffff:1.2.3.4'], ['2001:db8::1', '::1']],
      ['::/0', ['2001:db8::1', '::1', 'fe80::1'], ['203.0.113.5', '::ffff:203.0.113.5']],
      [
        '2001:db8:1::/48',
        ['2001:db8:1::', '2001:DB8:1:ffff::1', '2001:db8:1:0:0:0:0:1'],
        ['2001:db8:2::1', '203.0.113.5'],
      ],
      ['2001:db8::7/128', ['2001:db8::7'], ['2001:db8::8']],
      ['::ffff:203.0.113.0/120', ['203.0.113.77', '::ffff:203.0.113.77'], ['203.0.112.1', '2001:db8::1']],
    ])('with %s', async (cidr, inside, outside) => {
      const root = await newOrg();
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(cidr), allowLockout: true });
      for (const address of inside) expect(await statusFrom(root, address), address).toBe(200);
      for (const address of outside) expect(await statusFrom(root, address), address).toBe(403);
    });

    test('any of its rules is enough', async () => {
      const root = await newOrg();
      await root.run('set_ip_allowlist', {
        enabled: true,
        rules: rulesOf('192.0.2.0/24', '2001:db8::/32', HOME_BLOCK),
      });
      for (const address of ['192.0.2.1', '2001:db8::1', HOME]) expect(await statusFrom(root, address)).toBe(200);
      expect(await statusFrom(root, AWAY)).toBe(403);
    });

    test('takes effect for requests that were signed before it', async () => {
      const root = await newOrg();
      const away = from(root, AWAY);
      const body = away.submitBody('create_user_tag', { userTagName: 'Late', userIds: [] });
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK) });
      expect(outcome(await away.sendStamped(path('create_user_tag'), body))).toEqual(REFUSED);
      expect(await tagNames(root)).toEqual([]);
      expect(outcome(await root.sendStamped(path('create_user_tag'), body))).toEqual([200, COMPLETED]);
    });
  });

  describe('rules', () => {
    test('are kept without host bits, equal ones once, with the label of the first', async () => {
      const root = await newOrg();
      const before = Date.now();
      await root.run('set_ip_allowlist', {
        enabled: true,
        onEvaluationError: 'ALLOW',
        rules: [
          { cidr: '203.0.113.100/24', label: 'office' },
          { cidr: '203.0.113.7/24', label: 'again' },
          { cidr: '::ffff:203.0.113.1/120' },
          { cidr: '2001:db8::ffff/32' },
          { cidr: '2001:0DB8::/32', label: 'no' },
          { cidr: '192.0.2.1' },
          { cidr: '2001:db8:5::1' },
        ],
      });
      const list = await getList(root);
      expect(list).toEqual({
        organizationId: root.organizationId,
        enabled: true,
        onEvaluationError: 'ALLOW',
        rules: [
          { cidr: '203.0.113.0/24', label: 'office', createdAt: expect.stringMatching(/^\d{13}$/) },
          { cidr: '2001:db8::/32', createdAt: expect.any(String) },
          { cidr: '192.0.2.1/32', createdAt: expect.any(String) },
          { cidr: '2001:db8:5::1/128', createdAt: expect.any(String) },
        ],
      });
      expect(Number(list.rules[0].createdAt)).toBeGreaterThanOrEqual(before);
    });

    test('are replaced as a whole', async () => {
      const root = await newOrg();
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK, '192.0.2.0/24') });
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf('203.0.113.4/31') });
      expect((await getList(root)).rules).toMatchObject([{ cidr: '203.0.113.4/31' }]);
      expect(await statusFrom(root, '192.0.2.1')).toBe(403);
      await root.run('set_ip_allowlist', {});
      expect(await getList(root)).toMatchObject({ rules: [], enabled: false, onEvaluationError: 'DENY' });
      expect(await statusFrom(root, '192.0.2.1')).toBe(200);
    });

    test('are at most a hundred', async () => {
      const root = await newOrg();
      const rules = [...rulesOf(HOME_BLOCK), ...times(99, (index) => ({ cidr: `10.0.${index}.0/24` }))];
      await root.run('set_ip_allowlist', { enabled: true, rules });
      expect((await getList(root)).rules).toHaveLength(100);
      const tooMany = await setList(root, { enabled: true, rules: [...rules, { cidr: '192.0.2.0/24' }] });
      expect(outcome(tooMany)).toEqual([400, 'REQUEST_INVALID']);
      expect((await getList(root)).rules).toHaveLength(100);
    });

    test.each([
      '203.0.113.0/33',
      '2001:db8::/129',
      '203.0.113/24',
      '203.0.113.256/24',
      '203.0.113.0/-1',
      '203.0.113.0/',
      '203.0.113.0/24/24',
      '203.0.113.0-203.0.113.9',
      'example.com',
      '*',
      '',
      '0x7f.1',
      '2001:db8:::/32',
      '::ffff:0:0/64',
    ])('that are none are refused with place and value: %j', async (cidr) => {
      const root = await newOrg();
      const answer = await setList(root, { enabled: true, rules: [...rulesOf(HOME_BLOCK, '192.0.2.0/24'), { cidr }] });
      expect(outcome(answer)).toEqual([400, 'REQUEST_INVALID']);
      expect(JSON.stringify(answer.body)).toContain('rules.2.cidr');
      if (cidr !== '') expect(JSON.stringify(answer.body)).toContain(cidr);
      expect((await getList(root)).rules).toEqual([]);
    });
  });

  describe('of a key', () => {
    test('is enforced whether or not the organization has one', async () => {
      const root = await newOrg();
      const office = await addApiKey(root);
      const { publicKey } = office.client.key;
      await root.run('set_ip_allowlist', { publicKey, rules: rulesOf('192.0.2.0/24') });
      const inside = from(office.client, '192.0.2.9');
      const outside = from(office.client, HOME);
      const judged = async () => [(await whoami(inside)).status, (await whoami(outside)).status];
      expect(await judged()).toEqual([200, 403]);
      expect(outcome(await propose(outside))).toEqual(REFUSED);
      // Other keys of the same user are free.
      expect(await statusFrom(root, AWAY)).toBe(200);
      await root.run('set_ip_allowlist', { enabled: false, rules: rulesOf(HOME_BLOCK) });
      expect(await judged()).toEqual([200, 403]);
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK) });
      // Its own stands in the place of the organization's.
      expect(await judged()).toEqual([200, 403]);
      expect(await statusFrom(root, HOME)).toBe(200);
      expect(await statusFrom(root, '192.0.2.9')).toBe(403);
      expect(await getList(root, publicKey)).toEqual({
        organizationId: root.organizationId,
        publicKey,
        rules: [{ cidr: '192.0.2.0/24', createdAt: expect.any(String) }],
        onEvaluationError: 'DENY',
      });
    });

    test('without rules falls back to the organization’s', async () => {
      const root = await newOrg();
      const { client } = await addApiKey(root);
      await root.run('set_ip_allowlist', { publicKey: client.key.publicKey });
      expect(await statusFrom(client, AWAY)).toBe(200);
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK) });
      expect(await statusFrom(client, AWAY)).toBe(403);
      expect(await statusFrom(client, HOME)).toBe(200);
    });

    test('is found by the key in any case of its letters', async () => {
      const root = await newOrg();
      const { client } = await addApiKey(root);
      const publicKey = client.key.publicKey.toUpperCase();
      await root.run('set_ip_allowlist', { publicKey, rules: rulesOf(HOME_BLOCK) });
      expect(await statusFrom(client, AWAY)).toBe(403);
      expect((await getList(root, publicKey)).rules).toHaveLength(1);
    });

    test('has no switch, and needs a key of the organization', async () => {
      const root = await newOrg();
      const stranger = await newOrg();
      const rules = rulesOf(HOME_BLOCK);
      const { publicKey } = root.key;
      for (const enabled of [true, false]) {
        const switched = await setList(root, { publicKey, enabled, rules });
        expect(outcome(switched)).toEqual([400, 'REQUEST_INVALID']);
      }
      for (const unknown of [newKeyPair().publicKey, stranger.key.publicKey]) {
        expect(outcome(await setList(root, { publicKey: unknown, rules }))).toEqual([404, 'RESOURCE_NOT_FOUND']);
      }
      expect(await statusFrom(stranger, AWAY)).toBe(200);
    });

    test('outlives the key: registered again, it is judged by it as before', async () => {
      const root = await newOrg();
      const { client, apiKeyId } = await addApiKey(root);
      const { publicKey } = client.key;
      await root.run('set_ip_allowlist', { publicKey, rules: rulesOf('192.0.2.0/24') });
      expect(await statusFrom(client, HOME)).toBe(403);
      await root.run('delete_api_keys', { userId: root.userId, apiKeyIds: [apiKeyId] });
      const apiKeys = [{ apiKeyName: 'again', publicKey, curveType: 'API_KEY_CURVE_P256' }];
      await root.run('create_api_keys', { userId: root.userId, apiKeys });
      expect(await statusFrom(client, HOME)).toBe(403);
      await root.run('remove_ip_allowlist', { publicKey });
      expect(await statusFrom(client, HOME)).toBe(200);
    });
  });

  test('a passkey is judged by the organization’s list', async () => {
    const root = await newOrg();
    const passkey = await addPasskey(root);
    await root.run('set_ip_allowlist', { publicKey: root.key.publicKey, rules: rulesOf(HOME_BLOCK) });
    expect(await statusFrom(passkey, AWAY)).toBe(200);
    await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK) });
    expect(await statusFrom(passkey, AWAY)).toBe(403);
    expect(outcome(await propose(from(passkey, AWAY)))).toEqual(REFUSED);
    expect(outcome(await propose(from(passkey, HOME)))).toEqual([200, COMPLETED]);
  });

  test('so is a read-only session', async () => {
    const root = await newOrg();
    const token = randomBytes(32).toString('base64url');
    const tokenHash = createHash('sha256').update(token).digest('hex');
    await using rows = await Rows.open(service.app.config);
    const expiresAtMs = Date.now() + 3_600_000;
    await rows.run(
      'INSERT INTO read_session (organization_id, token_hash, user_id, expires_at_ms) VALUES (?, ?, ?, ?)',
      [root.organizationId, tokenHash, root.userId, expiresAtMs],
    );
    const session = new Caller(root, { stamp: () => ({ 'x-session': token }) });
    expect(await statusFrom(session, AWAY)).toBe(200);
    await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK) });
    expect(await statusFrom(session, AWAY)).toBe(403);
    expect(await statusFrom(session, HOME)).toBe(200);
  });

  describe('where a request comes from', () => {
    const ask = async (onEvaluationError: 'ALLOW' | 'DENY', forwardedFor: string | undefined): Promise<Answer> => {
      const root = await newOrg();
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK), onEvaluationError });
      const plain = new TestClient(root.baseUrl, root.organizationId, root.key, root.userId);
      return await whoami(forwardedFor === undefined ? plain : from(plain, forwardedFor));
    };

    test.each([
      ['its last entry', HOME, 200],
      ['its last entry, whatever stands before', `${AWAY}, ${HOME}`, 200],
      ['its last entry, though an allowed one stands before', `${HOME}, ${AWAY}`, 403],
      ['the entry before trusted proxies', `${AWAY}, ${HOME}, 10.1.2.3, 127.0.0.1`, 200],
      ['the entry before trusted proxies, not one further', `${HOME}, ${AWAY}, 10.1.2.3`, 403],
      ['an entry in IPv6 clothes', `::ffff:${HOME}`, 200],
    ])('a trusted proxy says it: %s', async (_what, forwardedFor, status) => {
      expect((await ask('DENY', forwardedFor)).status).toBe(status);
      expect((await ask('ALLOW', forwardedFor)).status).toBe(status);
    });

    test.each([
      ['nothing', undefined],
      ['no address', 'unknown'],
      ['something else last', `${HOME}, unknown`],
      ['an empty entry last', `${HOME},`],
      ['only proxies', '10.1.2.3'],
      ['an address with a port', `${HOME}:4711`],
    ])('where a trusted proxy says %s, onEvaluationError decides', async (_what, forwardedFor) => {
      expect(outcome(await ask('DENY', forwardedFor))).toEqual(REFUSED);
      expect((await ask('ALLOW', forwardedFor)).status).toBe(200);
    });

    test('onEvaluationError of the list that judges, and DENY unless told', async () => {
      const root = await newOrg();
      const { client } = await addApiKey(root);
      const silent = new TestClient(root.baseUrl, root.organizationId, client.key);
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK), onEvaluationError: 'ALLOW' });
      expect((await whoami(silent)).status).toBe(200);
      await root.run('set_ip_allowlist', { publicKey: client.key.publicKey, rules: rulesOf(HOME_BLOCK) });
      expect((await whoami(silent)).status).toBe(403);
      expect((await setList(root, { rules: rulesOf(HOME_BLOCK), onEvaluationError: 'MAYBE' })).status).toBe(400);
    });
  });

  describe('locking oneself out', () => {
    test('is refused, and nothing changes', async () => {
      const root = await newOrg();
      for (const parameters of [
        { enabled: true, rules: rulesOf('192.0.2.0/24') },
        { enabled: true, rules: [] },
        { publicKey: root.key.publicKey, rules: rulesOf('192.0.2.0/24') },
      ]) {
        const answer = await setList(root, parameters);
        expect(outcome(answer)).toEqual(LOCKOUT);
        expect(answer.body.message).toContain('allowLockout');
      }
      expect(await getList(root)).toMatchObject({ enabled: false, rules: [] });
      expect(await statusFrom(root, AWAY)).toBe(200);
      const types = ['ACTIVITY_TYPE_SET_IP_ALLOWLIST'];
      expect((await root.query('list_activities', { filterByType: types })).body.activities).toEqual([]);
    });

    test('is possible when told to', async () => {
      const root = await newOrg();
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf('192.0.2.0/24'), allowLockout: true });
      expect(outcome(await whoami(root))).toEqual(REFUSED);
      expect(await statusFrom(root, '192.0.2.1')).toBe(200);
    });

    test('where the address is not known, is what onEvaluationError makes it', async () => {
      const root = await newOrg();
      const silent = new TestClient(root.baseUrl, root.organizationId, root.key, root.userId);
      const parameters = { enabled: true, rules: rulesOf(HOME_BLOCK) };
      expect(outcome(await setList(silent, parameters))).toEqual(LOCKOUT);
      expect(outcome(await setList(silent, { ...parameters, onEvaluationError: 'ALLOW' }))).toEqual([200, COMPLETED]);
    });

    test('is not what a list of another key does, nor one that does not judge', async () => {
      const root = await newOrg();
      const { client } = await addApiKey(root);
      const narrow = rulesOf('192.0.2.0/24');
      expect(outcome(await setList(root, { publicKey: client.key.publicKey, rules: narrow }))).toEqual([
        200,
        COMPLETED,
      ]);
      expect(outcome(await setList(root, { enabled: false, rules: narrow }))).toEqual([200, COMPLETED]);
      await root.run('set_ip_allowlist', { publicKey: root.key.publicKey, rules: rulesOf(HOME_BLOCK) });
      // The caller's own list lets it in, so that the organization's cannot lock it out.
      expect(outcome(await setList(root, { enabled: true, rules: narrow }))).toEqual([200, COMPLETED]);
      expect((await whoami(root)).status).toBe(200);
      // Until that one would go, or be emptied.
      const { publicKey } = root.key;
      expect(outcome(await root.submit('remove_ip_allowlist', { publicKey }))).toEqual(LOCKOUT);
      expect(outcome(await setList(root, { publicKey, rules: [] }))).toEqual(LOCKOUT);
      expect((await whoami(root)).status).toBe(200);
      await root.run('remove_ip_allowlist', { publicKey, allowLockout: true });
      expect(outcome(await whoami(root))).toEqual(REFUSED);
    });

    test('a passkey locks itself out by the organization’s list only', async () => {
      const root = await newOrg();
      const passkey = from(await addPasskey(root), HOME);
      const narrow = rulesOf('192.0.2.0/24');
      expect(outcome(await setList(passkey, { enabled: true, rules: narrow }))).toEqual(LOCKOUT);
      expect(outcome(await setList(passkey, { publicKey: root.key.publicKey, rules: narrow }))).toEqual([
        200,
        COMPLETED,
      ]);
    });

    test('is judged again when votes complete it, by the address of that voter', async () => {
      const root = await newOrg();
      const second = await createUser(root, 'second');
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      const parameters = { enabled: true, rules: rulesOf(HOME_BLOCK) };
      const first = (await setList(root, parameters)).body.activity;
      expect(first.status).toBe(PENDING);
      const failed = await approve(from(second, AWAY), first.fingerprint);
      expect(outcome(failed)).toEqual([200, FAILED]);
      expect(JSON.stringify(failed.body.activity.failure)).toContain('IP_LOCKOUT');
      expect(await getList(root)).toMatchObject({ enabled: false, rules: [] });
      // Proposed from where it will not be let in, completed from where it will.
      const next = (await setList(from(root, AWAY), parameters)).body.activity;
      expect(next.status).toBe(PENDING);
      expect(outcome(await approve(second, next.fingerprint))).toEqual([200, COMPLETED]);
      expect(outcome(await whoami(from(root, AWAY)))).toEqual(REFUSED);
      expect(outcome(await whoami(from(second, AWAY)))).toEqual(REFUSED);
    });
  });

  describe('removal', () => {
    test('of the organization’s: every address is let in again', async () => {
      const root = await newOrg();
      const { client } = await addApiKey(root);
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK), onEvaluationError: 'ALLOW' });
      await root.run('set_ip_allowlist', { publicKey: client.key.publicKey, rules: rulesOf(HOME_BLOCK) });
      expect(await root.run('remove_ip_allowlist', {})).toEqual({});
      expect(await statusFrom(root, AWAY)).toBe(200);
      expect(await getList(root)).toEqual({
        organizationId: root.organizationId,
        rules: [],
        enabled: false,
        onEvaluationError: 'DENY',
      });
      // A key keeps its own.
      expect(await statusFrom(client, AWAY)).toBe(403);
    });

    test('of a key’s: it follows the organization’s', async () => {
      const root = await newOrg();
      const { client } = await addApiKey(root);
      const { publicKey } = client.key;
      await root.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK) });
      await root.run('set_ip_allowlist', { publicKey, rules: rulesOf('192.0.2.0/24') });
      expect([await statusFrom(client, '192.0.2.1'), await statusFrom(client, HOME)]).toEqual([200, 403]);
      await root.run('remove_ip_allowlist', { publicKey });
      expect([await statusFrom(client, '192.0.2.1'), await statusFrom(client, HOME)]).toEqual([403, 200]);
      expect(await getList(root, publicKey)).toMatchObject({ publicKey, rules: [] });
      expect((await getList(root)).rules).toHaveLength(1);
    });

    test('of what is not there succeeds', async () => {
      const root = await newOrg();
      expect(outcome(await root.submit('remove_ip_allowlist', {}))).toEqual([200, COMPLETED]);
      expect(outcome(await root.submit('remove_ip_allowlist', { publicKey: null }))).toEqual([200, COMPLETED]);
      const unknown = { publicKey: newKeyPair().publicKey };
      expect(outcome(await root.submit('remove_ip_allowlist', unknown))).toEqual([200, COMPLETED]);
    });
  });

  test('only who may change the configuration may change a list', async () => {
    const root = await newOrg();
    const plain = await createUser(root, 'plain');
    const parameters = { enabled: true, rules: rulesOf(HOME_BLOCK) };
    expect((await setList(plain, parameters)).status).toBe(403);
    expect((await plain.submit('remove_ip_allowlist', {})).status).toBe(403);
    await policyFor(root, plain, { condition: "activity.resource == 'CONFIG' && activity.action == 'UPDATE'" });
    expect(outcome(await setList(plain, parameters))).toEqual([200, COMPLETED]);
    expect((await plain.submit('remove_ip_allowlist', {})).status).toBe(403);
  });

  describe('parents and sub-organizations', () => {
    test('a list judges the credentials of its own organization, wherever they act', async () => {
      const child = await newOrg();
      const other = await newOrg();
      const home = from(parent, HOME);
      const readsChild = (client: TestClient) => client.query('list_users', { organizationId: child.organizationId });
      await home.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK) });
      try {
        // Sub-organizations do not inherit it.
        expect(await statusFrom(child, AWAY)).toBe(200);
        expect(outcome(await propose(from(child, AWAY)))).toEqual([200, COMPLETED]);
        // The parent's own credentials are judged by it, also when they read a child.
        expect(outcome(await readsChild(from(parent, AWAY)))).toEqual(REFUSED);
        expect((await readsChild(home)).status).toBe(200);
        // And not by the list of the child.
        await child.run('set_ip_allowlist', { enabled: true, rules: rulesOf('192.0.2.0/24'), allowLockout: true });
        expect(outcome(await whoami(child))).toEqual(REFUSED);
        expect((await readsChild(home)).status).toBe(200);
        expect(await statusFrom(other, AWAY)).toBe(200);
      } finally {
        await home.run('remove_ip_allowlist', {});
      }
    });

    test('one that asks its parent who it is, is judged by its own list', async () => {
      const child = await newOrg();
      await child.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK) });
      const ask = (client: TestClient) => client.query('whoami', { organizationId: parent.organizationId });
      expect((await ask(child)).body).toMatchObject({ organizationId: child.organizationId, userId: child.userId });
      expect(outcome(await ask(from(child, AWAY)))).toEqual(REFUSED);
    });
  });
});

describe.each(databasesOf(import.meta.url))('IP allowlists without a trusted proxy on %s', (database) => {
  let service: TestApp;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    root = service.root;
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  test('the peer is judged, and what it says of itself is ignored', async () => {
    const sub = await createSubOrganization(root, 'Sub');
    expect(outcome(await setList(sub, { enabled: true, rules: rulesOf(HOME_BLOCK) }))).toEqual(LOCKOUT);
    // A header does not make it another address, neither for the lockout nor for the list.
    expect(outcome(await setList(from(sub, HOME), { enabled: true, rules: rulesOf(HOME_BLOCK) }))).toEqual(LOCKOUT);
    await sub.run('set_ip_allowlist', { enabled: true, rules: rulesOf('127.0.0.0/8') });
    expect((await whoami(sub)).status).toBe(200);
    expect(await statusFrom(sub, AWAY)).toBe(200);
    expect(await statusFrom(sub, 'unknown')).toBe(200);
    await sub.run('set_ip_allowlist', { enabled: true, rules: rulesOf(HOME_BLOCK), allowLockout: true });
    for (const client of [sub, from(sub, HOME), from(sub, `${HOME}, 127.0.0.1`)]) {
      expect(outcome(await whoami(client))).toEqual(REFUSED);
    }
  });
});
