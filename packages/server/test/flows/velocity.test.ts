import { randomUUID } from 'node:crypto';
import { encodeFunctionData, erc20Abi, parseEther, parseUnits, serializeTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { type Answer, createSubOrganization, createUser, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
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
  Rows,
  read,
  reject,
  tagNames,
  times,
  UNPROVEN,
  voters,
} from './fixtures/access.ts';
import { importKey, newWallet } from './fixtures/wallets.ts';

const HOUR = 60 * 60 * 1000;
const TAG = 'ACTIVITY_TYPE_CREATE_USER_TAG';
const SIGN = 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2';
const EXCEEDED = [403, 'VELOCITY_EXCEEDED'];
const DONE = [200, COMPLETED];
const ETH = { caip19: 'eip155:1/slip44:60', decimals: '18' };
const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const USDC = { caip19: `eip155:1/erc20:${TOKEN}`, decimals: '6' };
const TO = `0x${'35'.repeat(20)}` as const;

interface Limit {
  readonly threshold?: string;
  readonly operator?: string;
  readonly window?: object;
  readonly groupBy?: object;
  /** Activity types; everything when absent. */
  readonly types?: readonly string[];
}

const aggregation = (method: 'SUM' | 'COUNT', limit: Limit) => ({
  method: `VELOCITY_CONTROL_AGGREGATION_METHOD_${method}`,
  operator: `VELOCITY_CONTROL_AGGREGATION_OPERATOR_${limit.operator ?? 'LESS_THAN_OR_EQUAL'}`,
  threshold: limit.threshold ?? '1',
  window: limit.window ?? { infinite: {} },
  groupBy: limit.groupBy ?? { organization: {} },
});
const filterOf = ({ types }: Limit) =>
  types === undefined ? {} : { filter: { activity: types.map((activityType) => ({ activityType })) } };
const named = () => ({ name: `control ${randomUUID()}`, identifier: randomUUID() });

/** How often tags may be made, unless told otherwise. */
const countOf = (limit: Limit = {}) => ({
  ...named(),
  dataSource: { activityExecution: filterOf({ types: [TAG], ...limit }) },
  aggregation: aggregation('COUNT', limit),
});
/** How much of assets may leave. */
const sumOf = (definition: readonly object[], limit: Limit = {}, method: 'SUM' | 'COUNT' = 'SUM') => ({
  ...named(),
  dataSource: { chainAssetTransfer: { definition, ...filterOf(limit) } },
  aggregation: aggregation(method, limit),
});
const control = async (root: TestClient, parameters: object): Promise<string> =>
  (await root.run('create_velocity_control', parameters)).velocityControlId;

type Transfer = {
  readonly value?: bigint;
  readonly chainId?: number;
  readonly to?: `0x${string}`;
  readonly data?: `0x${string}`;
};
const transaction = ({ value = 0n, chainId = 1, to = TO, data = '0x' }: Transfer) =>
  serializeTransaction({
    type: 'eip1559',
    chainId,
    to,
    value,
    data,
    gas: 21_000n,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 1n,
  });
const send = (client: TestClient, signWith: string, transfer: Transfer) =>
  client.submit('sign_transaction', {
    signWith,
    type: 'TRANSACTION_TYPE_ETHEREUM',
    unsignedTransaction: transaction(transfer),
  });
const eth = (client: TestClient, signWith: string, amount: string, chainId = 1) =>
  send(client, signWith, { value: parseEther(amount), chainId });
const usdc = (client: TestClient, signWith: string, amount: string, to = TOKEN.toLowerCase() as `0x${string}`) => {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [TO, parseUnits(amount, 6)] });
  return send(client, signWith, { to, data });
};

function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const key = outcome(answer).join(' ');
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe.each(DATABASES)('velocity controls on %s', (database) => {
  let server: TestServer;
  let parent: TestClient;
  let rows: Rows;

  beforeAll(async () => {
    server = await TestServer.start({ database });
    parent = TestClient.root(server.credentials, server.baseUrl);
    rows = await Rows.open(server);
  });
  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const newSpender = async (root: TestClient): Promise<TestClient> => {
    const user = await createUser(root, `spender ${randomUUID()}`);
    await policyFor(root, user);
    return user;
  };

  /** An organization with a user that policies let do everything, and that is not root. */
  async function newOrg(): Promise<{ root: TestClient; user: TestClient }> {
    const root = await createSubOrganization(parent, `Org ${randomUUID()}`);
    return { root, user: await newSpender(root) };
  }

  /** The same with a wallet, and its address. */
  async function newTreasury() {
    const org = await newOrg();
    const { walletId, addresses } = await newWallet(org.root);
    return { ...org, walletId, address: addresses[0] as string };
  }

  describe('records', () => {
    test('a control is shown as it was made, alone and in the list', async () => {
      const { root } = await newOrg();
      const [one, two] = [
        countOf(),
        sumOf([ETH, USDC], { threshold: '2.5', window: { rolling: { duration: '24h' } } }),
      ];
      const ids = [await control(root, one), await control(root, two)];
      const { velocityControls } = (await root.query('list_velocity_controls')).body;
      expect(velocityControls).toMatchObject([
        { ...one, velocityControlId: ids[0], organizationId: root.organizationId },
        { ...two, velocityControlId: ids[1] },
      ]);
      const found = await root.query('get_velocity_control', { velocityControlId: ids[1] });
      expect(found.body.velocityControl).toEqual(velocityControls[1]);
      const { root: stranger } = await newOrg();
      expect((await stranger.query('get_velocity_control', { velocityControlId: ids[0] })).status).toBe(404);
      expect((await stranger.submit('delete_velocity_control', { velocityControlId: ids[0] })).status).toBe(404);
      expect((await root.submit('create_velocity_control', { ...one, name: 'other' })).status).toBe(409);
    });

    test.each<[string, object, string]>([
      ['no source', { dataSource: {} }, 'dataSource'],
      [
        'two sources',
        { dataSource: { activityExecution: {}, chainAssetTransfer: { definition: [ETH] } } },
        'dataSource',
      ],
      ['a sum of activities', { aggregation: aggregation('SUM', {}) }, 'method'],
      ['no window', { aggregation: aggregation('COUNT', { window: {} }) }, 'window'],
      [
        'two windows',
        { aggregation: aggregation('COUNT', { window: { infinite: {}, rolling: { duration: '1h' } } }) },
        'window',
      ],
      [
        'a window without a unit',
        { aggregation: aggregation('COUNT', { window: { rolling: { duration: '60' } } }) },
        'duration',
      ],
      [
        'a window of nothing',
        { aggregation: aggregation('COUNT', { window: { rolling: { duration: '0h' } } }) },
        'duration',
      ],
      [
        'a window beyond a year',
        { aggregation: aggregation('COUNT', { window: { rolling: { duration: '367d' } } }) },
        'duration',
      ],
      ['no group', { aggregation: aggregation('COUNT', { groupBy: {} }) }, 'groupBy'],
      ['two groups', { aggregation: aggregation('COUNT', { groupBy: { user: {}, wallet: {} } }) }, 'groupBy'],
      ['a threshold that is no number', { aggregation: aggregation('COUNT', { threshold: 'many' }) }, 'threshold'],
      ['a negative threshold', { aggregation: aggregation('COUNT', { threshold: '-1' }) }, 'threshold'],
      ['an unknown operator', { aggregation: aggregation('COUNT', { operator: 'NEARLY' }) }, 'operator'],
      [
        'an asset that is none',
        { dataSource: { chainAssetTransfer: { definition: [{ caip19: 'money', decimals: '2' }] } } },
        'caip19',
      ],
      [
        'an activity type that does not exist',
        { dataSource: { activityExecution: filterOf({ types: ['ACTIVITY_TYPE_CREATE_TAGS'] }) } },
        'activityType',
      ],
    ])('%s is refused', async (_what, change, word) => {
      const { root } = await newOrg();
      const answer = await root.submit('create_velocity_control', { ...countOf(), ...change });
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain(word);
      expect((await root.submit('create_velocity_control', countOf())).status).toBe(200);
    });

    test('makes and deletes only who may make policies', async () => {
      const { root } = await newOrg();
      const plain = await createUser(root, 'plain');
      expect((await plain.submit('create_velocity_control', countOf())).status).toBe(403);
      const velocityControlId = await control(root, countOf());
      expect((await plain.submit('delete_velocity_control', { velocityControlId })).status).toBe(403);
      await policyFor(root, plain, { condition: "activity.resource == 'POLICY'" });
      expect((await plain.submit('create_velocity_control', countOf())).status).toBe(200);
      expect((await plain.submit('delete_velocity_control', { velocityControlId })).status).toBe(200);
    });
  });

  describe('counts', () => {
    test('what is beyond the limit is refused with the name of the control, and leaves no trace', async () => {
      const { root, user } = await newOrg();
      const parameters = countOf({ threshold: '2' });
      const velocityControlId = await control(root, parameters);
      for (const name of ['a', 'b']) expect(outcome(await propose(user, name))).toEqual(DONE);
      const refused = await propose(user, 'c');
      expect(outcome(refused)).toEqual(EXCEEDED);
      expect(refused.body.code).toBe(7);
      expect(refused.body.message).toContain(parameters.name);
      expect(refused.body.message).toContain(velocityControlId);
      expect((await tagNames(root)).sort()).toEqual(['a', 'b']);
      expect((await root.query('list_activities', { filterByType: [TAG] })).body.activities).toHaveLength(2);
    });

    test.each([
      ['LESS_THAN', '2', [true, false, false]],
      ['LESS_THAN', '1', [false, false, false]],
      ['LESS_THAN', '2.5', [true, true, false]],
      ['LESS_THAN_OR_EQUAL', '2', [true, true, false]],
      ['LESS_THAN_OR_EQUAL', '0', [false, false, false]],
      ['EQUAL', '1', [true, false, false]],
      ['EQUAL', '2', [false, false, false]],
      ['GREATER_THAN_OR_EQUAL', '1', [true, true, true]],
      ['GREATER_THAN_OR_EQUAL', '2', [false, false, false]],
      ['GREATER_THAN', '0', [true, true, true]],
      ['GREATER_THAN', '1', [false, false, false]],
    ])('%s %s', async (operator, threshold, expected) => {
      const { root, user } = await newOrg();
      await control(root, countOf({ operator, threshold }));
      const answers: boolean[] = [];
      for (const _ of expected) answers.push((await propose(user)).status === 200);
      expect(answers).toEqual(expected);
    });

    test('the same bytes count once', async () => {
      const { root, user } = await newOrg();
      await control(root, countOf({ threshold: '2' }));
      const body = user.submitBody('create_user_tag', { userTagName: 'Once', userIds: [] });
      for (const _ of times(3, () => 0)) {
        expect(outcome(await user.sendStamped(path('create_user_tag'), body))).toEqual(DONE);
      }
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
    });

    test('what is denied, invalid or fails does not count', async () => {
      const { root, user } = await newOrg();
      const plain = await createUser(root, 'plain');
      await control(root, countOf({ threshold: '2' }));
      expect(outcome(await propose(user, 'Taken'))).toEqual(DONE);
      expect((await propose(plain)).status).toBe(403);
      expect((await propose(user, 'Taken')).status).toBe(409);
      expect((await user.submit('create_user_tag', { userTagName: 'x', userIds: [randomUUID()] })).status).toBe(404);
      expect((await user.submit('create_user_tag', {})).status).toBe(400);
      expect(outcome(await propose(user))).toEqual(DONE);
      // Nor does what the limit itself refused.
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
      const counted = await rows.run('SELECT id FROM velocity_entry WHERE organization_id = ?', [root.organizationId]);
      expect(counted).toHaveLength(2);
    });

    test('only what the filter names, or everything without one', async () => {
      const { root, user } = await newOrg();
      await control(root, countOf({ types: [TAG, 'ACTIVITY_TYPE_UPDATE_USER_NAME'], threshold: '2' }));
      const rename = () => user.submit('update_user_name', { userId: user.userId, userName: randomUUID() });
      const email = () =>
        user.submit('update_user_email', { userId: user.userId, userEmail: `${randomUUID()}@example.com` });
      for (const call of [email, email, email]) expect(outcome(await call())).toEqual(DONE);
      expect(outcome(await rename())).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(DONE);
      for (const call of [rename, () => propose(user)]) expect(outcome(await call())).toEqual(EXCEEDED);
      expect(outcome(await email())).toEqual(DONE);
      const parameters = countOf();
      await control(root, { ...parameters, dataSource: { activityExecution: {} } });
      expect(outcome(await email())).toEqual(DONE);
      expect(outcome(await email())).toEqual(EXCEEDED);
    });

    test('a filter means every version of the operation', async () => {
      const { root, user } = await newOrg();
      const { privateKeyId } = await importKey(root, 'SECP256K1', '11'.repeat(32), ['ETHEREUM']);
      await control(root, countOf({ types: [SIGN] }));
      const unsignedTransaction = transaction({ value: 1n });
      const older = { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION' };
      const parameters = { privateKeyId, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction };
      expect(outcome(await send(user, privateKeyId, { value: 1n }))).toEqual(DONE);
      expect(outcome(await send(user, privateKeyId, { value: 1n }))).toEqual(EXCEEDED);
      expect(outcome(await user.submit('sign_transaction', parameters, older))).toEqual(EXCEEDED);
    });

    test('every control has to be satisfied, and the one that is not is named', async () => {
      const { root, user } = await newOrg();
      const [wide, narrow] = [countOf({ threshold: '9' }), countOf({ threshold: '1' })];
      for (const parameters of [wide, narrow, countOf({ threshold: '8' })]) await control(root, parameters);
      expect(outcome(await propose(user))).toEqual(DONE);
      const refused = await propose(user);
      expect(outcome(refused)).toEqual(EXCEEDED);
      expect(refused.body.message).toContain(narrow.name);
      expect(refused.body.message).not.toContain(wide.name);
      // The refusal counted against none of them.
      const counted = await rows.run('SELECT id FROM velocity_entry WHERE organization_id = ?', [root.organizationId]);
      expect(counted).toHaveLength(3);
    });

    test('a control sees only its own organization, and only what came after it', async () => {
      const [one, two] = [await newOrg(), await newOrg()];
      expect(outcome(await propose(one.user))).toEqual(DONE);
      await control(one.root, countOf());
      await control(two.root, countOf());
      expect(outcome(await propose(one.user))).toEqual(DONE);
      expect(outcome(await propose(one.user))).toEqual(EXCEEDED);
      expect(outcome(await propose(two.user))).toEqual(DONE);
      // A parent's does not reach down.
      const parameters = countOf({ threshold: '0' });
      const velocityControlId = await control(parent, parameters);
      const { root, user } = await newOrg();
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(root))).toEqual(DONE);
      await parent.run('delete_velocity_control', { velocityControlId });
    });

    test('a deleted control limits nothing, and one made anew starts from nothing', async () => {
      const { root, user } = await newOrg();
      const parameters = countOf();
      const velocityControlId = await control(root, parameters);
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
      expect(await root.run('delete_velocity_control', { velocityControlId })).toEqual({ velocityControlId });
      expect((await root.query('get_velocity_control', { velocityControlId })).status).toBe(404);
      expect((await root.submit('delete_velocity_control', { velocityControlId })).status).toBe(404);
      for (const _ of times(2, () => 0)) expect(outcome(await propose(user))).toEqual(DONE);
      await control(root, parameters);
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
    });

    test('by user: each has its own', async () => {
      const { root, user } = await newOrg();
      const other = await newSpender(root);
      await control(root, countOf({ groupBy: { user: {} } }));
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
      expect(outcome(await propose(other))).toEqual(DONE);
      expect(outcome(await propose(other))).toEqual(EXCEEDED);
    });

    test('by organization: all share it', async () => {
      const { root, user } = await newOrg();
      const other = await newSpender(root);
      await control(root, countOf({ threshold: '2' }));
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(other))).toEqual(DONE);
      for (const client of [user, other]) expect(outcome(await propose(client))).toEqual(EXCEEDED);
    });

    test('that another process wrote with its clock ahead are counted, and so is what follows', async () => {
      const { root, user } = await newOrg();
      await control(root, countOf({ threshold: '3', window: { rolling: { duration: '1h' } } }));
      expect(outcome(await propose(user))).toEqual(DONE);
      await rows.run(
        'UPDATE velocity_entry SET id = ?, created_at_ms = created_at_ms + 2000 WHERE organization_id = ?',
        ['ffffffff-ffff-7fff-bfff-ffffffffffff', root.organizationId],
      );
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
    });
  });

  describe('amounts', () => {
    test('of ether, in its own unit', async () => {
      const { root, user, address } = await newTreasury();
      await control(root, sumOf([ETH], { threshold: '1.5' }));
      expect(outcome(await eth(user, address, '1'))).toEqual(DONE);
      expect(outcome(await eth(user, address, '0.500000000000000001'))).toEqual(EXCEEDED);
      expect(outcome(await eth(user, address, '0.5'))).toEqual(DONE);
      expect(outcome(await eth(user, address, '0.000000000000000001'))).toEqual(EXCEEDED);
      // On another chain it is another coin, and what moves none is not limited.
      expect(outcome(await eth(user, address, '100', 137))).toEqual(DONE);
      expect(outcome(await eth(user, address, '0'))).toEqual(DONE);
      expect(outcome(await usdc(user, address, '100'))).toEqual(DONE);
    });

    test('of a transaction that is good on any chain count on each', async () => {
      const { root, user, address } = await newTreasury();
      await control(root, sumOf([ETH]));
      const unsigned = serializeTransaction({
        type: 'legacy',
        to: TO,
        value: parseEther('1.1'),
        gas: 1n,
        gasPrice: 1n,
      });
      const parameters = { signWith: address, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: unsigned };
      expect(outcome(await user.submit('sign_transaction', parameters))).toEqual(EXCEEDED);
      expect(outcome(await eth(user, address, '1'))).toEqual(DONE);
    });

    test('of a token, by its decimals, in any spelling of its address', async () => {
      const { root, user, address } = await newTreasury();
      await control(root, sumOf([USDC], { threshold: '100.25' }));
      expect(outcome(await usdc(user, address, '100'))).toEqual(DONE);
      expect(outcome(await usdc(user, address, '0.250001', TOKEN))).toEqual(EXCEEDED);
      expect(outcome(await usdc(user, address, '0.25', TOKEN))).toEqual(DONE);
      expect(outcome(await usdc(user, address, '0.000001'))).toEqual(EXCEEDED);
      // Another token is another asset, and ether none of them.
      expect(outcome(await usdc(user, address, '500', `0x${'77'.repeat(20)}`))).toEqual(DONE);
      expect(outcome(await eth(user, address, '5'))).toEqual(DONE);
    });

    test('of several assets together', async () => {
      const { root, user, address } = await newTreasury();
      await control(root, sumOf([ETH, USDC], { threshold: '10' }));
      expect(outcome(await usdc(user, address, '7.5'))).toEqual(DONE);
      expect(outcome(await eth(user, address, '2.6'))).toEqual(EXCEEDED);
      expect(outcome(await eth(user, address, '2.5'))).toEqual(DONE);
      expect(outcome(await usdc(user, address, '0.000001'))).toEqual(EXCEEDED);
    });

    test('beyond any number of the machine', async () => {
      const { root, user, address } = await newTreasury();
      await control(root, sumOf([ETH], { threshold: '1' }));
      const huge = await send(user, address, { value: 2n ** 256n - 1n });
      expect(outcome(huge)).toEqual(EXCEEDED);
      expect(outcome(await eth(user, address, '1'))).toEqual(DONE);
    });

    test('one that is too large is refused and a smaller one passes after it', async () => {
      const { root, user, address } = await newTreasury();
      await control(root, sumOf([ETH], { threshold: '1', operator: 'LESS_THAN' }));
      expect(outcome(await eth(user, address, '1'))).toEqual(EXCEEDED);
      expect(outcome(await eth(user, address, '0.999999999999999999'))).toEqual(DONE);
      expect(outcome(await eth(user, address, '0.000000000000000001'))).toEqual(EXCEEDED);
    });

    test('counted instead of summed: how often an asset moves', async () => {
      const { root, user, address } = await newTreasury();
      await control(root, sumOf([USDC], { threshold: '2' }, 'COUNT'));
      for (const amount of ['1000000', '0.000001']) expect(outcome(await usdc(user, address, amount))).toEqual(DONE);
      expect(outcome(await usdc(user, address, '1'))).toEqual(EXCEEDED);
      expect(outcome(await eth(user, address, '1'))).toEqual(DONE);
    });

    test('by wallet: each has its own', async () => {
      const { root, user, address } = await newTreasury();
      const other = (await newWallet(root)).addresses[0] as string;
      await control(root, sumOf([ETH], { groupBy: { wallet: {} } }));
      expect(outcome(await eth(user, address, '1'))).toEqual(DONE);
      expect(outcome(await eth(user, address, '0.1'))).toEqual(EXCEEDED);
      expect(outcome(await eth(user, other, '1'))).toEqual(DONE);
      expect(outcome(await eth(user, other, '0.1'))).toEqual(EXCEEDED);
    });

    test('that are only broadcast later do not count at signing', async () => {
      const { root, user, address } = await newTreasury();
      const parameters = sumOf([ETH]);
      const submission = { chainAssetTransfer: { definition: [ETH], phase: { submission: {} } } };
      await control(root, { ...parameters, dataSource: submission });
      expect(outcome(await eth(user, address, '5'))).toEqual(DONE);
      const signature = { chainAssetTransfer: { definition: [ETH], phase: { signature: {} } } };
      await control(root, { ...sumOf([ETH]), dataSource: signature });
      expect(outcome(await eth(user, address, '5'))).toEqual(EXCEEDED);
    });
  });

  describe('the root quorum', () => {
    test('passes, and what it does counts', async () => {
      const { root, user } = await newOrg();
      await control(root, countOf({ threshold: '2' }));
      for (const _ of times(3, () => 0)) expect(outcome(await propose(root))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
      expect(outcome(await propose(root))).toEqual(DONE);
    });

    test('of several passes with its last vote', async () => {
      const { root, user } = await newOrg();
      const second = await createUser(root, 'second');
      await control(root, countOf());
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user))).toEqual(EXCEEDED);
      const { fingerprint } = (await propose(root)).body.activity;
      expect(outcome(await approve(second, fingerprint))).toEqual(DONE);
    });
  });

  describe('consensus', () => {
    /** Two users who must agree, neither of them root. */
    async function twoOfTwo() {
      const root = await createSubOrganization(parent, `Org ${randomUUID()}`);
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
      await rows.run('DELETE FROM velocity_entry WHERE organization_id = ?', [root.organizationId]);
      // The name is taken by the time of the vote, without the control having seen it.
      const { userTags } = (await root.query('list_user_tags')).body;
      await root.run('update_user_tag', {
        userTagId: userTags[0].tagId,
        newUserTagName: 'Same',
        addUserIds: [],
        removeUserIds: [],
      });
      expect(outcome(await approve(b, first.fingerprint))).toEqual([200, FAILED]);
      expect(await rows.run('SELECT id FROM velocity_entry WHERE organization_id = ?', [root.organizationId])).toEqual(
        [],
      );
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
      const counted = await rows.run('SELECT id FROM velocity_entry WHERE organization_id = ?', [root.organizationId]);
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
