import { randomUUID } from 'node:crypto';
import type { TSchema } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../../src/registry.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import type { TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { outcome, times } from '../fixtures/access.ts';
import { LOOPBACK } from '../fixtures/oauth.ts';

const CHAIN = 'eip155:31337';
const token = (index: number) => ({
  caip19: `${CHAIN}/erc20:0x${String(index).padStart(40, '0')}`,
  symbol: `T${index}`,
  name: `Token ${index}`,
  decimals: 18,
});

const propertiesOf = (schema: TSchema): Record<string, { readonly type?: string }> =>
  (schema as { readonly properties?: Record<string, { readonly type?: string }> }).properties ?? {};

/** What they answer is bounded by the request, by the operator's settings, or by a number that they state. */
const BOUNDED: ReadonlySet<string> = new Set([
  'describe_activities',
  'get_operations',
  'get_webhook_statistics',
  'list_chains',
  'list_earn_position_history',
  'search',
]);

test('every query that answers a list takes paginationOptions and tells where its page is', () => {
  const lists = operations.flatMap((operation) => {
    if (operation.kind !== 'query' || BOUNDED.has(operation.name)) return [];
    const answers = Object.values(propertiesOf(operation.response));
    return answers.some(({ type }) => type === 'array') ? [operation] : [];
  });
  expect(lists.length).toBeGreaterThan(25);
  const without = lists.filter(
    ({ schema, response }) => !('paginationOptions' in propertiesOf(schema)) || !('pageInfo' in propertiesOf(response)),
  );
  expect(without.map(({ name }) => name)).toEqual([]);
});

describe.each(DATABASES)('lists that took no paginationOptions on %s', (database) => {
  let app: TestApp;
  let root: TestClient;

  beforeAll(async () => {
    const chains = { [CHAIN]: { rpcUrls: ['http://127.0.0.1:9/'], assets: times(6, (index) => token(index + 1)) } };
    app = await openTestApp(database, { ...LOOPBACK, CUSTOS_CHAINS: JSON.stringify(chains) });
    root = app.root;
  });
  afterAll(async () => await app[Symbol.asyncDispose]());

  /** Pages of two forwards, then backwards, and what is wrong with other cursors. */
  async function expectPages(
    operation: string,
    field: string,
    count: number,
    parameters: Record<string, unknown> = {},
  ) {
    const page = async (paginationOptions?: Record<string, string>) => {
      const answer = await root.query(operation, { ...parameters, ...(paginationOptions && { paginationOptions }) });
      expect([operation, answer.status, answer.body.message]).toEqual([operation, 200, undefined]);
      return answer.body;
    };
    const all = await page();
    expect(all[field]).toHaveLength(count);
    expect(all.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
    const seen: unknown[] = [];
    let after = '';
    for (let hasNextPage = true; hasNextPage; ) {
      const { [field]: items, pageInfo } = await page({ limit: '2', after });
      expect(items).toHaveLength(Math.min(2, count - seen.length));
      expect(pageInfo.hasPreviousPage).toBe(seen.length > 0);
      seen.push(...items);
      ({ hasNextPage, endCursor: after } = pageInfo);
    }
    expect(seen).toEqual(all[field]);
    const last = await page({ limit: '2', before: all.pageInfo.endCursor });
    expect(last[field]).toEqual(all[field].slice(-3, -1));
    expect(last.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: count > 3 });
    const wrong = await root.query(operation, { ...parameters, paginationOptions: { after: randomUUID() } });
    expect(outcome(wrong)).toEqual([400, 'REQUEST_INVALID']);
    expect(wrong.body.message).toContain('paginationOptions.after');
    const tooMany = await root.query(operation, { ...parameters, paginationOptions: { limit: '101' } });
    expect(tooMany.body.message).toContain('paginationOptions.limit');
  }

  test('list_webhook_endpoints, also after the endpoint of a cursor was deleted', async () => {
    for (const name of times(5, () => randomUUID())) {
      await root.run('create_webhook_endpoint', { url: 'http://127.0.0.1:9/hook', name });
    }
    await expectPages('list_webhook_endpoints', 'webhookEndpoints', 5);
    const ids: string[] = (await root.query('list_webhook_endpoints')).body.webhookEndpoints.map(
      ({ endpointId }: { endpointId: string }) => endpointId,
    );
    await root.run('delete_webhook_endpoint', { endpointId: ids[1] });
    const next = await root.query('list_webhook_endpoints', { paginationOptions: { after: ids[1], limit: '1' } });
    expect(next.body.webhookEndpoints).toMatchObject([{ endpointId: ids[2] }]);
  });

  test('get_mfa_policies, in the order in which they are asked', async () => {
    for (const order of [4, 2, 0, 3, 1]) {
      await root.run('create_mfa_policy', {
        userId: root.userId,
        mfaPolicyName: `mfa ${order}`,
        condition: 'false',
        requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] }],
        order,
      });
    }
    await expectPages('get_mfa_policies', 'mfaPolicies', 5, { userId: root.userId });
    const { mfaPolicies } = (await root.query('get_mfa_policies', { userId: root.userId })).body;
    expect(mfaPolicies.map(({ order }: { order: number }) => order)).toEqual([0, 1, 2, 3, 4]);
  });

  test('list_supported_assets', async () => {
    await expectPages('list_supported_assets', 'assets', 7, { caip2: CHAIN });
  });

  test('list_app_proofs', async () => {
    const account = (index: number) => ({
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: `m/44'/60'/0'/0/${index}`,
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    });
    const wallet = { walletName: 'w', accounts: times(4, account) };
    const { activity } = (await root.submit('create_wallet', wallet, { generateAppProofs: true })).body;
    await expectPages('list_app_proofs', 'appProofs', 5, { activityId: activity.id });
  });
});

test('a list without pages ends at CUSTOS_LIST_MAX and names the option', async () => {
  await using app = await openTestApp('sqlite', { CUSTOS_LIST_MAX: '2' });
  const { root } = app;
  const add = (order: number) =>
    root.run('create_mfa_policy', {
      userId: root.userId,
      mfaPolicyName: `mfa ${order}`,
      condition: 'false',
      requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] }],
      order,
    });
  await add(0);
  await add(1);
  expect((await root.query('get_mfa_policies', { userId: root.userId })).status).toBe(200);
  await add(2);
  const refused = await root.query('get_mfa_policies', { userId: root.userId });
  expect(outcome(refused)).toEqual([400, 'RESULT_TOO_LARGE']);
  expect(refused.body.message).toContain('paginationOptions');
});
