import { randomUUID } from 'node:crypto';
import { encodeFunctionData, type Hex, serializeTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { encryptTo, newSecretTargets, Receiver } from '../harness/bundles.ts';
import { createSubOrganization, createUser, newKeyPair, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import {
  ALLOWED,
  allow,
  approve,
  ClockClient,
  countActivities,
  DENIED,
  denialOf,
  deny,
  evaluationsOf,
  flags,
  invalidCode,
  isUser,
  newOrganization,
  outcome,
  outcomesOf,
  path,
  policy,
  REJECTED,
  read,
  reject,
  rename,
  setClock,
  WAITS,
} from './fixtures/policy-flows.ts';
import { ethereum, newWallet } from './fixtures/wallets.ts';

const apiKeyFor = (userId: string) => ({
  userId,
  apiKeys: [{ apiKeyName: randomUUID(), publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
});

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
const FRIEND = `0x${'cd'.repeat(20)}` as const;

const callData = (functionName: 'transfer' | 'approve', amount: bigint): Hex =>
  encodeFunctionData({ abi: ABI, functionName, args: [FRIEND, amount] });
const ethereumTransaction = (to: Hex, data: Hex, extra = {}) =>
  serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    to,
    data,
    gas: 60_000n,
    nonce: 1,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 1n,
    ...extra,
  });

/** EIP-712 typed data that gives away an amount. */
const permit = (value: string) =>
  JSON.stringify({
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'chainId', type: 'uint256' },
      ],
      Permit: [
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    domain: { name: 'Token', chainId: 1 },
    message: { spender: FRIEND, value },
  });

describe.each(DATABASES)('policies on %s', (database) => {
  let server: TestServer;
  let parent: TestClient;

  beforeAll(async () => {
    server = await TestServer.start({ database });
    parent = TestClient.root(server.credentials, server.baseUrl);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  describe('take effect at once', () => {
    test('when created, changed and deleted', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
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
      const { root } = await newOrganization(parent);
      const long = `wallet.id == '${'x'.repeat(16_000)}'`;
      const policies = Array.from({ length: 9 }, () => policy('ALLOW', { condition: long }));
      const refused = await root.submit('create_policies', { policies });
      expect(outcome(refused)).toEqual([400, 'REQUEST_INVALID']);
      expect(refused.body.message).toContain('131072 characters of expressions');
      await root.run('create_policies', { policies: policies.slice(0, 8) });
    });

    test('several at once, all or nothing', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
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
      const one = await newOrganization(parent, 'alice');
      const other = await newOrganization(parent, 'bob');
      const plain = await createUser(parent, `Plain ${randomUUID()}`);
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
      const { root, alice } = await newOrganization(parent, 'alice');
      const condition = "activity.kind == 'UPDATE_USER_NAME'";
      const plain = await createUser(parent, `Plain ${randomUUID()}`);
      const above = await allow(parent, { condition, consensus: `${isUser(alice)} || ${isUser(plain)}` });
      expect(outcome(await rename(plain))).toEqual(ALLOWED);
      expect(outcome(await rename(alice))).toEqual(DENIED);
      await parent.run('delete_policy', { policyId: above });
      await allow(root, { condition });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      expect(outcome(await rename(plain))).toEqual(DENIED);
    });

    test('a name is taken once', async () => {
      const { root } = await newOrganization(parent);
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
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
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
      const plain = await createUser(parent, `Plain ${randomUUID()}`);
      const create = () => createSubOrganization(plain, `Org ${randomUUID()}`);
      await expect(create()).rejects.toThrow('403');
      const policyId = await allow(parent, {
        condition: "activity.kind == 'CREATE_SUB_ORGANIZATION'",
        consensus: isUser(plain),
      });
      expect((await create()).organizationId).not.toBe(parent.organizationId);
      await parent.run('delete_policy', { policyId });
      await expect(create()).rejects.toThrow('403');
    });

    test('older updates too', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
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

  describe('expressions', () => {
    test.each([
      ['condition', "activity.kind === 'X'", /^invalid policy condition: .*column 17/],
      ['condition', "activity.kind == 'X' && eth.tx.recipient == 'a'", /^invalid policy condition: .*column 32/],
      ['condition', 'approvers.count() > 1', /^invalid policy condition: .*column 1\b/],
      ['consensus', 'approvers.count()', /^invalid policy consensus: .*column 1\b/],
      ['consensus', "activity.kind == 'X'", /^invalid policy consensus: .*column 1\b/],
      ['time', "CronSpan('0 9 * * 7', '8h', 'UTC')", /^invalid policy time: .*column \d+/],
    ] as const)('a %s that reads %s is refused, and the column is named', async (field, text, message) => {
      const { root } = await newOrganization(parent);
      const policyId = await allow(root, { condition: 'false' });
      const before = (await root.query('list_policies')).body;
      const activities = await countActivities(root);
      const updated = { condition: 'policyCondition', consensus: 'policyConsensus', time: 'time' }[field];
      for (const [operation, parameters, name] of [
        ['create_policy', { ...policy('ALLOW'), [field]: text }, `parameters.${field}`],
        [
          'create_policies',
          { policies: [policy('ALLOW'), { ...policy('DENY'), [field]: text }] },
          `parameters.policies.1.${field}`,
        ],
        ['update_policy', { policyId, policyNotes: 'changed', [updated]: text }, undefined],
      ] as const) {
        const answer = await root.submit(operation, parameters);
        expect(outcome(answer), operation).toEqual([400, invalidCode(field)]);
        expect(answer.body.code).toBe(3);
        expect(answer.body.message, operation).toMatch(message);
        if (name !== undefined) expect(JSON.stringify(answer.body.details)).toContain(`"field":"${name}"`);
      }
      expect((await root.query('list_policies')).body).toEqual(before);
      expect(await countActivities(root)).toBe(activities);
    });

    test('absent or empty ones count as true', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      for (const text of [{}, { condition: '' }, { consensus: '' }, { condition: '', consensus: '', time: '' }]) {
        const policyId = await allow(root, text);
        expect(outcome(await rename(alice)), JSON.stringify(text)).toEqual(ALLOWED);
        await root.run('delete_policy', { policyId });
        expect(outcome(await rename(alice))).toEqual(DENIED);
      }
      // Of those that are there, each must hold.
      for (const text of [{ condition: 'false' }, { consensus: 'approvers.count() == 0' }]) {
        const policyId = await allow(root, text);
        expect(outcome(await rename(alice)), JSON.stringify(text)).toEqual(DENIED);
        await root.run('delete_policy', { policyId });
      }
    });

    test('an empty one in an update clears, an absent one stays', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const policyId = await allow(root, { condition: 'false', consensus: isUser(root) });
      await root.run('update_policy', { policyId, policyCondition: '' });
      expect(outcome(await rename(alice))).toEqual(DENIED);
      await root.run('update_policy', { policyId, policyConsensus: '' });
      expect((await root.query('get_policy', { policyId })).body.policy).toMatchObject({
        condition: '',
        consensus: '',
      });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
    });
  });

  describe('warnings', () => {
    const codes = (warnings: readonly { code: string }[]) => warnings.map(({ code }) => code);

    test('come with a new policy and with a changed one, and refuse nothing', async () => {
      const { root } = await newOrganization(parent);
      const fine = await root.run('create_policy', policy('ALLOW', { condition: "activity.resource == 'WALLET'" }));
      expect(fine.warnings).toEqual([]);
      const made = await root.run(
        'create_policy',
        policy('ALLOW', { condition: "activity.resource == 'WALLET' && activity.resource == 'USER'" }),
      );
      expect(made.warnings).toMatchObject([
        { code: 'NEVER_MATCHES', policyId: made.policyId, expression: 'condition' },
      ]);
      const { policyId } = made;
      const repaired = await root.run('update_policy', { policyId, policyCondition: "activity.resource == 'USER'" });
      expect(repaired.warnings).toEqual([]);
      const broken = await root.run('update_policy', {
        policyId,
        policyCondition: "wallet.id == 'a' || private_key.id == 'b'",
      });
      expect(codes(broken.warnings)).toContain('ALWAYS_ERRORS');
      expect((await root.query('get_policy', { policyId })).body.policy.condition).toContain('private_key');
    });

    test('look at the other policies of the organization, and at no others', async () => {
      const { root } = await newOrganization(parent);
      const elsewhere = await newOrganization(parent);
      const condition = "activity.resource == 'WALLET'";
      const denial = await deny(root, { condition });
      const shadowed = await root.run('create_policy', policy('ALLOW', { condition }));
      expect(shadowed.warnings).toMatchObject([
        { code: 'SHADOWED_BY_DENY', policyId: shadowed.policyId, otherPolicyIds: [denial] },
      ]);
      const free = await elsewhere.root.run('create_policy', policy('ALLOW', { condition }));
      expect(free.warnings).toEqual([]);
    });

    test('name each policy of several', async () => {
      const { root } = await newOrganization(parent);
      const { policyIds, warnings } = await root.run('create_policies', {
        policies: [
          policy('ALLOW', { condition: 'false' }),
          policy('ALLOW', { condition: "activity.action == 'SING'" }),
        ],
      });
      const found = warnings.map(({ policyId, code }: { policyId: string; code: string }) => [policyId, code]);
      expect(found).toContainEqual([policyIds[0], 'NEVER_MATCHES']);
      expect(found).toContainEqual([policyIds[1], 'UNKNOWN_ACTIVITY_VALUE']);
    });
  });

  describe('one user may call one function of one contract up to an amount', () => {
    test('and nothing else', async () => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
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
      const { root, alice } = await newOrganization(parent, 'alice');
      const { addresses } = await newWallet(root);
      const upload = {
        smartContractAddress: `0x${'1d'.repeat(20)}`,
        smartContractInterface: JSON.stringify(ABI),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
        label: 'Token',
      };
      await parent.run('create_smart_contract_interface', { ...upload, label: `Token ${randomUUID()}` });
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

  describe('who wins', () => {
    test('a denial over an allowance, whichever came first', async () => {
      for (const order of ['deny first', 'allow first']) {
        const { root, alice } = await newOrganization(parent, 'alice');
        const denial = order === 'deny first' ? await deny(root) : undefined;
        const allowance = await allow(root);
        const denying = denial ?? (await deny(root));
        const answer = await rename(alice);
        expect(outcome(answer), order).toEqual(DENIED);
        expect(denialOf(answer).message).toBe(`The following policies denied this action: ${denying}`);
        expect(outcomesOf(denialOf(answer).policyEvaluations)).toEqual({
          [allowance]: 'OUTCOME_ALLOW',
          [denying]: 'OUTCOME_DENY_EXPLICIT',
        });
        await root.run('delete_policy', { policyId: denying });
        expect(outcome(await rename(alice)), order).toEqual(ALLOWED);
      }
    });

    test('a denial bites only where its own consensus holds', async () => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
      await allow(root);
      await deny(root, { consensus: isUser(bob) });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      expect(outcome(await rename(bob))).toEqual(DENIED);
    });

    test('a denial that cannot be evaluated does not deny, an allowance that cannot does not allow', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const denial = await deny(root, { condition: 'eth.tx.value > 1' });
      const allowance = await allow(root, { condition: "wallet.id == 'w'" });
      const answer = await rename(alice);
      expect(outcomesOf(denialOf(answer).policyEvaluations)).toEqual({
        [denial]: 'OUTCOME_ERROR',
        [allowance]: 'OUTCOME_ERROR',
      });
      await allow(root, { condition: 'true' });
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
    });

    test('an amount that is too large to read does not switch a denial off', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const { addresses } = await newWallet(root);
      await allow(root);
      const denial = await deny(root, { condition: 'eth.tx.value > 1000' });
      const sign = (value: bigint) =>
        alice.submit('sign_transaction', {
          signWith: addresses[0],
          unsignedTransaction: ethereumTransaction(FRIEND, '0x', { value }),
          type: 'TRANSACTION_TYPE_ETHEREUM',
        });
      expect(outcome(await sign(1000n))).toEqual(ALLOWED);
      for (const value of [1001n, 2n ** 127n, 2n ** 255n]) {
        const answer = await sign(value);
        expect(outcome(answer), String(value)).toEqual(DENIED);
        expect(outcomesOf(denialOf(answer).policyEvaluations)[denial]).toBe('OUTCOME_DENY_EXPLICIT');
      }
    });

    test('a met root quorum over every denial', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const policyId = await deny(root);
      expect(outcome(await rename(root))).toEqual(ALLOWED);
      expect(outcome(await rename(alice))).toEqual(DENIED);
      expect(outcome(await root.submit('delete_policy', { policyId }))).toEqual(ALLOWED);
    });

    test('a member of a quorum of two waits, over a denial too', async () => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, alice.userId] });
      expect(outcome(await rename(root))).toEqual(WAITS);
      const create = await root.submit('create_policy', policy('DENY'));
      expect(outcome(create)).toEqual(WAITS);
      expect(outcome(await approve(alice, create.body.activity.fingerprint))).toEqual(ALLOWED);
      const pending = await rename(alice);
      expect(outcome(pending)).toEqual(WAITS);
      expect(outcome(await rename(bob))).toEqual(DENIED);
      // Who is not of the quorum cannot help, nor bring the denial down on it.
      expect(outcome(await approve(bob, pending.body.activity.fingerprint))).toEqual(DENIED);
      expect((await read(root, pending.body.activity.id)).votes).toHaveLength(1);
      expect(outcome(await approve(root, pending.body.activity.fingerprint))).toEqual(ALLOWED);
    });

    test('what belongs to the root quorum is open to no policy', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      await allow(root);
      const answer = await alice.submit('update_organization_name', { organizationName: 'Mine' });
      expect(outcome(answer)).toEqual(DENIED);
      expect(denialOf(answer).policyEvaluations).toEqual([]);
    });
  });

  describe('own credentials', () => {
    test('are everybody’s own business, those of others are not', async () => {
      const { alice, bob } = await newOrganization(parent, 'alice', 'bob');
      expect(outcome(await alice.submit('create_api_keys', apiKeyFor(alice.userId)))).toEqual(ALLOWED);
      expect(outcome(await alice.submit('create_api_keys', apiKeyFor(bob.userId)))).toEqual(DENIED);
    });

    test('until a policy applies to them', async () => {
      const { root, alice, bob } = await newOrganization(parent, 'alice', 'bob');
      const own = () => alice.submit('create_api_keys', apiKeyFor(alice.userId));
      const condition = "activity.resource == 'CREDENTIAL'";
      const denial = await deny(root, { condition, consensus: isUser(alice) });
      expect(outcome(await own())).toEqual(DENIED);
      expect(outcome(await bob.submit('create_api_keys', apiKeyFor(bob.userId)))).toEqual(ALLOWED);
      await root.run('delete_policy', { policyId: denial });
      expect(outcome(await own())).toEqual(ALLOWED);
      await allow(root, { condition, consensus: 'approvers.count() >= 2' });
      const pending = await own();
      expect(outcome(pending)).toEqual(WAITS);
      expect(outcome(await approve(bob, pending.body.activity.fingerprint))).toEqual(ALLOWED);
    });

    test('a policy about others leaves them alone', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      await allow(root, { condition: "activity.resource == 'WALLET'" });
      await deny(root, { condition: `activity.params.user_id == '${root.userId}'` });
      expect(outcome(await alice.submit('create_api_keys', apiKeyFor(alice.userId)))).toEqual(ALLOWED);
    });
  });

  describe('a denied request', () => {
    test('answers 403 in the known form, is stored as rejected, and is denied again', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const first = await allow(root, { condition: "activity.kind == 'CREATE_WALLET'" });
      const second = await allow(root, { consensus: isUser(root) });
      const body = alice.submitBody('update_user_name', { userId: alice.userId, userName: 'Denied' });
      const answer = await alice.sendStamped(path('update_user_name'), body);
      expect(answer.status).toBe(403);
      const why = 'No policies evaluated to outcome: Allow';
      expect(answer.body).toMatchObject({
        code: 7,
        errorCode: 'REQUEST_NOT_AUTHORIZED',
        message: `You don't have sufficient permissions to take this action. ${why}`,
      });
      const denial = denialOf(answer);
      expect(denial).toMatchObject({
        message: why,
        policyEvaluations: [
          { policyId: first, outcome: 'OUTCOME_DENY_IMPLICIT', reason: 'CONDITION_FALSE' },
          { policyId: second, outcome: 'OUTCOME_DENY_IMPLICIT', reason: 'APPROVER_NOT_INCLUDED' },
        ],
      });
      const stored = await read(alice, denial.activityId);
      expect(stored).toMatchObject({ status: REJECTED, result: {}, canApprove: false, canReject: false });
      expect(stored).not.toHaveProperty('failure');
      expect(stored.intent).toEqual({ updateUserNameIntent: { userId: alice.userId, userName: 'Denied' } });
      expect((await alice.query('get_user', { userId: alice.userId })).body.user.userName).toBe('alice');

      const again = await alice.sendStamped(path('update_user_name'), body);
      expect(again.status).toBe(403);
      expect(again.body).toEqual(answer.body);
      // Also when it would be allowed by now; a new request is.
      await allow(root);
      expect((await alice.sendStamped(path('update_user_name'), body)).body).toEqual(answer.body);
      expect(outcome(await rename(alice))).toEqual(ALLOWED);
      // To anybody else who sends the bytes it is an activity that is over.
      const byAnother = await root.sendStamped(path('update_user_name'), body);
      expect([byAnother.status, byAnother.body.activity?.status]).toEqual([200, REJECTED]);
      expect((await read(root, denial.activityId)).votes).toHaveLength(1);
    });

    test('with an explicit denial names the policies, and is denied alike again', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const denying = [await deny(root), await deny(root, { condition: "activity.resource == 'USER'" })];
      await deny(root, { condition: "activity.resource == 'WALLET'" });
      const body = alice.submitBody('update_user_name', { userId: alice.userId, userName: 'Denied' });
      const answer = await alice.sendStamped(path('update_user_name'), body);
      expect(denialOf(answer).message).toBe(`The following policies denied this action: ${denying.join(', ')}`);
      expect((await alice.sendStamped(path('update_user_name'), body)).body).toEqual(answer.body);
    });

    test('without any policy has no evaluations', async () => {
      const { alice } = await newOrganization(parent, 'alice');
      const answer = await rename(alice);
      expect(denialOf(answer).policyEvaluations).toEqual([]);
      expect((await evaluationsOf(alice, denialOf(answer).activityId)).map((entry) => entry.policyEvaluations)).toEqual(
        [[]],
      );
    });
  });

  describe('requests with several elements', () => {
    test('one typed payload that is not allowed denies all', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const { addresses } = await newWallet(root);
      const policyId = await allow(root, {
        condition: "eth.eip_712.primary_type == 'Permit' && eth.eip_712.message['value'] <= 100",
      });
      const sign = (...values: string[]) =>
        alice.submit('sign_raw_payloads', {
          signWith: addresses[0],
          payloads: values.map(permit),
          encoding: 'PAYLOAD_ENCODING_EIP712',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        });
      const signed = await sign('1', '100', '7');
      expect(outcome(signed)).toEqual(ALLOWED);
      expect(signed.body.activity.result.signRawPayloadsResult.signatures).toHaveLength(3);
      for (const [bad, values] of [
        [0, ['101', '1', '2']],
        [1, ['1', '101', '2']],
        [2, ['1', '2', '101']],
      ] as const) {
        const answer = await sign(...values);
        expect(outcome(answer), values.join()).toEqual(DENIED);
        const [record] = await evaluationsOf(alice, denialOf(answer).activityId);
        expect(record.policyEvaluations).toMatchObject([{ policyId, outcome: 'OUTCOME_DENY_IMPLICIT', element: bad }]);
      }
      // Each element needs one that allows it; it need not be the same for all.
      await allow(root, { condition: "eth.eip_712.message['value'] == 101" });
      expect(outcome(await sign('1', '101'))).toEqual(ALLOWED);
      expect(outcome(await sign('1', '101', '102'))).toEqual(DENIED);
      // One denial for one element is a denial for all.
      const denial = await deny(root, { condition: "eth.eip_712.message['value'] == 7" });
      expect(outcome(await sign('1', '2'))).toEqual(ALLOWED);
      const mixed = await sign('1', '7');
      expect(denialOf(mixed).message).toContain(denial);
    });

    test('each element waits for its own consensus', async () => {
      const { root, alice, bob, carol } = await newOrganization(parent, 'alice', 'bob', 'carol');
      const { addresses } = await newWallet(root);
      const sum = (value: number) => `eth.eip_712.message['value'] == ${value}`;
      await allow(root, { condition: sum(1) });
      await allow(root, { condition: sum(2), consensus: `${isUser(alice)} && ${isUser(bob)}` });
      await allow(root, { condition: sum(3), consensus: `${isUser(alice)} && ${isUser(carol)}` });
      const sign = (...values: string[]) =>
        alice.submit('sign_raw_payloads', {
          signWith: addresses[0],
          payloads: values.map(permit),
          encoding: 'PAYLOAD_ENCODING_EIP712',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        });
      expect(outcome(await sign('1'))).toEqual(ALLOWED);
      const two = await sign('1', '2');
      expect(outcome(two)).toEqual(WAITS);
      const signed = await approve(bob, two.body.activity.fingerprint);
      expect(outcome(signed)).toEqual(ALLOWED);
      expect(signed.body.activity.result.signRawPayloadsResult.signatures).toHaveLength(2);
      const three = await sign('3', '1', '2');
      expect(outcome(three)).toEqual(WAITS);
      expect(outcome(await approve(bob, three.body.activity.fingerprint))).toEqual(WAITS);
      expect(outcome(await approve(carol, three.body.activity.fingerprint))).toEqual(ALLOWED);
      expect(outcome(await sign('1', '2', '4'))).toEqual(DENIED);
    });

    test('who is part of no consensus that is awaited has no vote, whatever else is allowed to everybody', async () => {
      const { root, alice, bob, carol } = await newOrganization(parent, 'alice', 'bob', 'carol');
      const { addresses } = await newWallet(root);
      const sum = (value: number) => `eth.eip_712.message['value'] == ${value}`;
      await allow(root, { condition: sum(1) });
      await allow(root, { condition: sum(2), consensus: `${isUser(alice)} && ${isUser(bob)}` });
      const pending = await alice.submit('sign_raw_payloads', {
        signWith: addresses[0],
        payloads: ['1', '2'].map(permit),
        encoding: 'PAYLOAD_ENCODING_EIP712',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      });
      expect(outcome(pending)).toEqual(WAITS);
      const { fingerprint, id } = pending.body.activity;
      expect(await flags(carol, id)).toEqual([false, false]);
      expect(outcome(await approve(carol, fingerprint))).toEqual(DENIED);
      expect(outcome(await reject(carol, fingerprint))).toEqual(DENIED);
      expect(outcome(await approve(bob, fingerprint))).toEqual(ALLOWED);
    });

    test('secrets are judged one by one', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      const kinds = ['card', 'card', 'note'];
      const targets = await newSecretTargets(root, kinds.length + 1);
      const suite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
      const { secretIds } = await root.run('import_secrets', {
        secrets: targets.map((targetPublicKey, index) => ({
          secretPayload: encryptTo(targetPublicKey, `secret ${index}`),
          targetPublicKey,
          encryptionSuite: suite,
          ...(kinds[index] !== undefined && { staticProperties: [{ key: 'kind', value: kinds[index] }] }),
        })),
      });
      const receiver = new Receiver();
      const take = (...indexes: number[]) =>
        alice.submit('export_secrets', {
          secrets: indexes.map((index) => ({
            secretId: secretIds[index],
            targetPublicKey: receiver.publicKey,
            encryptionSuite: suite,
          })),
        });
      expect(outcome(await take(0))).toEqual(DENIED);
      await allow(root, {
        condition: "activity.kind == 'EXPORT_SECRETS' && secret.static_properties['kind'] == 'card'",
      });
      const both = await take(0, 1);
      expect(outcome(both)).toEqual(ALLOWED);
      expect(
        receiver.open(both.body.activity.result.exportSecretsResult.secretPayloads[1], alice.organizationId).toString(),
      ).toBe('secret 1');
      for (const indexes of [[2], [0, 2], [2, 0], [3], [0, 3]]) {
        expect(outcome(await take(...indexes)), indexes.join()).toEqual(DENIED);
      }
    });
  });

  describe('races', () => {
    test('the same bytes many times are denied once and alike', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      await allow(root, { condition: "activity.resource == 'WALLET'" });
      const before = await countActivities(root);
      const body = alice.submitBody('update_user_name', { userId: alice.userId, userName: 'Denied' });
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => alice.sendStamped(path('update_user_name'), body)),
      );
      for (const answer of answers) {
        expect(outcome(answer)).toEqual(DENIED);
        expect(answer.body).toEqual(answers[0]?.body);
      }
      expect(await countActivities(root)).toBe(before + 1);
    });

    test('nothing executes by a policy after its deletion was acknowledged', async () => {
      for (let round = 0; round < 6; round += 1) {
        const { root, alice } = await newOrganization(parent, 'alice');
        const policyId = await allow(root, { condition: "activity.kind == 'CREATE_WALLET'" });
        const create = () => alice.submit('create_wallet', { walletName: randomUUID(), accounts: [ethereum()] });
        expect(outcome(await create())).toEqual(ALLOWED);
        let wasDeleted = false;
        const before = Array.from({ length: 6 }, create);
        const deletion = root.submit('delete_policy', { policyId }).then((answer) => {
          wasDeleted = answer.status === 200;
          return answer;
        });
        const during = Array.from({ length: 6 }, create);
        expect(outcome(await deletion)).toEqual(ALLOWED);
        expect(wasDeleted).toBe(true);
        // All that commit from now on must be denied; what counts is what is stored at this moment.
        const { wallets } = (await root.query('list_wallets')).body;
        const answers = await Promise.all([...before, ...during]);
        for (const answer of answers) expect([ALLOWED, DENIED]).toContainEqual(outcome(answer));
        const allowed = answers.filter(({ status }) => status === 200);
        expect(wallets).toHaveLength(allowed.length + 1);
        expect((await root.query('list_wallets')).body.wallets).toHaveLength(wallets.length);
        expect(outcome(await create())).toEqual(DENIED);
      }
    });

    test('a denial that was acknowledged is never overlooked', async () => {
      for (let round = 0; round < 4; round += 1) {
        const { root, alice } = await newOrganization(parent, 'alice');
        await allow(root);
        const create = () => alice.submit('create_wallet', { walletName: randomUUID(), accounts: [ethereum()] });
        const before = Array.from({ length: 8 }, create);
        await deny(root, { condition: "activity.kind == 'CREATE_WALLET'" });
        const { wallets } = (await root.query('list_wallets')).body;
        const answers = await Promise.all(before);
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(wallets.length);
        expect((await root.query('list_wallets')).body.wallets).toHaveLength(wallets.length);
      }
    });

    test('many changes at once all succeed', async () => {
      const { root, alice } = await newOrganization(parent, 'alice');
      await allow(root, { condition: "activity.kind == 'CREATE_USER_TAG'" });
      const answers = await Promise.all([
        ...Array.from({ length: 15 }, (_, index) =>
          root.submit('create_policy', policy('ALLOW', { condition: `eth.tx.value == ${index}` })),
        ),
        ...Array.from({ length: 15 }, () =>
          alice.submit('create_user_tag', { userTagName: randomUUID(), userIds: [alice.userId] }),
        ),
      ]);
      for (const answer of answers) expect(outcome(answer)).toEqual(ALLOWED);
      expect((await root.query('list_policies')).body.policies).toHaveLength(16);
      expect((await root.query('get_user', { userId: alice.userId })).body.user.userTags).toHaveLength(15);
    });
  });
});

describe.each(DATABASES)('policies and time on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let alice: TestClient;

  beforeAll(async () => {
    app = await openTestApp(database);
    root = new ClockClient(app.app.clock, app.root);
    alice = await createUser(root, 'alice');
  });
  afterAll(() => app[Symbol.asyncDispose]());

  const at = (text: string) => setClock(app, Date.parse(text));
  const HOURS = "CronSpan('0 9 * * 1-5', '8h', 'America/New_York')";

  test('business hours', async () => {
    at('2031-01-06T12:00:00Z');
    const policyId = await allow(root, { condition: "activity.kind == 'UPDATE_USER_NAME'", time: HOURS });
    for (const [text, isOpen] of [
      // A Monday in winter: 09:00 in New York is 14:00 UTC.
      ['2031-01-06T13:58:00Z', false],
      ['2031-01-06T14:00:00Z', true],
      ['2031-01-06T21:58:00Z', true],
      ['2031-01-06T22:00:00Z', false],
      // Friday, Saturday, Sunday.
      ['2031-01-10T15:00:00Z', true],
      ['2031-01-11T15:00:00Z', false],
      ['2031-01-12T15:00:00Z', false],
      // In summer it is 13:00 UTC.
      ['2031-07-07T12:58:00Z', false],
      ['2031-07-07T13:00:00Z', true],
      ['2031-07-07T20:58:00Z', true],
      ['2031-07-07T21:00:00Z', false],
    ] as const) {
      at(text);
      const answer = await rename(alice);
      expect(outcome(answer), text).toEqual(isOpen ? ALLOWED : DENIED);
      const { statuses } = (await root.query('get_active_policies')).body;
      expect(statuses, text).toMatchObject([{ policyId, active: isOpen, timeExpr: HOURS }]);
      if (isOpen) continue;
      expect(denialOf(answer).policyEvaluations, text).toMatchObject([
        { policyId, outcome: 'OUTCOME_TIME_INACTIVE', reason: 'TIME_INACTIVE' },
      ]);
    }
    await root.run('delete_policy', { policyId });
  });

  test('a denial outside of hours, written with a negation', async () => {
    at('2031-02-03T15:00:00Z');
    const policies = [await allow(root), await deny(root, { time: `!${HOURS}` })];
    expect(outcome(await rename(alice))).toEqual(ALLOWED);
    at('2031-02-03T23:00:00Z');
    const answer = await rename(alice);
    expect(outcome(answer)).toEqual(DENIED);
    expect(denialOf(answer).message).toContain(policies[1]);
    // The quorum is not bound to hours.
    expect(outcome(await rename(root))).toEqual(ALLOWED);
    await root.run('delete_policies', { policyIds: policies });
  });

  test('the hour of the vote counts, not that of the submission', async () => {
    const bob = await createUser(root, `bob ${randomUUID()}`);
    at('2031-03-03T21:00:00Z');
    const policyId = await allow(root, { consensus: 'approvers.count() >= 2', time: HOURS });
    const pending = await rename(alice);
    expect(outcome(pending)).toEqual(WAITS);
    const { fingerprint, id } = pending.body.activity;
    at('2031-03-03T23:00:00Z');
    expect(outcome(await approve(bob, fingerprint))).toEqual(DENIED);
    expect((await read(root, id)).votes).toHaveLength(1);
    at('2031-03-04T14:30:00Z');
    expect(outcome(await approve(bob, fingerprint))).toEqual(ALLOWED);
    await root.run('delete_policy', { policyId });
  });

  test('until a date', async () => {
    at('2031-04-01T00:00:00Z');
    const until = await allow(root, { time: "time.now < Timestamp('2031-04-02T00:00:00Z')" });
    expect(outcome(await rename(alice))).toEqual(ALLOWED);
    at('2031-04-02T00:00:00Z');
    expect(outcome(await rename(alice))).toEqual(DENIED);
    const timeless = await allow(root, { condition: 'false' });
    const { statuses, evaluatedAtMs } = (await root.query('get_active_policies')).body;
    expect(statuses).toMatchObject([
      { policyId: until, active: false },
      { policyId: timeless, active: true },
    ]);
    expect(statuses[1]).not.toHaveProperty('timeExpr');
    expect(Number(evaluatedAtMs)).toBeGreaterThanOrEqual(Date.parse('2031-04-02T00:00:00Z'));
    await root.run('delete_policies', { policyIds: [until, timeless] });
  });
});
