import { randomUUID } from 'node:crypto';
import { encodeFunctionData, type Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { Receiver } from '../../harness/bundles.ts';
import { createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  ALLOWED,
  allow,
  approve,
  DENIED,
  denialOf,
  isUser,
  newOrganization,
  outcome,
  policy,
  rename,
  WAITS,
} from '../fixtures/policy-flows.ts';
import { ethereum, newWallet } from '../fixtures/wallets.ts';
import { ethereumTransaction, FRIEND, openPolicies } from './support.ts';

const TOKEN = `0x${'ab'.repeat(20)}` as const;

const ABI = [
  {
    type: 'function',
    name: 'transfer',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'dst', type: 'address' },
      { name: 'wad', type: 'uint256' },
    ],
    outputs: [{ name: '', type: 'bool' }],
  },
  {
    type: 'function',
    name: 'approve',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'guy', type: 'address' },
      { name: 'wad', type: 'uint256' },
    ],
    outputs: [{ name: '', type: 'bool' }],
  },
] as const;

const callData = (functionName: 'transfer' | 'approve', amount: bigint): Hex =>
  encodeFunctionData({ abi: ABI, functionName, args: [FRIEND, amount] });
describe.each(databasesOf(import.meta.url))('policies on %s', (database) => {
  const suite = openPolicies(database);

  describe('take effect at once', () => {
    test('when created, changed and deleted', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      expect(outcome(await rename(alice))).toEqual(DENIED);
      const condition = "activity.kind == 'UPDATE_USER_NAME'";
      const policyId = await allow(root, { condition, consensus: isUser(alice) });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      await root.run('update_policy', { policyId, policyCondition: "activity.kind == 'CREATE_WALLET'" });
      expect(outcome(await rename(alice))).toEqual(DENIED);
      await root.run('update_policy', { policyId, policyCondition: condition });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      await root.run('update_policy', { policyId, policyEffect: 'EFFECT_DENY' });
      expect(denialOf(await rename(alice)).message).toContain(policyId);
      await root.run('update_policy', { policyId, policyEffect: 'EFFECT_ALLOW' });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      await root.run('delete_policy', { policyId });
      expect(outcome(await rename(alice))).toEqual(DENIED);
    });

    test('more text than may be compiled for one request is refused', async () => {
      const { root } = await newOrganization(suite.parent);
      const long = `wallet.id == '${'x'.repeat(16_000)}'`;
      const policies = Array.from({ length: 9 }, () => policy('ALLOW', { condition: long }));
      const refused = await root.submit('create_policies', { policies });
      expect(outcome(refused)).toEqual([400, 'REQUEST_INVALID']);
      expect(refused.body.message).toContain('131072 characters of expressions');
      await root.run('create_policies', { policies: policies.slice(0, 8) });
    });

    test('several at once, all or nothing', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const taken = policy('ALLOW', { condition: "activity.resource == 'WALLET'" });
      await root.run('create_policy', taken);
      const policies = [policy('ALLOW', { condition: "activity.resource == 'USER'" }), taken];
      const refused = await root.submit('create_policies', { policies });
      expect(outcome(refused)).toEqual([400, 'POLICY_LABEL_NOT_UNIQUE']);
      expect(refused.body.message).toContain('policy label must be unique');
      expect(outcome(await rename(alice))).toEqual(DENIED);
      const { policyIds } = await root.run('create_policies', {
        policies: [policies[0], policy('DENY', { condition: "activity.kind == 'UPDATE_USER_EMAIL'" })],
      });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      const absent = randomUUID();
      const half = await root.submit('delete_policies', { policyIds: [policyIds[0], absent] });
      expect(outcome(half)).toEqual([404, 'RESOURCE_NOT_FOUND']);
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      await root.run('delete_policies', { policyIds });
      expect(outcome(await rename(alice))).toEqual(DENIED);
      expect((await root.query('list_policies')).body.policies).toHaveLength(1);
    });

    test('only in their own organization', async () => {
      const one = await newOrganization(suite.parent, 'alice');
      const other = await newOrganization(suite.parent, 'bob');
      const plain = await createUser(suite.parent, `Plain ${randomUUID()}`);
      const policyId = await allow(one.root);
      expect(outcome(await rename(one.alice))).toEqual(ALLOWED);
      expect(outcome(await rename(other.bob))).toEqual(DENIED);
      expect(outcome(await rename(plain))).toEqual(DENIED);
      // Nor does anybody reach it from there.
      for (const [client, status] of [
        [other.root, 404],
        [one.alice, 200],
      ] as const) {
        expect((await client.query('get_policy', { policyId })).status).toBe(status);
      }
      for (const [operation, parameters] of [
        ['update_policy', { policyId, policyEffect: 'EFFECT_DENY' }],
        ['delete_policy', { policyId }],
        ['delete_policies', { policyIds: [policyId] }],
      ] as const) {
        expect(outcome(await other.root.submit(operation, parameters)), operation).toEqual([404, 'RESOURCE_NOT_FOUND']);
      }
      expect(outcome(await rename(one.alice))).toEqual(ALLOWED);
    });

    test('a policy of the parent says nothing about its child, and the other way round', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const condition = "activity.kind == 'UPDATE_USER_NAME'";
      const plain = await createUser(suite.parent, `Plain ${randomUUID()}`);
      const above = await allow(suite.parent, { condition, consensus: `${isUser(alice)} || ${isUser(plain)}` });
      expect(outcome(await rename(plain))).toEqual(ALLOWED);
      expect(outcome(await rename(alice))).toEqual(DENIED);
      await suite.parent.run('delete_policy', { policyId: above });
      await allow(root, { condition });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      expect(outcome(await rename(plain))).toEqual(DENIED);
    });

    test('a name is taken once', async () => {
      const { root } = await newOrganization(suite.parent);
      await allow(root, { name: 'Taken' });
      const policyId = await allow(root, { name: 'Free' });
      for (const answer of [
        await root.submit('create_policy', policy('DENY', { name: 'Taken' })),
        await root.submit('update_policy', { policyId, policyName: 'Taken' }),
      ]) {
        expect(outcome(answer)).toEqual([400, 'POLICY_LABEL_NOT_UNIQUE']);
        expect(answer.body.message).toContain('policy label must be unique');
      }
      await root.run('update_policy', { policyId, policyName: 'Free' });
      expect((await root.query('get_policy', { policyId })).body.policy.policyName).toBe('Free');
    });

    test('not before the last vote, where their making needs votes', async () => {
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, bob.userId] });
      const pending = await root.submit('create_policy', policy('ALLOW'));
      expect(outcome(pending)).toEqual(WAITS);
      expect(outcome(await rename(alice))).toEqual(DENIED);
      const done = await approve(bob, pending.body.activity.fingerprint);
      expect(outcome(done)).toEqual(ALLOWED);
      expect(done.body.activity.result.createPolicyResult).toMatchObject({ warnings: [] });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
    });

    test('a policy lets a user of the parent make children', async () => {
      const plain = await createUser(suite.parent, `Plain ${randomUUID()}`);
      const create = () => createSubOrganization(plain, `Org ${randomUUID()}`);
      await expect(create()).rejects.toThrow('403');
      const policyId = await allow(suite.parent, {
        condition: "activity.kind == 'CREATE_SUB_ORGANIZATION'",
        consensus: isUser(plain),
      });
      expect((await create()).organizationId).not.toBe(suite.parent.organizationId);
      await suite.parent.run('delete_policy', { policyId });
      await expect(create()).rejects.toThrow('403');
    });

    test('older updates too', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const policyId = await allow(root, { condition: 'false' });
      const answer = await root.submit(
        'update_policy',
        { policyId, policyCondition: 'true' },
        { type: 'ACTIVITY_TYPE_UPDATE_POLICY' },
      );
      expect(answer.body.activity.result).toMatchObject({ updatePolicyResult: { policyId } });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
    });
  });

  describe('one user may call one function of one contract up to an amount', () => {
    test('and nothing else', async () => {
      const { root, alice, bob } = await newOrganization(suite.parent, 'alice', 'bob');
      const { walletId, addresses } = await newWallet(root, [ethereum(0), ethereum(1)]);
      const other = await newWallet(root);
      const { smartContractInterfaceId } = await root.run('create_smart_contract_interface', {
        smartContractAddress: TOKEN,
        smartContractInterface: JSON.stringify(ABI),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
        label: 'Token',
      });
      await allow(root, {
        consensus: isUser(alice),
        condition: [
          "activity.kind == 'SIGN_TRANSACTION'",
          `wallet.id == '${walletId}'`,
          'eth.tx.chain_id == 1',
          `eth.tx.to == '${TOKEN.toUpperCase().replace('0X', '0x')}'`,
          "eth.tx.function_name == 'transfer'",
          "eth.tx.contract_call_args['wad'] <= 1000",
          'eth.tx.value == 0',
        ].join(' && '),
      });
      const sign = (client: TestClient, unsignedTransaction: string, signWith = addresses[0]) =>
        client.submit('sign_transaction', { signWith, unsignedTransaction, type: 'TRANSACTION_TYPE_ETHEREUM' });
      const good = ethereumTransaction(TOKEN, callData('transfer', 1000n));

      expect(outcome(await sign(alice, good))).toEqual(ALLOWED);
      expect(outcome(await sign(alice, good, addresses[1]))).toEqual(ALLOWED);
      const refused: readonly [string, TestClient, string, string | undefined][] = [
        ['another user', bob, good, undefined],
        ['another wallet', alice, good, other.addresses[0]],
        ['a larger amount', alice, ethereumTransaction(TOKEN, callData('transfer', 1001n)), undefined],
        ['the largest amount', alice, ethereumTransaction(TOKEN, callData('transfer', 2n ** 256n - 1n)), undefined],
        ['another function', alice, ethereumTransaction(TOKEN, callData('approve', 1n)), undefined],
        ['a function of no interface', alice, ethereumTransaction(TOKEN, '0x12345678'), undefined],
        ['no function', alice, ethereumTransaction(TOKEN, '0x'), undefined],
        [
          'arguments that are cut',
          alice,
          ethereumTransaction(TOKEN, callData('transfer', 1n).slice(0, -2) as Hex),
          undefined,
        ],
        ['another contract', alice, ethereumTransaction(FRIEND, callData('transfer', 1n)), undefined],
        ['another chain', alice, ethereumTransaction(TOKEN, callData('transfer', 1n), { chainId: 137 }), undefined],
        ['ether on top', alice, ethereumTransaction(TOKEN, callData('transfer', 1n), { value: 1n }), undefined],
      ];
      for (const [name, client, transaction, signWith] of refused) {
        expect(outcome(await sign(client, transaction, signWith)), name).toEqual(DENIED);
      }
      // Nor the same bytes as a raw payload, nor the key itself.
      const raw = await alice.submit('sign_raw_payload', {
        signWith: addresses[0],
        payload: good,
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      });
      expect(outcome(raw)).toEqual(DENIED);
      const exported = await alice.submit('export_wallet', { walletId, targetPublicKey: new Receiver().publicKey });
      expect(outcome(exported)).toEqual(DENIED);

      // Without the interface the policy can no longer tell what is called.
      await root.run('delete_smart_contract_interface', { smartContractInterfaceId });
      expect(outcome(await sign(alice, good))).toEqual(DENIED);
      expect(outcome(await sign(root, good))).toEqual(ALLOWED);
    });

    test('an interface of the parent is not seen by its child', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const { addresses } = await newWallet(root);
      const upload = {
        smartContractAddress: `0x${'1d'.repeat(20)}`,
        smartContractInterface: JSON.stringify(ABI),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
        label: 'Token',
      };
      await suite.parent.run('create_smart_contract_interface', { ...upload, label: `Token ${randomUUID()}` });
      await allow(root, { condition: "eth.tx.function_name == 'transfer'" });
      const sign = () =>
        alice.submit('sign_transaction', {
          signWith: addresses[0],
          unsignedTransaction: ethereumTransaction(upload.smartContractAddress as Hex, callData('transfer', 1n)),
          type: 'TRANSACTION_TYPE_ETHEREUM',
        });
      expect(outcome(await sign())).toEqual(DENIED);
      await root.run('create_smart_contract_interface', upload);
      expect(outcome(await sign())).toEqual(ALLOWED);
    });
  });
});
