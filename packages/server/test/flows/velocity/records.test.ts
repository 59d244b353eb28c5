import { encodeFunctionData, erc20Abi, parseEther, parseUnits, serializeTransaction } from 'viem';
import { describe, expect, test } from 'vitest';
import { createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { approve, outcome, policyFor, propose, times } from '../fixtures/access.ts';
import { newWallet } from '../fixtures/wallets.ts';
import {
  aggregation,
  control,
  countOf,
  DONE,
  ETH,
  EXCEEDED,
  eth,
  filterOf,
  openVelocity,
  send,
  sumOf,
  TO,
} from './support.ts';

const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

const USDC = { caip19: `eip155:1/erc20:${TOKEN}`, decimals: '6' };

const usdc = (client: TestClient, signWith: string, amount: string, to = TOKEN.toLowerCase() as `0x${string}`) => {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [TO, parseUnits(amount, 6)] });
  return send(client, signWith, { to, data });
};
describe.each(databasesOf(import.meta.url))('velocity controls on %s', (database) => {
  const suite = openVelocity(database);
  const { newOrg, newTreasury } = suite;

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
});
