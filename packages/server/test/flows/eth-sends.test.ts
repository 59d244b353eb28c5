import { randomBytes, randomUUID } from 'node:crypto';
import {
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  keccak256,
  parseTransaction,
  serializeTransaction,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { EthereumSendRequest, Send, SendProgress } from '../../src/chains/send/model.ts';
import { LaneStore } from '../../src/domains/sends/store/lanes.ts';
import { OperatorKeyStore } from '../../src/domains/sends/store/operator-keys.ts';
import { SendReader, SendStore } from '../../src/domains/sends/store/sends.ts';
import { GENESIS, SOLANA_CHAIN } from '../chain/fake-solana.ts';
import { StubNode } from '../chain/stub-node.ts';
import { newPrivateKey, newWallet } from '../fixtures/keys.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';

// Sends on EVM chains: what is accepted, what policies see of it, and what can be asked afterwards. How a transaction
// makes its way through a chain is for the tests of the dispatcher.

const PATIENCE = { timeout: 20_000, interval: 20 };
const V1 = 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION';
const CHAIN = 'eip155:31337';
/** Configured without a contract for batches; its node is away. */
const AWAY = 'eip155:31338';
/** With everything that sponsored sends need; its node is away. */
const SPONSORED = 'eip155:31339';
/** The same, but for the operator's key. */
const KEYLESS = 'eip155:31342';

const BATCH = `0x${'ba'.repeat(20)}`;
const OPERATOR = `0x${'0e'.repeat(20)}`;
const TOKEN = getAddress(`0x${'aa'.repeat(20)}`);
const TO = getAddress(`0x${'fb69'.repeat(10)}`);
const OTHER = getAddress(`0x${'53d1'.repeat(10)}`);
const NATIVE = { caip19: `${CHAIN}/slip44:60`, symbol: 'ETH', name: 'Ether', decimals: 18 };
const USDX = { caip19: `${CHAIN}/erc20:${TOKEN}`, symbol: 'USDX', name: 'Dollar', decimals: 6 };
const NEVER = {
  caip19: `${CHAIN}/erc20:${getAddress(`0x${'bb'.repeat(20)}`)}`,
  symbol: 'NONE',
  name: 'None',
  decimals: 0,
};

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const MINTED = { caip19: `${SOLANA_CHAIN.caip2}/token:${MINT}`, symbol: 'USDY', name: 'Dollar', decimals: 6 };

const wrongChecksum = (address: string): string =>
  address.replace(/[a-f]/i, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );

describe('sends on EVM chains', () => {
  let node: StubNode;
  /** Answers what a test says, of Solana here. */
  let solana: StubNode;
  let opened: TestApp;
  let root: TestClient;
  /** For requests that are refused. */
  let own: string;

  beforeAll(async () => {
    node = await StubNode.start();
    node.codes.set(BATCH, '0x60');
    solana = await StubNode.start();
    const away = { rpcUrls: ['http://127.0.0.1:1'] };
    const chains = {
      ...node.settings({
        batchContract: BATCH,
        // As operators write it; answers have the checksum.
        assets: [
          { ...USDX, caip19: USDX.caip19.toLowerCase(), stable: true, logoUrl: 'https://x.example/l.png' },
          NEVER,
        ],
        prices: { [NATIVE.caip19]: '2000.50', [USDX.caip19]: '1.00' },
      }),
      [SOLANA_CHAIN.caip2]: { rpcUrls: [solana.url], assets: [MINTED], prices: { [MINTED.caip19]: '2' } },
      [AWAY]: away,
      [SPONSORED]: { ...away, batchContract: BATCH, operatorAddress: OPERATOR },
      'eip155:31340': { ...away, operatorAddress: OPERATOR },
      'eip155:31341': { ...away, batchContract: BATCH },
      [KEYLESS]: { ...away, batchContract: BATCH, operatorAddress: OPERATOR },
    };
    opened = await openTestApp('sqlite', { CUSTOS_CHAINS: JSON.stringify(chains) });
    // Its node is away, so that nothing is signed with it.
    const key = { caip2: SPONSORED, address: OPERATOR, publicKey: '', sealedKey: Buffer.alloc(1), createdAtMs: 0 };
    await opened.app.storage.write((store) => store(OperatorKeyStore).insertOperatorKey(key));
    root = await createSubOrganization(opened.root, 'Senders');
    opened.app.sends.start();
    own = (await wallet()).address;
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await node[Symbol.asyncDispose]();
    await solana[Symbol.asyncDispose]();
  });

  const wallet = async (client = root) => await newWallet(client, `Wallet ${randomUUID()}`);
  const payment = (from: string, extra: object = {}) => ({
    from,
    caip2: CHAIN,
    calls: [{ to: TO, value: '5', data: '0x' }],
    ...extra,
  });
  const stored = async (client: TestClient, id: string): Promise<Send> =>
    await opened.app.storage.read(SendReader).get(client.organizationId as never, id);
  const status = async (sendTransactionStatusId: string, client = root) =>
    (await client.query('get_send_transaction_status', { sendTransactionStatusId })).body;
  const settled = (id: string, txStatus = 'INCLUDED', client = root) =>
    vi.waitFor(async () => {
      const answer = await status(id, client);
      expect(answer).toMatchObject({ txStatus });
      return answer;
    }, PATIENCE);

  describe('eth_send_transaction', () => {
    test('the lane that it comes into is woken, by whatever completes it', async () => {
      const client = await createSubOrganization(opened.root, 'Two senders');
      const second = await createUser(client, 'second');
      const { address } = await wallet(client);
      const { address: payer } = await wallet(client);
      const wake = vi.spyOn(opened.app.sends, 'wake');
      try {
        await client.run('eth_send_transaction', payment(address));
        expect(wake.mock.calls).toEqual([[[{ caip2: CHAIN, lane: address.toLowerCase() }]]]);
        await client.run('update_root_quorum', { threshold: 2, userIds: [client.userId, second.userId] });
        const { body } = await client.submit('eth_send_transaction', payment(payer));
        expect(wake).toHaveBeenCalledTimes(1);
        await second.submit('approve_activity', { fingerprint: body.activity.fingerprint });
        expect(wake.mock.calls.slice(1)).toEqual([[[{ caip2: CHAIN, lane: payer.toLowerCase() }]]]);
      } finally {
        wake.mockRestore();
      }
    });

    test('is accepted, signed and sent; the status tells the hash', async () => {
      const { address } = await wallet();
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [OTHER, 7n] });
      const calls = [{ to: TOKEN, value: '12', data: data.toUpperCase().replace('0X', '0x') }];
      const { sendTransactionStatusId } = await root.run('eth_send_transaction', payment(address, { calls }));
      const { eth } = await settled(sendTransactionStatusId);
      const [sent, ...more] = node.sentFrom(address);
      expect(more).toEqual([]);
      expect(eth).toEqual({ txHash: sent?.hash });
      expect(parseTransaction(sent?.raw as Hex)).toMatchObject({
        type: 'eip1559',
        chainId: 31337,
        to: TOKEN.toLowerCase(),
        value: 12n,
        data,
      });
    });

    test('of the older version is one call, and of what is left out nothing is fixed', async () => {
      const { address } = await wallet();
      const body = { from: address.toLowerCase(), caip2: CHAIN, to: TO.toLowerCase() };
      const answer = await root.submit('eth_send_transaction', body, { type: V1 });
      expect(answer.body.activity.result).toEqual({
        ethSendTransactionResult: { sendTransactionStatusId: expect.any(String) },
      });
      const { sendTransactionStatusId: id } = answer.body.activity.result.ethSendTransactionResult;
      expect((await stored(root, id)).request).toEqual({
        kind: 'ethereum',
        calls: [{ to: TO.toLowerCase(), value: '0', data: '0x' }],
      });
      await settled(id);
      expect(node.sentFrom(address)).toMatchObject([{ to: TO.toLowerCase(), value: 0n, nonce: 0 }]);
    });

    test('keeps what the caller fixed', async () => {
      const { address } = await newPrivateKey(root, `key ${randomUUID()}`);
      const fixed = { nonce: '41', gasLimit: '90000', maxFeePerGas: '7000000000', maxPriorityFeePerGas: '3' };
      const deadline = String(Math.floor(Date.now() / 1000) + 1000);
      const { sendTransactionStatusId: id } = await root.run(
        'eth_send_transaction',
        payment(address, { ...fixed, deadline, sponsor: false }),
      );
      await settled(id);
      const send = await stored(root, id);
      expect(send).toMatchObject({ sender: address.toLowerCase(), lane: address.toLowerCase(), purpose: 'send' });
      expect(send.request).toEqual({
        kind: 'ethereum',
        calls: [{ to: TO.toLowerCase(), value: '5', data: '0x' }],
        ...fixed,
        nonce: 41,
        deadline: Number(deadline),
      });
      expect(parseTransaction(node.sentFrom(address)[0]?.raw as Hex)).toMatchObject({
        nonce: 41,
        gas: 90_000n,
        maxFeePerGas: 7_000_000_000n,
        maxPriorityFeePerGas: 3n,
      });
    });

    test('of several calls is one transaction where there is a contract for it', async () => {
      const { address } = await wallet();
      const calls = [
        { to: TO, value: '1' },
        { to: OTHER, data: '0x12345678' },
      ];
      const body = payment(address, { calls });
      const { sendTransactionStatusId: id } = await root.run('eth_send_transaction', body);
      await settled(id);
      const [sent] = node.sentFrom(address);
      expect(parseTransaction(sent?.raw as Hex)).toMatchObject({
        type: 'eip7702',
        to: address.toLowerCase(),
        authorizationList: [{ address: BATCH }],
      });
      const refused = await root.submit('eth_send_transaction', { ...body, caip2: AWAY });
      expect(refused).toMatchObject({ status: 400, body: { errorCode: 'FAILED_PRECONDITION' } });
      expect(refused.body.message).toContain('batchContract in CUSTOS_CHAINS');
      const one = await root.submit('eth_send_transaction', { ...body, caip2: AWAY, calls: calls.slice(0, 1) });
      expect(one.status).toBe(200);
    });

    test('fifty calls, and not one more', async () => {
      const { address } = await wallet();
      const calls = Array.from({ length: 50 }, () => ({ to: TO }));
      expect((await root.submit('eth_send_transaction', payment(address, { calls }))).status).toBe(200);
      for (const wrong of [[], [...calls, { to: TO }]]) {
        const answer = await root.submit('eth_send_transaction', payment(address, { calls: wrong }));
        expect(answer).toMatchObject({ status: 400, body: { errorCode: 'REQUEST_INVALID' } });
      }
    });

    const call = (extra: object) => ({ calls: [{ to: TO, ...extra }] });
    const LARGE = '0x'.padEnd(2 + 2 * 65 * 1024, 'ab');
    const UINT256 = String(2n ** 256n);
    test.each<[string, object, string]>([
      ['a wrong checksum', call({ to: wrongChecksum(TO) }), 'calls.0.to'],
      ['no address', call({ to: '0x12' }), 'calls.0.to'],
      ['a value that no word holds', call({ value: UINT256 }), 'calls.0.value'],
      ['a value in hex', call({ value: '0x5' }), 'calls.0.value'],
      ['a value with a point', call({ value: '1.5' }), 'calls.0.value'],
      ['a value below zero', call({ value: '-1' }), 'calls.0.value'],
      ['data without 0x', call({ data: '1234' }), 'calls.0.data'],
      ['half a byte', call({ data: '0x123' }), 'calls.0.data'],
      [
        'too much data together',
        {
          calls: [
            { to: TO, data: LARGE },
            { to: TO, data: LARGE },
          ],
        },
        'calls.1.data',
      ],
      ['a chain of another kind', { caip2: 'solana:mainnet' }, 'caip2'],
      ['a chain with a zero in front', { caip2: 'eip155:01' }, 'caip2'],
      ['a nonce beyond all transactions', { nonce: '9007199254740992' }, 'nonce'],
      ['a gas limit of more than 64 bits', { gasLimit: String(2n ** 64n) }, 'gasLimit'],
      ['a fee that no word holds', { maxFeePerGas: UINT256 }, 'maxFeePerGas'],
      ['a tip above the fee', { maxFeePerGas: '1', maxPriorityFeePerGas: '2' }, 'maxPriorityFeePerGas'],
      ['a tip without a fee', { maxPriorityFeePerGas: '2' }, 'maxPriorityFeePerGas'],
      ['a deadline that has passed', { deadline: '1700000000' }, 'deadline'],
      ['the nonce of a batch that nobody sponsors', { gasStationNonce: '1' }, 'gasStationNonce'],
      ['a sponsor and a nonce', { sponsor: true, nonce: '1' }, 'nonce'],
      ['a sponsor and a gas limit', { sponsor: true, gasLimit: '21000' }, 'gasLimit'],
      ['a sponsor and a fee', { sponsor: true, maxFeePerGas: '1' }, 'maxFeePerGas'],
      ['an id in place of an address', { from: randomUUID() }, 'from'],
    ])('refuses %s, and names the field', async (_name, extra, field) => {
      const answer = await root.submit('eth_send_transaction', payment(own, extra));
      expect(answer).toMatchObject({ status: 400, body: { errorCode: 'REQUEST_INVALID' } });
      const [violation] = answer.body.details.flatMap(
        ({ fieldViolations = [] }: { fieldViolations?: { field: string }[] }) => fieldViolations,
      );
      expect(violation.field).toBe(`parameters.${field}`);
    });

    test('names the field of an older version as it was sent', async () => {
      const { address } = await wallet();
      const body = { from: address, caip2: CHAIN, to: TO, value: '1' };
      expect((await root.submit('eth_send_transaction', body, { type: V1 })).status).toBe(200);
      const answer = await root.submit('eth_send_transaction', { ...body, to: wrongChecksum(TO) }, { type: V1 });
      expect(answer.body.message).toContain('parameters.to:');
    });

    test('an address in small or in capital letters has no checksum', async () => {
      const { address } = await wallet();
      for (const to of [TO.toLowerCase(), `0x${TO.slice(2).toUpperCase()}`, TO]) {
        const answer = await root.submit('eth_send_transaction', payment(address, { calls: [{ to }] }));
        expect(answer.status).toBe(200);
      }
    });

    test('no batch hides in a call to the account itself', async () => {
      const { address } = await wallet();
      const plain = payment(address, { calls: [{ to: address, value: '1' }] });
      expect((await root.submit('eth_send_transaction', plain)).status).toBe(200);
      const hidden = payment(address, { calls: [{ to: TO }, { to: address.toLowerCase(), data: '0x34fcd5be' }] });
      const answer = await root.submit('eth_send_transaction', hidden);
      expect(answer.body.message).toContain('parameters.calls.1.data');
    });

    test('a chain that nobody configured is named, with the setting', async () => {
      const { address } = await wallet();
      const answer = await root.submit('eth_send_transaction', payment(address, { caip2: 'eip155:1' }));
      expect(answer).toMatchObject({ status: 400, body: { errorCode: 'CHAIN_NOT_CONFIGURED' } });
      expect(answer.body.message).toMatch(/eip155:1 .*CUSTOS_CHAINS/);
    });

    test('is by keys of this organization only', async () => {
      const sibling = await createSubOrganization(opened.root, `Sibling ${randomUUID()}`);
      const { address } = await wallet(sibling);
      expect((await sibling.submit('eth_send_transaction', payment(address))).status).toBe(200);
      const unknown = await root.submit('eth_send_transaction', payment(`0x${randomBytes(20).toString('hex')}`));
      expect(unknown).toMatchObject({ status: 404, body: { errorCode: 'RESOURCE_NOT_FOUND' } });
      expect((await root.submit('eth_send_transaction', payment(address))).body).toEqual(unknown.body);
    });

    test('does not need the node to be there', async () => {
      const { address } = await wallet();
      const { sendTransactionStatusId } = await root.run('eth_send_transaction', payment(address, { caip2: AWAY }));
      expect(await status(sendTransactionStatusId)).toEqual({ txStatus: 'INITIALIZED', eth: {} });
    });

    describe('sponsored', () => {
      const sponsored = (from: string, caip2: string, extra: object = {}) =>
        payment(from, { caip2, sponsor: true, ...extra });

      test('is refused unless the operator has set all that it needs', async () => {
        const { address } = await wallet();
        expect((await root.submit('eth_send_transaction', sponsored(address, SPONSORED))).status).toBe(200);
        for (const [caip2, missing] of [
          ['eip155:31340', 'batchContract'],
          ['eip155:31341', 'operatorAddress'],
          [CHAIN, 'operatorAddress'],
          [KEYLESS, 'custos chains import-key'],
        ] as const) {
          const answer = await root.submit('eth_send_transaction', sponsored(address, caip2));
          expect(answer).toMatchObject({ status: 400, body: { errorCode: 'SPONSORSHIP_NOT_CONFIGURED' } });
          expect(answer.body.message).toContain(missing);
        }
      });

      test('waits in the line of who pays, with a nonce for its batch', async () => {
        const { address } = await wallet();
        const deadline = String(Math.floor(Date.now() / 1000) + 1000);
        const given = { gasStationNonce: '77', deadline };
        const [first, second] = [
          await root.run('eth_send_transaction', sponsored(address, SPONSORED, given)),
          await root.run('eth_send_transaction', sponsored(address, SPONSORED)),
        ].map(({ sendTransactionStatusId }) => sendTransactionStatusId);
        const send = await stored(root, first);
        expect(send).toMatchObject({ sender: address.toLowerCase(), lane: OPERATOR });
        expect(send.request).toMatchObject({ sponsored: { batchNonce: '77' }, deadline: Number(deadline) });
        const { sponsored: own } = (await stored(root, second)).request as EthereumSendRequest;
        expect(own?.batchNonce).toBe(String(BigInt(`0x${second.replaceAll('-', '').slice(-15)}`)));
      });
    });
  });

  describe('policies', () => {
    /** A user who may send under one condition. */
    async function sender(condition: string): Promise<{ client: TestClient; user: TestClient }> {
      const client = await createSubOrganization(opened.root, `Rules ${randomUUID()}`);
      const user = await createUser(client, 'sender');
      await client.run('create_policy', {
        policyName: 'sends',
        effect: 'EFFECT_ALLOW',
        condition,
        consensus: `approvers.any(user, user.id == '${user.userId}')`,
        notes: '',
      });
      return { client, user };
    }
    const outcome = async (user: TestClient, operation: string, parameters: object, type?: string) =>
      (await user.submit(operation, parameters, type === undefined ? {} : { type })).status;

    test('see every call, and one that none allows is enough', async () => {
      const { client, user } = await sender(
        `eth.tx.to == '${TO.toLowerCase()}' && eth.tx.value <= 10 && eth.tx.chain_id == 31337 && eth.tx.type == 'TYPE_2'`,
      );
      const { address } = await wallet(client);
      const calls = (...values: string[]) => payment(address, { calls: values.map((value) => ({ to: TO, value })) });
      expect(await outcome(user, 'eth_send_transaction', calls('10'))).toBe(200);
      expect(await outcome(user, 'eth_send_transaction', calls('1', '10'))).toBe(200);
      expect(await outcome(user, 'eth_send_transaction', calls('1', '11'))).toBe(403);
      const other = payment(address, { calls: [{ to: TO }, { to: OTHER }] });
      expect(await outcome(user, 'eth_send_transaction', other)).toBe(403);
      const old = { from: address, caip2: CHAIN, to: TO, value: '11' };
      expect(await outcome(user, 'eth_send_transaction', { ...old, value: '10' }, V1)).toBe(200);
      expect(await outcome(user, 'eth_send_transaction', old, V1)).toBe(403);
    });

    test('see the wallet, the fees that the caller fixed, and none where another pays', async () => {
      const { client, user } = await sender("wallet.label == 'Mine' && eth.tx.max_fee_per_gas <= 100");
      const { address } = await newWallet(client, 'Mine');
      const foreign = await newWallet(client, 'Other');
      const fee = (maxFeePerGas: string) => payment(address, { maxFeePerGas });
      expect(await outcome(user, 'eth_send_transaction', fee('100'))).toBe(200);
      expect(await outcome(user, 'eth_send_transaction', fee('101'))).toBe(403);
      expect(await outcome(user, 'eth_send_transaction', payment(foreign.address))).toBe(403);
      const free = await sender('eth.tx.max_fee_per_gas == 0 && eth.tx.gas_price == 0 && eth.tx.gas == 0');
      const { address: own } = await wallet(free.client);
      const sponsored = payment(own, { caip2: SPONSORED, sponsor: true });
      expect(await outcome(free.user, 'eth_send_transaction', sponsored)).toBe(200);
      expect(await outcome(free.user, 'eth_send_transaction', payment(own, { maxFeePerGas: '1' }))).toBe(403);
    });

    test('see of a raw transaction what it says, and whose it is', async () => {
      const { client, user } = await sender(
        `private_key.label == 'Mine' && eth.tx.to == '${TO.toLowerCase()}' && eth.tx.value == 3`,
      );
      const key = await newPrivateKey(client, 'Mine');
      const stranger = privateKeyToAccount(generatePrivateKey());
      const tx = {
        type: 'eip1559',
        chainId: 31337,
        nonce: 0,
        gas: 21_000n,
        maxFeePerGas: 9n,
        to: TO,
        value: 3n,
      } as const;
      const raw = await stranger.signTransaction(tx);
      const { signedTransaction } = await client.run('sign_transaction', {
        signWith: key.address,
        type: 'TRANSACTION_TYPE_ETHEREUM',
        unsignedTransaction: serializeTransaction(tx),
      });
      const send = (text: string) => ({ signedTransaction: text, caip2: CHAIN });
      expect(await outcome(user, 'eth_send_raw_transaction', send(signedTransaction))).toBe(200);
      expect(await outcome(user, 'eth_send_raw_transaction', send(raw))).toBe(403);
      expect(await outcome(client, 'eth_send_raw_transaction', send(raw))).toBe(200);
    });

    /** A user who may send, under a limit on ether. */
    async function limited(phase?: object, extra: object = {}): Promise<{ client: TestClient; user: TestClient }> {
      const both = await sender("activity.kind in ['ETH_SEND_TRANSACTION', 'ETH_SEND_RAW_TRANSACTION']");
      const definition = [{ caip19: NATIVE.caip19, decimals: '0' }];
      await both.client.run('create_velocity_control', {
        name: 'ether',
        identifier: 'ether',
        dataSource: { chainAssetTransfer: { definition, ...(phase && { phase }) } },
        aggregation: {
          method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
          operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN',
          threshold: '10',
          window: { rolling: { duration: '24h' } },
          groupBy: { organization: {} },
        },
        ...extra,
      });
      return both;
    }

    test('limits count what all calls move', async () => {
      const { client, user } = await limited();
      const { address } = await wallet(client);
      const calls = (...values: string[]) => payment(address, { calls: values.map((value) => ({ to: TO, value })) });
      expect(await outcome(user, 'eth_send_transaction', calls('4', '3'))).toBe(200);
      const over = await user.submit('eth_send_transaction', calls('1', '2'));
      expect(over).toMatchObject({ status: 403, body: { errorCode: 'VELOCITY_EXCEEDED' } });
      expect(await outcome(user, 'eth_send_transaction', calls('1', '1'))).toBe(200);
    });

    test('limits with refuseUncounted count a fee that the sender sets', async () => {
      const { client, user } = await limited(undefined, { refuseUncounted: true });
      const { address } = await wallet(client);
      const send = async (value: string, terms: object) => {
        const { status, body } = await user.submit(
          'eth_send_transaction',
          payment(address, { calls: [{ to: TO, value }], ...terms }),
        );
        return status === 200 ? 200 : body.errorCode;
      };
      expect(await send('1', { gasLimit: '21000', maxFeePerGas: '1' })).toBe('VELOCITY_EXCEEDED');
      expect(await send('1', { maxFeePerGas: '1' })).toBe('VELOCITY_UNCOUNTED');
      expect(await send('5', {})).toBe(200);
      expect(await send('1', { gasLimit: '21000' })).toBe(200);
      expect(await send('4', {})).toBe('VELOCITY_EXCEEDED');
      const open = await limited();
      const { address: from } = await wallet(open.client);
      const dear = { calls: [{ to: TO, value: '1' }], gasLimit: '21000', maxFeePerGas: '1' };
      expect(await outcome(open.user, 'eth_send_transaction', payment(from, dear))).toBe(200);
    });

    test('limits on what is sent count raw transactions too, and limits on signatures do not', async () => {
      const stranger = privateKeyToAccount(generatePrivateKey());
      const raw = async (nonce: number) => ({
        caip2: CHAIN,
        signedTransaction: await stranger.signTransaction({
          type: 'eip1559',
          chainId: 31337,
          nonce,
          gas: 21_000n,
          maxFeePerGas: 9n,
          to: TO,
          value: 5n,
        }),
      });
      const sent = await limited({ submission: {} });
      const { address } = await wallet(sent.client);
      expect(await outcome(sent.user, 'eth_send_raw_transaction', await raw(0))).toBe(200);
      expect(await outcome(sent.user, 'eth_send_raw_transaction', await raw(1))).toBe(403);
      expect(await outcome(sent.user, 'eth_send_transaction', payment(address))).toBe(403);
      const four = payment(address, { calls: [{ to: TO, value: '4' }] });
      expect(await outcome(sent.user, 'eth_send_transaction', four)).toBe(200);
      const signed = await limited();
      for (const nonce of [2, 3]) {
        expect(await outcome(signed.user, 'eth_send_raw_transaction', await raw(nonce))).toBe(200);
      }
    });
  });

  describe('eth_send_raw_transaction', () => {
    const stranger = privateKeyToAccount(generatePrivateKey());
    const common = { chainId: 31337, nonce: 0, gas: 21_000n, to: TO, value: 3n } as const;
    const raw = (caip2: string, signedTransaction: string) => ({ caip2, signedTransaction });

    test('sends exactly the bytes that came, whoever signed them', async () => {
      const signed = await stranger.signTransaction({ ...common, type: 'eip1559', maxFeePerGas: 9n });
      const { transactionHash, sendTransactionStatusId } = await root.run(
        'eth_send_raw_transaction',
        raw(CHAIN, signed.slice(2).toUpperCase()),
      );
      expect(transactionHash).toBe(keccak256(signed));
      expect(await settled(sendTransactionStatusId)).toEqual({
        txStatus: 'INCLUDED',
        eth: { txHash: transactionHash },
      });
      expect(node.sentFrom(stranger.address)).toMatchObject([{ raw: signed }]);
      expect(await stored(root, sendTransactionStatusId)).toMatchObject({
        sender: stranger.address.toLowerCase(),
        purpose: 'raw',
        request: { kind: 'ethereum-raw', raw: signed },
      });
    });

    test('refuses what is for another chain, unsigned, or no transaction', async () => {
      const sign = (chainId: number) => stranger.signTransaction({ ...common, type: 'legacy', gasPrice: 9n, chainId });
      expect((await root.submit('eth_send_raw_transaction', raw(AWAY, await sign(31338)))).status).toBe(200);
      for (const [caip2, text] of [
        [CHAIN, await sign(31338)],
        [
          CHAIN,
          await stranger.signTransaction({ ...common, type: 'legacy', gasPrice: 9n, chainId: undefined as never }),
        ],
        [CHAIN, `02${'c0'}`],
        [CHAIN, 'ff'],
      ] as const) {
        const answer = await root.submit('eth_send_raw_transaction', raw(caip2, text));
        expect(answer).toMatchObject({ status: 400, body: { errorCode: 'INVALID_TRANSACTION' } });
      }
      const answer = await root.submit('eth_send_raw_transaction', raw(CHAIN, 'no hex'));
      expect(answer).toMatchObject({ status: 400, body: { errorCode: 'REQUEST_INVALID' } });
    });
  });

  describe('get_send_transaction_status', () => {
    const revertChain = [
      {
        address: TO,
        errorType: 'custom' as const,
        displayMessage: 'Empty()',
        custom: { errorName: 'Empty', paramsJson: '{}' },
      },
    ];

    /** A send that the dispatcher has not touched, with another outcome. */
    async function ended(outcome: Partial<SendProgress>): Promise<string> {
      const { address } = await wallet();
      const { sendTransactionStatusId: id } = await root.run('eth_send_transaction', payment(address, { caip2: AWAY }));
      const send = await stored(root, id);
      await opened.app.storage.write(async (store) => {
        const lanes = store(LaneStore);
        const version = await lanes.laneVersion(AWAY, send.lane);
        expect(version).toBe(1);
        // Whoever has the lane has lost it by this.
        const late = opened.app.clock() + 10 ** 9;
        const lane = await lanes.claimLane(AWAY, send.lane, 'test', late, late + 10 ** 9);
        if (lane === undefined) throw new Error('the lane was not to be had');
        await store(SendStore).progress(lane, send, { ...send, isOpen: false, ...outcome }, late);
        await lanes.closeLane(lane, version);
      });
      return id;
    }

    test('tells why a transaction failed, where old and new clients look', async () => {
      const txHash = `0x${'12'.repeat(32)}`;
      const error = { message: 'execution reverted: Empty()', eth: { revertChain } };
      const id = await ended({ state: 'FAILED', txHash, error });
      expect(await status(id)).toEqual({
        txStatus: 'FAILED',
        eth: { txHash },
        txError: error.message,
        error: { message: error.message, revertChain, eth: { revertChain } },
      });
      const plain = await ended({ state: 'FAILED', error: { message: 'its time is over' } });
      expect(await status(plain)).toEqual({
        txStatus: 'FAILED',
        eth: {},
        txError: 'its time is over',
        error: { message: 'its time is over' },
      });
    });

    test('is for the organization that sent it', async () => {
      const { address } = await wallet();
      const { sendTransactionStatusId } = await root.run('eth_send_transaction', payment(address));
      const sibling = await createSubOrganization(opened.root, `Sibling ${randomUUID()}`);
      const unknown = await sibling.query('get_send_transaction_status', { sendTransactionStatusId: randomUUID() });
      expect(unknown).toMatchObject({ status: 404, body: { errorCode: 'RESOURCE_NOT_FOUND' } });
      const foreign = await sibling.query('get_send_transaction_status', { sendTransactionStatusId });
      expect(foreign.body).toEqual(unknown.body);
    });
  });

  describe('get_nonces', () => {
    test('counts what blocks have, and what is under way here', async () => {
      const { address } = await wallet();
      const ask = async (extra: object = {}, client = root) =>
        (await client.query('get_nonces', { address, caip2: CHAIN, ...extra })).body;
      expect(await ask()).toEqual({ nonce: '0' });
      const { sendTransactionStatusId: id } = await root.run('eth_send_transaction', payment(address, { nonce: '6' }));
      await settled(id);
      expect(await ask({ nonce: true })).toEqual({ nonce: '1' });
      expect(await ask({ nonce: false })).toEqual({});

      // No block takes the next two, of which the second leaves a gap.
      node.methods.set('eth_getTransactionReceipt', () => null);
      node.methods.set('eth_getTransactionCount', () => '0x1');
      try {
        const ids: string[] = [];
        for (const nonce of ['1', '9']) {
          const open = await root.run('eth_send_transaction', payment(address, { nonce, gasLimit: '30000' }));
          await settled(open.sendTransactionStatusId, 'BROADCASTING');
          ids.push(open.sendTransactionStatusId);
        }
        expect(await ask()).toEqual({ nonce: '2' });
        // What is under way is nobody else's business.
        expect(await ask({}, opened.root)).toEqual({ nonce: '1' });
        node.methods.clear();
        for (const open of ids) await settled(open);
      } finally {
        node.methods.clear();
      }
    });

    test('gives a nonce for a sponsored send that the account has not used', async () => {
      const { address } = await wallet();
      const ask = (extra: object = {}) =>
        root.query('get_nonces', { address, caip2: CHAIN, gasStationNonce: true, ...extra });
      const fresh = (await ask()).body;
      expect(fresh).toEqual({ gasStationNonce: expect.stringMatching(/^\d+$/) });
      expect(BigInt(fresh.gasStationNonce)).toBeLessThan(2n ** 64n);
      expect((await ask({ nonce: true })).body).toMatchObject({ nonce: '0', gasStationNonce: expect.any(String) });

      const asked: bigint[] = [];
      node.codes.set(address.toLowerCase(), `0xef0100${BATCH.slice(2)}`);
      node.contracts.set(address.toLowerCase(), ({ data }) => {
        expect(data.slice(0, 10)).toBe('0x5d00bb12');
        asked.push(BigInt(`0x${data.slice(10)}`));
        // The first one is taken.
        return encodeAbiParameters([{ type: 'bool' }], [asked.length === 1]);
      });
      const { gasStationNonce } = (await ask()).body;
      expect(asked).toHaveLength(2);
      expect(gasStationNonce).toBe(String(asked[1]));
      node.contracts.set(address.toLowerCase(), () => encodeAbiParameters([{ type: 'bool' }], [true]));
      expect(await ask()).toMatchObject({ status: 503, body: { errorCode: 'RPC_CALL_ERROR' } });
      expect(await ask({ caip2: AWAY })).toMatchObject({
        status: 400,
        body: { errorCode: 'SPONSORSHIP_NOT_CONFIGURED' },
      });
    });

    test('needs a node that answers', async () => {
      const answer = await root.query('get_nonces', { address: TO, caip2: AWAY });
      expect(answer).toMatchObject({ status: 503, body: { errorCode: 'RPC_CALL_ERROR' } });
    });
  });

  describe('get_wallet_address_balances', () => {
    const ask = (address: string, caip2 = CHAIN) => root.query('get_wallet_address_balances', { address, caip2 });
    const held = (amount: bigint) => encodeAbiParameters([{ type: 'uint256' }], [amount]);

    test('shows the native asset always, and tokens of which there are any', async () => {
      const address = privateKeyToAccount(generatePrivateKey()).address;
      node.contracts.set(TOKEN.toLowerCase(), () => held(0n));
      const nothing = { ...NATIVE, balance: '0', display: { usd: '0.00', crypto: '0' } };
      expect((await ask(address)).body.balances).toEqual([nothing]);

      node.balances.set(address.toLowerCase(), 1_500_000_000_000_000_000n);
      node.contracts.set(TOKEN.toLowerCase(), ({ data }) => {
        expect(data).toBe(encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] }));
        return held(2_500_000n);
      });
      expect((await ask(address.toLowerCase())).body.balances).toEqual([
        { ...NATIVE, balance: '1500000000000000000', display: { usd: '3000.75', crypto: '1.5' } },
        { ...USDX, balance: '2500000', display: { usd: '2.50', crypto: '2.5' } },
      ]);
    });

    test('of Solana has the tokens of both programs that are configured', async () => {
      const owner = 'So11111111111111111111111111111111111111112';
      const account = (programId: string, mint: string, amount: string) => ({
        account: {
          owner: programId,
          data: { parsed: { info: { owner, mint, tokenAmount: { amount, decimals: 6 } } } },
        },
      });
      solana.methods.set('getGenesisHash', () => GENESIS);
      solana.methods.set('getBalance', () => ({ context: { slot: 1 }, value: 2_500_000_000 }));
      solana.methods.set('getTokenAccountsByOwner', (_owner: string, { programId }: { programId: string }) => {
        const mints = programId.startsWith('Tokenkeg')
          ? [account(programId, MINT, '1500000'), account(programId, owner, '9')]
          : [];
        return { context: { slot: 1 }, value: mints };
      });
      const { body } = await ask(owner, SOLANA_CHAIN.caip2);
      const { caip2 } = SOLANA_CHAIN;
      expect(body.balances).toEqual([
        {
          caip19: `${caip2}/slip44:501`,
          symbol: 'SOL',
          name: 'Solana',
          decimals: 9,
          balance: '2500000000',
          display: { usd: '', crypto: '2.5' },
        },
        {
          ...MINTED,
          balance: '1500000',
          display: { usd: '3.00', crypto: '1.5' },
          tokenProgram: expect.stringMatching(/^Tokenkeg/),
        },
      ]);
      expect(await ask(TO, caip2)).toMatchObject({ status: 400, body: { errorCode: 'REQUEST_INVALID' } });
      const { assets } = (await root.query('list_supported_assets', { caip2 })).body;
      expect(assets).toEqual([
        { caip19: `${caip2}/slip44:501`, symbol: 'SOL', name: 'Solana', decimals: 9, earnProviders: [] },
        { ...MINTED, earnProviders: [] },
      ]);
    });

    test('refuses what is no address of the chain', async () => {
      for (const address of ['', '0x12', 'So11111111111111111111111111111111111111112']) {
        expect(await ask(address)).toMatchObject({ status: 400, body: { errorCode: 'REQUEST_INVALID' } });
      }
      expect(await ask(TO, 'eip155:1')).toMatchObject({ status: 400, body: { errorCode: 'CHAIN_NOT_CONFIGURED' } });
      expect(await ask(TO, AWAY)).toMatchObject({ status: 503, body: { errorCode: 'RPC_CALL_ERROR' } });
    });
  });

  test('list_supported_assets names what the operator configured, with the checksum', async () => {
    const ask = async (caip2: string) => (await root.query('list_supported_assets', { caip2 })).body;
    expect(await ask(CHAIN)).toMatchObject({
      assets: [
        { ...NATIVE, earnProviders: [] },
        { ...USDX, stable: true, logoUrl: 'https://x.example/l.png', earnProviders: [] },
        { ...NEVER, earnProviders: [] },
      ],
    });
    expect(await ask(AWAY)).toMatchObject({ assets: [{ ...NATIVE, caip19: `${AWAY}/slip44:60`, earnProviders: [] }] });
    expect(await ask('eip155:1')).toMatchObject({ errorCode: 'CHAIN_NOT_CONFIGURED' });
  });
});
