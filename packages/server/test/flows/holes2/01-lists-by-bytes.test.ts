import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../src/lib/limits.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type Answer, createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { Rows } from '../fixtures/access.ts';

const MIB = 1024 * 1024;
const SIGN = '/public/v1/submit/sign_raw_payload';

const refusal = ({ status, body }: Answer) => [status, body.errorCode];
const fittingLimit = ({ body }: Answer): string => /a limit of ([0-9]+) fits$/.exec(body.message)?.[1] ?? body.message;

/** What makes it large is a parameter that nobody knows. */
const largeBody = (client: TestClient, signWith: string, bytes: number): string => {
  const payload = {
    payload: 'ab'.repeat(32),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  };
  return client.submitBody('sign_raw_payload', { signWith, ...payload, unknown: '"'.repeat(bytes / 2) });
};

async function newAddress(client: TestClient): Promise<string> {
  const account = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0" };
  const accounts = [{ ...account, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }];
  return (await client.run('create_wallet', { walletName: 'w', accounts })).addresses[0];
}

describe.each(DATABASES)('lists of large rows on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let rows: Rows;

  beforeAll(async () => {
    app = await openTestApp(database);
    root = await createSubOrganization(app.root, 'large');
    rows = await Rows.open(app.app.config);
    const address = await newAddress(root);
    // Each is shown with the parameters and with the signed body.
    for (let index = 0; index < 6; index += 1) {
      const answer = await root.sendStamped(SIGN, largeBody(root, address, MIB - 1000));
      expect(answer.status, JSON.stringify(answer.body).slice(0, 300)).toBe(200);
    }
  });
  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await app?.[Symbol.asyncDispose]();
  });

  const page = (paginationOptions?: Record<string, string>): Promise<Answer> =>
    root.query('list_activities', {
      filterByType: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'],
      ...(paginationOptions && { paginationOptions }),
    });

  test('a page above the budget names a limit that fits, and pages of that limit list everything', async () => {
    for (const tooLarge of [await page(), await page({}), await page({ limit: '6' })]) {
      expect(refusal(tooLarge)).toEqual([400, 'RESULT_TOO_LARGE']);
      expect(fittingLimit(tooLarge)).toBe('2');
    }
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const { status, body } = await page({ limit: '2', after });
      expect(status).toBe(200);
      expect(body.activities).toHaveLength(2);
      ids.push(...body.activities.map(({ id }: { id: string }) => id));
      after = body.pageInfo.endCursor;
      if (!body.pageInfo.hasNextPage) break;
    }
    expect(new Set(ids).size).toBe(6);
    const before = await page({ limit: '2', before: ids[4] ?? '' });
    expect(before.body.activities.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2, 4));
    expect(refusal(await page({ limit: '4', before: ids[5] ?? '' }))).toEqual([400, 'RESULT_TOO_LARGE']);
  });

  test('a row that is larger than the budget is answered alone', async () => {
    const [stored] = (await page({ limit: '1' })).body.activities;
    const result = JSON.stringify({ x: 'y'.repeat(LIMITS.pageBytes) });
    const [row] = await rows.run('SELECT result FROM activity WHERE id = ?', [stored.id]);
    await rows.run('UPDATE activity SET result = ? WHERE id = ?', [result, stored.id]);
    const two = await page({ limit: '2' });
    expect(refusal(two)).toEqual([400, 'RESULT_TOO_LARGE']);
    expect(fittingLimit(two)).toBe('1');
    const alone = await page({ limit: '1' });
    expect(alone.status).toBe(200);
    expect(alone.body.pageInfo).toMatchObject({ hasNextPage: true, endCursor: stored.id });
    await rows.run('UPDATE activity SET result = ? WHERE id = ?', [String(row?.result), stored.id]);
  });

  test('lists of small rows are what they were, and a list of nothing is one', async () => {
    await createUser(root, 'somebody');
    const users = await root.query('list_users');
    expect(users.body.users).toHaveLength(2);
    const empty = await root.query('list_policies');
    expect(empty.body).toMatchObject({ policies: [] });
  });

  test('policies and contract interfaces have the same budget, and the organization is still shown', async () => {
    const abi = JSON.stringify([{ type: 'function', name: 'f', inputs: [], outputs: [] }]).padEnd(350_000);
    const contract = (index: number) => ({
      label: `c${index}`,
      smartContractAddress: `0x${String(index).padStart(40, '0')}`,
      smartContractInterface: abi,
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    });
    const first = await root.submit('create_smart_contract_interface', contract(0));
    expect(first.status, JSON.stringify(first.body).slice(0, 300)).toBe(200);
    for (let index = 1; index < 13; index += 1) {
      await root.run('create_smart_contract_interface', contract(index));
    }
    const all = await root.query('list_smart_contract_interfaces');
    expect(refusal(all)).toEqual([400, 'RESULT_TOO_LARGE']);
    expect(fittingLimit(all)).toBe('11');
    const some = await root.query('list_smart_contract_interfaces', { paginationOptions: { limit: '11' } });
    expect(some.body.smartContractInterfaces).toHaveLength(11);
    const { organizationData } = (await root.query('get_organization')).body;
    expect(organizationData.smartContractInterfaceReferences).toHaveLength(13);
  });
});

test('an activity whose votes would have too many bytes takes short approvals only', async () => {
  await using app = await openTestApp('sqlite');
  const { root } = app;
  const address = await newAddress(root);
  const members: TestClient[] = [];
  for (let index = 0; index < 6; index += 1) members.push(await createUser(root, `member ${index}`));
  await root.run('update_root_quorum', { threshold: 7, userIds: [root, ...members].map(({ userId }) => userId) });
  const body = largeBody(root, address, MIB - 1000);
  const { activity } = (await root.sendStamped(SIGN, body)).body;
  const [first, second, third, fourth, ...others] = members as [TestClient, TestClient, TestClient, TestClient];
  for (const member of [first, second, third]) expect((await member.sendStamped(SIGN, body)).status).toBe(200);
  const refused = await fourth.sendStamped(SIGN, body);
  expect(refusal(refused)).toEqual([400, 'FAILED_PRECONDITION']);
  expect(refused.body.message).toContain('approve it with approve_activity');
  const { fingerprint } = activity;
  let last: Answer | undefined;
  for (const member of [fourth, ...others]) last = await member.submit('approve_activity', { fingerprint });
  expect(last?.body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
  expect(last?.body.activity.votes.map((vote: { message: string }) => vote.message === body)).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
