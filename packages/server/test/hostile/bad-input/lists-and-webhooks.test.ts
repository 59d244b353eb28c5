import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeRoom } from '../../fixtures/endpoints.ts';
import { ETHEREUM, keyParams, newKeyTag, newWallet, PAYLOAD, secretParams } from '../../fixtures/keys.ts';
import { idleContractParams, idleControlParams, idleMfaParams, idlePolicyParams } from '../../fixtures/rules.ts';
import { newApiKey } from '../../fixtures/users.ts';
import { newSecretTargets } from '../../harness/bundles.ts';
import { type Answer, createSubOrganization, type TestClient } from '../../harness/client.ts';
import { DATABASES, databasesOf } from '../../harness/databases.ts';
import { caseFor } from '../../operations/all-cases.ts';
import { expectRefusal, flawOfAnswer, flawOfRefusal } from '../answers.ts';
import { inParallel } from '../wire.ts';
import { openFields, timestampMs } from './support.ts';

/** None of them needs a name to be looked up; PORT is one that answers on 127.0.0.1, which the operator allows. */
const FORBIDDEN_URLS = [
  '',
  ' ',
  'text',
  '/hooks',
  '//127.0.0.1:PORT/',
  '127.0.0.1:PORT',
  'localhost:PORT/hooks',
  'http://',
  'http://:PORT/',
  'http://127.0.0.1:65536/',
  'http://127.0.0.1:-1/',
  'http://[::1/',
  'http://256.0.0.1/',
  'ftp://127.0.0.1:PORT/',
  'ws://127.0.0.1:PORT/',
  'gopher://127.0.0.1:PORT/',
  'file:///etc/passwd',
  'data:application/json,{}',
  'javascript:alert(1)',
  'blob:http://127.0.0.1:PORT/',
  // What is called would not be what is shown.
  ' http://127.0.0.1:PORT/',
  'http://127.0.0.1:PORT/ ',
  'http://127.0.0.1:PORT/a b',
  'http://127.0.0.1:PORT/a\nb',
  'ht\ttp://127.0.0.1:PORT/',
  'http:\\\\127.0.0.1:PORT/',
  'http://127.0.0.1:PORT\\@10.0.0.1/',
  'http://127.0.0.1:PORT/#part',
  'http://user:password@127.0.0.1:PORT/',
  'http://user@127.0.0.1:PORT/',
  'http://127.0.0.1:PORT@10.0.0.1/',
  // Plain http elsewhere.
  'http://1.2.3.4/',
  'http://[2600::1]/',
  // Addresses that are not public, in many spellings.
  ...[
    '0.0.0.0',
    '10.0.0.1',
    '10.1',
    '167772161',
    '0x0a000001',
    '012.0.0.1',
    '0xa.0.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '2852039166',
    '172.16.0.1',
    '192.168.1.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '\uff11\uff10.0.0.1',
    '10\u30020\u30020\u30021',
    '[::]',
    '[::1]',
    '[::ffff:10.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[::10.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[2002:a00:1::]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[ff02::1]',
    '[2001:db8::1]',
  ].flatMap((host) => [`http://${host}/`, `https://${host}/`, `https://${host}:8443/`]),
  // Ports of other services.
  ...[0, 22, 25, 53, 80, 445, 1023].map((port) => `https://1.2.3.4:${port}/`),
];

const EVERY_FILTER = {
  activityTypes: ['ACTIVITY_TYPE_CREATE_USERS_V4'],
  statuses: ['ACTIVITY_STATUS_COMPLETED'],
  organizationIds: ['00000000-0000-4000-8000-000000000001'],
};

const WRONG_FILTERS = [
  ' ',
  '{',
  'null',
  'true',
  '1',
  '"text"',
  '[]',
  '[{}]',
  '{"statuses":null}',
  '{"statuses":"ACTIVITY_STATUS_COMPLETED"}',
  '{"statuses":[]}',
  '{"statuses":[null]}',
  '{"statuses":[["ACTIVITY_STATUS_COMPLETED"]]}',
  '{"statuses":["ACTIVITY_STATUS_COMPLETED",1]}',
  '{"statuses":["completed"]}',
  '{"statuses":{"0":"ACTIVITY_STATUS_COMPLETED","length":1}}',
  '{"activityTypes":["ACTIVITY_TYPE_NOTHING"]}',
  '{"activityTypes":["constructor"]}',
  '{"activityTypes":["__proto__"]}',
  '{"organizationIds":["mine"]}',
  '{"organizationIds":["00000000-0000-4000-8000-000000000001\\u0000"]}',
  '{"addresses":["0x00"]}',
  '{"caip2":["eip155:1"]}',
  '{"unknown":["x"]}',
  '{"__proto__":["x"]}',
  '{"constructor":["x"]}',
  '{"toString":["x"]}',
  '{"":["x"]}',
  `{"${'a'.repeat(16_000)}":["x"]}`,
  '['.repeat(16_384),
  '{"a":'.repeat(3276),
  `{"statuses":${'['.repeat(8000)}${']'.repeat(8000)}}`,
];
describe.each(DATABASES)('wrong fields on %s', (database) => {
  const suite = openFields(database);
  const { isThorough, expectNoChange } = suite;

  // What a long list costs a database shows in those of accounts, keys and secrets.
  const testHere = databasesOf(import.meta.url).includes(database) ? test : undefined;

  testHere?.('lists that are long in two directions are answered', async () => {
    const { root, marker } = suite.world.parent;
    const users = (count: number, userTags: readonly string[] | ((index: number) => readonly string[])) =>
      Array.from({ length: count }, (_user, index) => ({
        userName: `many ${index}`,
        userEmail: `${randomBytes(6).toString('hex')}@${marker}.example`,
        apiKeys: [],
        authenticators: [],
        oauthProviders: [],
        userTags: typeof userTags === 'function' ? userTags(index) : userTags,
      }));
    const tagIds: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      tagIds.push((await root.run('create_user_tag', { userTagName: `many ${index}`, userIds: [] })).userTagId);
    }
    expect((await root.submit('create_users', { users: users(3, tagIds) })).status).toBe(200);
    const unknown = (index: number) =>
      Array.from(
        { length: 1000 },
        (_id, item) => `00000000-0000-4000-8000-${String(index * 1000 + item).padStart(12, '0')}`,
      );
    const apiKeys = Array.from({ length: 1000 }, (_key, index) => newApiKey(`many ${index}`));
    const { userId } = suite.world.parent.member;
    const flaws: string[] = [];
    for (const [label, operation, parameters] of [
      ['500 users with 60 tags each', 'create_users', { users: users(500, tagIds) }],
      ['500 users with their tags without passkeys', 'create_api_only_users', { apiOnlyUsers: users(500, tagIds) }],
      ['52,000 tags that nobody has', 'create_users', { users: users(52, unknown) }],
      ['1,000 keys', 'create_api_keys', { userId, apiKeys }],
      ['1,000 users that nobody has', 'delete_users', { userIds: unknown(1) }],
    ] as const) {
      const flaw = flawOfAnswer(await root.submit(operation, parameters));
      if (flaw !== undefined) flaws.push(`${label}: ${flaw}`);
    }
    expect(flaws).toEqual([]);
  });

  test('long lists of accounts, private keys, payloads and secrets are answered', async () => {
    const { root, ids, marker } = suite.world.parent;
    const times = <T>(count: number, make: (index: number) => T): T[] =>
      Array.from({ length: count }, (_, at) => make(at));
    const accounts = (level: number) => times(1000, (index) => ({ ...ETHEREUM, path: `m/${level}'/${index}` }));
    const tagIds: string[] = [];
    for (let index = 0; index < 60; index += 1) tagIds.push(await newKeyTag(root, `many ${index}`));
    const keys = (count: number, privateKeyTags: readonly string[]) =>
      times(count, (index) => keyParams(`${marker} ${count} ${index}`, privateKeyTags));
    const unknown = times(1000, (index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
    const { payload, ...raw } = PAYLOAD;
    const properties = times(1000, (index) => ({ key: `key ${index}`, value: 'value' }));
    const targets = await newSecretTargets(root, 32);
    const secrets = targets.map((target, index) => ({
      ...secretParams(`many ${index}`, target),
      staticProperties: properties,
    }));
    const wallet = await newWallet(root, 'with many accounts');
    const remove = { deleteWithoutExport: true };
    for (const [label, status, operation, parameters] of [
      ['1,000 accounts', 200, 'create_wallet', { walletName: 'many', accounts: accounts(1) }],
      ['1,000 more', 200, 'create_wallet_accounts', { walletId: wallet.walletId, accounts: accounts(2) }],
      ['one of them twice', 409, 'create_wallet_accounts', { walletId: wallet.walletId, accounts: accounts(2) }],
      ['2 of one path', 409, 'create_wallet', { walletName: 'twice', accounts: [ETHEREUM, ETHEREUM] }],
      ['all of them', 200, 'delete_wallets', { walletIds: [wallet.walletId], ...remove }],
      ['1,000 wallets that nobody has', 404, 'delete_wallets', { walletIds: unknown, ...remove }],
      ['1,000 accounts that nobody has', 404, 'delete_wallet_accounts', { walletAccountIds: unknown, ...remove }],
      ['1,000 private keys', 200, 'create_private_keys', { privateKeys: keys(1000, []) }],
      ['100 private keys with 60 tags each', 200, 'create_private_keys', { privateKeys: keys(100, tagIds) }],
      ['1,000 tags that nobody has', 404, 'create_private_keys', { privateKeys: keys(1, unknown) }],
      ['1,000 private keys that nobody has', 404, 'delete_private_keys', { privateKeyIds: unknown, ...remove }],
      ['60 tags of 100 private keys', 200, 'delete_private_key_tags', { privateKeyTagIds: tagIds }],
      [
        '100 payloads of 10,000 characters',
        200,
        'sign_raw_payloads',
        { ...raw, signWith: ids.address, payloads: times(100, () => payload.repeat(1660)) },
      ],
      [
        '100 payloads that are too long together',
        400,
        'sign_raw_payloads',
        { ...raw, signWith: ids.address, payloads: times(100, () => payload.repeat(1760)) },
      ],
      ['32 secrets with 1,000 properties each', 200, 'import_secrets', { secrets }],
      ['1,000 secrets that nobody has', 404, 'delete_secrets', { secretIds: unknown }],
    ] as const) {
      const answer = await root.submit(operation, parameters);
      expect(answer.status, `${label}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBe(status);
      expect(flawOfAnswer(answer), label).toBeUndefined();
    }
  });

  // URLs are judged before a database is asked.
  const testOnce = isThorough ? test : undefined;

  testOnce?.('webhooks go to no URL that is forbidden, however it is set', async () => {
    const { root, marker, outside } = suite.world.parent;
    const { port } = new URL(outside.issuer);
    const name = `${marker} forbidden`;
    const { endpointId } = await root.run('create_webhook_endpoint', { url: outside.hook(name), name });
    let made: string | undefined;
    const ways: Readonly<Record<string, (url: string) => Promise<Answer>>> = {
      create: async (url) => {
        const answer = await root.submit('create_webhook_endpoint', { url, name: `${name} too` });
        made = answer.body.activity?.result.createWebhookEndpointResult.endpointId;
        return answer;
      },
      update: (url) => root.submit('update_webhook_endpoint', { endpointId, url }),
      feature: (value) => root.submit('set_organization_feature', { name: 'FEATURE_NAME_WEBHOOK', value }),
    };
    // What is written otherwise is the same address; all of it is what the operator allows here.
    for (const url of [
      outside.hook(name),
      `HTTP://127.0.0.1:${port}`,
      `http://2130706433:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://127.0.0.1:${port}/${'a'.repeat(2000)}`,
      `http://127.0.0.1:${port}/?to=http://10.0.0.1/`,
    ]) {
      for (const [way, set] of Object.entries(ways)) expect((await set(url)).status, `${way} ${url}`).toBe(200);
      await root.run('remove_organization_feature', { name: 'FEATURE_NAME_WEBHOOK' });
      await root.run('delete_webhook_endpoint', { endpointId: made });
    }
    const flaws: string[] = [];
    await expectNoChange(() =>
      inParallel(
        FORBIDDEN_URLS.map((url) => url.replace('PORT', port)).flatMap((url) =>
          Object.entries(ways)
            // Every feature may be set without a value; then it tells nobody.
            .filter(([way]) => url !== '' || way !== 'feature')
            .map(([way, set]) => ({ way, url, set })),
        ),
        async ({ way, url, set }) => {
          const answer = await set(url);
          const flaw = flawOfRefusal(answer) ?? (answer.body.errorCode === 'INVALID_WEBHOOK_URL' ? undefined : 'code');
          if (flaw !== undefined) flaws.push(`${way} ${url.slice(0, 80)}: ${flaw} ${JSON.stringify(answer.body)}`);
        },
      ),
    );
    expect(flaws).toEqual([]);
    await root.run('delete_webhook_endpoint', { endpointId });
  });

  test('webhook subscriptions and replays that make no sense are refused', async () => {
    const { root, marker, outside, ids } = suite.world.parent;
    const child = await createSubOrganization(root, `${marker} subscriber`);
    const times = <T>(count: number, make: (index: number) => T): T[] =>
      Array.from({ length: count }, (_, at) => make(at));
    const endpoint = (...subscriptions: unknown[]) => ({
      url: outside.hook(marker),
      name: `${marker} ${timestampMs()}`,
      subscriptions,
    });
    const filtered = (filters: unknown, eventType = 'ACTIVITY_UPDATES') =>
      endpoint({ eventType, filtersJson: typeof filters === 'string' ? filters : JSON.stringify(filters) });
    const balances = { eventType: 'BALANCE_CONFIRMED_UPDATES' };
    const someIds = (count: number) =>
      times(count, (index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
    const replayed = { endpointId: ids.webhookEndpoint, deliveryId: ids.webhookDelivery };
    for (const [label, client, status, operation, parameters] of [
      ['none', root, 200, 'create_webhook_endpoint', endpoint()],
      [
        'one without filters',
        root,
        200,
        'create_webhook_endpoint',
        endpoint({ eventType: 'BALANCE_FINALIZED_UPDATES' }),
      ],
      ['one of every filter', root, 200, 'create_webhook_endpoint', filtered(EVERY_FILTER)],
      ['100 organizations', root, 200, 'create_webhook_endpoint', filtered({ organizationIds: someIds(100) })],
      ['101 organizations', root, 400, 'create_webhook_endpoint', filtered({ organizationIds: someIds(101) })],
      ['the same 1,000 times', root, 200, 'create_webhook_endpoint', endpoint(...times(1000, () => balances))],
      ['the same 1,001 times', root, 400, 'create_webhook_endpoint', endpoint(...times(1001, () => balances))],
      ['two of a type', root, 400, 'create_webhook_endpoint', endpoint(balances, { ...balances, isActive: false })],
      ['a type that is none', root, 400, 'create_webhook_endpoint', endpoint({ eventType: 'WEBHOOK_TEST' })],
      ['a type of objects', root, 400, 'create_webhook_endpoint', endpoint({ eventType: 'constructor' })],
      ...WRONG_FILTERS.map((filters) => [
        filters.slice(0, 80),
        root,
        400,
        'create_webhook_endpoint',
        filtered(filters),
      ]),
      [
        'a status of activities for balances',
        root,
        400,
        'create_webhook_endpoint',
        filtered(EVERY_FILTER, balances.eventType),
      ],
      ['balances of a parent', root, 200, 'create_webhook_endpoint', endpoint(balances)],
      ['balances of a child', child, 403, 'create_webhook_endpoint', endpoint(balances)],
      ['no change', root, 400, 'update_webhook_endpoint', { endpointId: ids.webhookEndpoint }],
      ['one delivery', root, 200, 'replay_webhook_delivery', replayed],
      ['nothing to replay', root, 400, 'replay_webhook_delivery', { endpointId: ids.webhookEndpoint }],
      ['both to replay', root, 400, 'replay_webhook_delivery', { ...replayed, sinceMs: '0' }],
      ['since ever', root, 200, 'replay_webhook_delivery', { endpointId: ids.webhookEndpoint, sinceMs: '0' }],
      [
        'since the end',
        root,
        200,
        'replay_webhook_delivery',
        { endpointId: ids.webhookEndpoint, sinceMs: '9'.repeat(15) },
      ],
      [
        'since later',
        root,
        400,
        'replay_webhook_delivery',
        { endpointId: ids.webhookEndpoint, sinceMs: '9'.repeat(16) },
      ],
    ] as (readonly [string, TestClient, number, string, Record<string, unknown>])[]) {
      const answer = await client.submit(operation, parameters);
      expect(answer.status, `${label}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBe(status);
      expect(flawOfAnswer(answer), label).toBeUndefined();
    }
    await makeRoom(root, 0);
  });

  test('the webhook endpoint of a feature is changed by the feature alone', async () => {
    const client = await createSubOrganization(suite.world.parent.root, 'with a feature');
    const name = 'FEATURE_NAME_WEBHOOK';
    await client.run('set_organization_feature', { name, value: suite.world.outside.hook('feature') });
    const listed = async () => (await client.query('list_webhook_endpoints')).body.webhookEndpoints;
    const [{ endpointId }] = await listed();
    for (const [operation, parameters] of [
      ['update_webhook_endpoint', { endpointId, isActive: false }],
      ['update_webhook_endpoint', { endpointId, url: suite.world.outside.hook('other') }],
      ['delete_webhook_endpoint', { endpointId }],
    ] as const) {
      expectRefusal(await client.submit(operation, parameters), 'FAILED_PRECONDITION');
    }
    expect(await listed()).toMatchObject([{ endpointId, isActive: true, url: suite.world.outside.hook('feature') }]);
    await client.run('remove_organization_feature', { name });
    expect(await listed()).toEqual([]);
  });

  testHere?.('many policies, rules, steps and assets at once, and long expressions, are answered', async () => {
    const { root, member, ids } = suite.world.parent;
    const times = <T>(count: number, make: (index: number) => T): T[] =>
      Array.from({ length: count }, (_, at) => make(at));
    const unknown = times(1000, (index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
    const policies = (count: number, extra: Record<string, unknown> = {}) =>
      times(count, (index) => ({ ...idlePolicyParams(`many ${count} ${index}`), ...extra }));
    const methods = times(10, (index) => ({ type: 'AUTHENTICATION_TYPE_API_KEY', id: unknown[index] }));
    const steps = (count: number) => times(count, () => ({ any: methods }));
    const mfa = { ...idleMfaParams('many'), userId: member.userId };
    const { publicKey } = ids;
    const rules = (count: number) => times(count, (index) => ({ cidr: `10.${index}.0.0/16`, label: `many ${index}` }));
    const control = idleControlParams('many');
    const { definition } = control.dataSource.chainAssetTransfer;
    const assets = (count: number) => ({
      ...control,
      dataSource: { chainAssetTransfer: { definition: times(count, () => definition[0]) } },
    });
    const abi = (count: number) =>
      JSON.stringify(
        times(count, (index) => ({ type: 'function', name: `f${index}`, inputs: [{ name: 'a', type: 'uint256[]' }] })),
      );
    const nested = (depth: number) => `${'('.repeat(depth)}true${')'.repeat(depth)}`;
    const policy = idlePolicyParams('one more');
    const long = `activity.type == '${'a'.repeat(15_000)}'`;
    for (const [label, status, operation, parameters] of [
      ['1,000 policies', 200, 'create_policies', { policies: policies(1000, { condition: 'false', consensus: '' }) }],
      ['1,001 policies', 400, 'create_policies', { policies: policies(1001) }],
      [
        'two of one name',
        400,
        'create_policies',
        { policies: [...policies(1, { notes: '2' }), ...policies(1, { notes: '3' })] },
      ],
      [
        'one that is wrong among many',
        400,
        'create_policies',
        { policies: [...policies(99), { ...policy, condition: '(' }] },
      ],
      ['much text together', 400, 'create_policies', { policies: policies(18, { condition: long }) }],
      ['1,000 policies that nobody has', 404, 'delete_policies', { policyIds: unknown }],
      ['a long expression', 200, 'create_policy', { ...idlePolicyParams('long'), condition: long }],
      ['an expression of 16,384 characters', 400, 'create_policy', { ...policy, condition: nested(8190) }],
      ['a longer one', 400, 'create_policy', { ...policy, condition: 'true || '.repeat(2049) }],
      ['one that is only quotes', 400, 'create_policy', { ...policy, condition: "'".repeat(16_383) }],
      ['a list in a list in a list', 400, 'create_policy', { ...policy, condition: `${'['.repeat(16_000)}` }],
      ['10 steps of 10 methods', 200, 'create_mfa_policy', { ...mfa, requiredAuthenticationMethods: steps(10) }],
      ['11 steps', 400, 'create_mfa_policy', { ...mfa, requiredAuthenticationMethods: steps(11) }],
      ['100 rules', 200, 'set_ip_allowlist', { publicKey, rules: rules(100), allowLockout: true }],
      ['101 rules', 400, 'set_ip_allowlist', { publicKey, rules: rules(101), allowLockout: true }],
      ['100 assets', 200, 'create_velocity_control', assets(100)],
      ['101 assets', 400, 'create_velocity_control', assets(101)],
      [
        'an interface of many functions',
        200,
        'create_smart_contract_interface',
        { ...idleContractParams('many'), smartContractInterface: abi(2000) },
      ],
      [
        'an interface of too many',
        400,
        'create_smart_contract_interface',
        { ...idleContractParams('more'), smartContractInterface: abi(2001) },
      ],
      [
        'an interface of brackets',
        400,
        'create_smart_contract_interface',
        { ...idleContractParams('brackets'), smartContractInterface: '['.repeat(400_000) },
      ],
    ] as const) {
      const answer = await root.submit(operation, parameters);
      expect(answer.status, `${label}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBe(status);
      expect(flawOfAnswer(answer), label).toBeUndefined();
    }
    const simulation = (await caseFor('simulate_activity', suite.world.parent)).parameters;
    for (const [label, status, extra] of [
      ['100 drafts', 200, { draftPolicies: times(100, () => ({ effect: 'EFFECT_ALLOW', consensus: 'false' })) }],
      ['drafts with much text', 400, { draftPolicies: times(18, () => ({ effect: 'EFFECT_ALLOW', condition: long })) }],
      ['101 drafts', 400, { draftPolicies: times(101, () => ({ effect: 'EFFECT_ALLOW' })) }],
      ['a draft that is wrong', 400, { draftPolicies: [{ effect: 'EFFECT_ALLOW', condition: 'time.now' }] }],
      ['10 approvers that nobody knows', 400, { approverUserIds: unknown.slice(0, 10) }],
      ['one approver ten times', 200, { approverUserIds: times(10, () => root.userId) }],
      ['11 approvers', 400, { approverUserIds: times(11, () => root.userId) }],
      ['the first moment', 200, { atMs: '0' }],
      ['the last moment', 200, { atMs: '9'.repeat(14) }],
      ['a moment that has no date', 400, { atMs: '9'.repeat(15) }],
      [
        'parameters that the operation refuses',
        400,
        { request: { type: 'ACTIVITY_TYPE_UPDATE_USER_NAME', parameters: {} } },
      ],
      ['a type that is none', 400, { request: { type: 'ACTIVITY_TYPE_NOTHING', parameters: {} } }],
      [
        'a vote',
        400,
        { request: { type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY', parameters: { fingerprint: ids.fingerprint } } },
      ],
    ] as const) {
      const answer = await root.query('simulate_activity', { ...simulation, ...extra });
      expect(answer.status, `${label}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBe(status);
      expect(flawOfAnswer(answer), label).toBeUndefined();
    }
  });
});
