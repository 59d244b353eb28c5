// Sends as users of the server SDK have them, to a real node: what is on the chain afterwards decides.
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { type Address, encodeFunctionData, erc20Abi, formatUnits, type Hex, parseEther, parseUnits } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCliWith } from '../packages/server/test/faults/support.ts';
import { newKeyPair } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { type Anvil, startAnvil } from './chain/anvil.ts';
import { artifact, testArtifact } from './chain/artifacts.ts';
import { type ChainClient, connectTo, type Deployed, fundedAccount } from './chain/deploy.ts';
import { poll } from './chain/poll.ts';
import { connect, credentialsOf, errorCodeOf, fresh, refusal, userOf } from './sdk.ts';

const CHAIN = 'eip155:31337' as never;
const OPERATOR = fundedAccount(3);
const operatorKey = `0x${Buffer.from(OPERATOR.getHdKey().privateKey ?? []).toString('hex')}`;

let anvil: Anvil;
let chain: ChainClient;
let token: Deployed;
let service: TestServer;
let root: TurnkeyApiClient;

beforeAll(async () => {
  anvil = await startAnvil();
  chain = connectTo(anvil);
  token = await chain.deploy(testArtifact('TestToken'), ['Test Dollar', 'TUSD', 6]);
  const batch = await chain.deploy(artifact('CustosBatch'));
  const chains = {
    'eip155:31337': {
      rpcUrls: [anvil.url],
      pollMs: 100,
      replaceAfterSeconds: 1,
      batchContract: batch.address,
      operatorAddress: OPERATOR.address,
      assets: [{ caip19: `eip155:31337/erc20:${token.address}`, symbol: 'TUSD', name: 'Test Dollar', decimals: 6 }],
      prices: { [`eip155:31337/erc20:${token.address}`]: '1.01', 'eip155:31337/slip44:60': '2000' },
    },
  };
  service = await TestServer.start({ env: { CUSTOS_CHAINS: JSON.stringify(chains), CUSTOS_LOG_LEVEL: 'warn' } });
  root = connect(service.baseUrl, service.credentials);
  const imported = await runCliWith(
    operatorKey,
    service.environment,
    'chains',
    'import-key',
    '--chain',
    'eip155:31337',
  );
  expect(imported).toMatchObject({ code: 0 });
  expect(imported.stdout + imported.stderr).not.toContain(operatorKey.slice(2));
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await anvil?.stop();
});

async function newWallet(client = root, ether = '10'): Promise<Address> {
  const { addresses } = await client.createWallet({
    walletName: fresh('wallet'),
    accounts: [
      {
        curve: 'CURVE_SECP256K1',
        pathFormat: 'PATH_FORMAT_BIP32',
        path: "m/44'/60'/0'/0/0",
        addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
      },
    ],
  });
  const [address] = addresses as [Address];
  if (ether !== '0') await anvil.setBalance(address, parseEther(ether));
  return address;
}

const transfer = (to: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
const call = (to: Address, value = '0', data?: Hex) => ({ to, value, ...(data !== undefined && { data }) });
const tokensOf = (owner: Address): Promise<bigint> => chain.read(token, 'balanceOf', [owner]);

type Wish = Omit<Parameters<TurnkeyApiClient['ethSendTransaction']>[0], 'caip2'>;
const send = async (wish: Wish, client = root): Promise<string> =>
  (await client.ethSendTransaction({ caip2: CHAIN, ...wish })).sendTransactionStatusId;

const statusOf = (sendTransactionStatusId: string, client = root) =>
  client.getSendTransactionStatus({ sendTransactionStatusId });
const ended = (id: string, client = root) =>
  poll(
    () => statusOf(id, client),
    ({ txStatus }) => txStatus === 'INCLUDED' || txStatus === 'FAILED',
  );

describe('a send', () => {
  test('of ether is signed, sent and told of when it is in a block', async () => {
    const from = await newWallet();
    const to = fundedAccount(8).address;
    const before = await chain.reader.getBalance({ address: to });
    const status = await ended(await send({ from, calls: [call(to, '12345')] }));
    expect(status).toMatchObject({ txStatus: 'INCLUDED', eth: { txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) } });
    expect(await chain.reader.getBalance({ address: to })).toBe(before + 12345n);
    const { from: sender, nonce } = await chain.reader.getTransaction({ hash: status.eth?.txHash as Hex });
    expect([sender.toLowerCase(), nonce]).toEqual([from.toLowerCase(), 0]);
    expect(await root.getNonces({ address: from, caip2: CHAIN, nonce: true })).toMatchObject({ nonce: '1' });
  });

  test('of the older version has one call', async () => {
    const from = await newWallet();
    const parameters = { from, to: fundedAccount(8).address, value: '7', caip2: 'eip155:31337' };
    const { activity } = await root.request<
      unknown,
      { activity: { result: Record<string, { sendTransactionStatusId: string }> } }
    >('/public/v1/submit/eth_send_transaction', {
      type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
      timestampMs: String(Date.now()),
      organizationId: service.credentials.organizationId,
      parameters,
    });
    const id = activity.result.ethSendTransactionResult?.sendTransactionStatusId ?? '';
    expect(await ended(id)).toMatchObject({ txStatus: 'INCLUDED' });
  });

  test('two hundred at once from one wallet all land, in order, without gap or double', async () => {
    const from = await newWallet();
    const ids = await Promise.all(
      Array.from({ length: 200 }, (_, index) => send({ from, calls: [call(fundedAccount(8).address, String(index))] })),
    );
    const statuses: Awaited<ReturnType<typeof ended>>[] = [];
    // One after the other: two hundred that ask at once would slow down what they wait for.
    for (const id of ids) statuses.push(await ended(id));
    expect(new Set(statuses.map(({ txStatus }) => txStatus))).toEqual(new Set(['INCLUDED']));
    const hashes = statuses.map(({ eth }) => eth?.txHash as Hex);
    expect(new Set(hashes).size).toBe(200);
    const transactions = await Promise.all(hashes.map((hash) => chain.reader.getTransaction({ hash })));
    expect(transactions.map(({ nonce }) => nonce).sort((one, other) => one - other)).toEqual(
      Array.from({ length: 200 }, (_, index) => index),
    );
    expect(await chain.reader.getTransactionCount({ address: from })).toBe(200);
    // Ids are in the order of acceptance, and so are the nonces.
    const byId = ids
      .map((id, index) => ({ id, nonce: transactions[index]?.nonce ?? -1 }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(byId.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 200 }, (_, index) => index));
  });

  test('that a contract reverts is told with its reason', async () => {
    const from = await newWallet();
    const failed = await ended(
      await send({ from, calls: [call(token.address, '0', transfer(fundedAccount(8).address, 5n))] }),
    );
    expect(failed).toMatchObject({
      txStatus: 'FAILED',
      txError: expect.stringContaining('ERC20InsufficientBalance'),
      error: { eth: { revertChain: [{ errorType: 'custom', custom: { errorName: 'ERC20InsufficientBalance' } }] } },
    });
    const params = JSON.parse(failed.error?.eth?.revertChain?.[0]?.custom?.paramsJson ?? '{}');
    expect(params).toMatchObject({ balance: '0', needed: '5' });
    // With the gas fixed it goes out and fails in its block; the next one has the next nonce.
    const data = transfer(fundedAccount(8).address, 5n);
    const out = await ended(await send({ from, calls: [call(token.address, '0', data)], gasLimit: '100000' }));
    expect(out).toMatchObject({ txStatus: 'FAILED', txError: expect.stringContaining('ERC20InsufficientBalance') });
    const receipt = await chain.reader.getTransactionReceipt({ hash: out.eth?.txHash as Hex });
    expect(receipt.status).toBe('reverted');
    expect(await ended(await send({ from, calls: [call(fundedAccount(8).address, '1')] }))).toMatchObject({
      txStatus: 'INCLUDED',
    });
    expect(await chain.reader.getTransactionCount({ address: from })).toBe(2);
  });

  test('that no block takes is replaced by one that pays more', async () => {
    const from = await newWallet();
    await anvil.request('evm_setAutomine', [false]);
    try {
      const id = await send({ from, calls: [call(fundedAccount(8).address, '1')] });
      const first = await poll(
        () => statusOf(id),
        ({ eth }) => eth?.txHash !== undefined,
      );
      const second = await poll(
        () => statusOf(id),
        ({ eth }) => eth?.txHash !== undefined && eth.txHash !== first.eth?.txHash,
      );
      expect(second.txStatus).toBe('BROADCASTING');
    } finally {
      await anvil.request('evm_setAutomine', [true]);
    }
    await anvil.mine();
    await poll(
      () => chain.reader.getTransactionCount({ address: from }),
      (count) => count === 1,
    );
  });

  test('with a fixed nonce replaces by hand', async () => {
    const from = await newWallet();
    await anvil.request('evm_setAutomine', [false]);
    const gwei = (amount: number) => String(amount * 1e9);
    try {
      const fees = { maxFeePerGas: gwei(5), maxPriorityFeePerGas: gwei(1) };
      const id = await send({ from, calls: [call(fundedAccount(8).address, '1')], ...fees });
      await poll(
        () => statusOf(id),
        ({ txStatus }) => txStatus === 'BROADCASTING',
      );
      await poll(
        () => anvil.request('eth_getTransactionCount', [from, 'pending']),
        (count) => count === '0x1',
      );
      const more = { maxFeePerGas: gwei(9), maxPriorityFeePerGas: gwei(2) };
      const other = await send({ from, calls: [call(fundedAccount(8).address, '2')], nonce: '0', ...more });
      const { eth } = await poll(
        () => statusOf(other),
        ({ txStatus }) => txStatus === 'BROADCASTING',
      );
      // It is called so right before the node hears of it.
      await poll(
        () => anvil.request('eth_getTransactionByHash', [eth?.txHash]),
        (transaction) => transaction !== null,
      );
      await anvil.mine();
      expect(await ended(other)).toMatchObject({ txStatus: 'INCLUDED' });
      expect(await chain.reader.getTransactionCount({ address: from })).toBe(1);
      // It is called failed when that has been so for a while.
      expect(await statusOf(id)).toMatchObject({ txStatus: 'BROADCASTING' });
    } finally {
      await anvil.request('evm_setAutomine', [true]);
    }
  });

  test('of several calls is one transaction, and all or nothing', async () => {
    const from = await newWallet();
    await chain.write(fundedAccount(0), token, 'mint', [from, 100n]);
    const to = fundedAccount(7).address;
    const before = await tokensOf(to);
    const done = await ended(
      await send({
        from,
        calls: [call(token.address, '0', transfer(to, 40n)), call(to, '9'), call(token.address, '0', transfer(to, 2n))],
      }),
    );
    expect(done).toMatchObject({ txStatus: 'INCLUDED' });
    expect(await tokensOf(to)).toBe(before + 42n);
    const failed = await ended(
      await send({
        from,
        calls: [call(token.address, '0', transfer(to, 1n)), call(token.address, '0', transfer(to, 1000n))],
      }),
    );
    expect(failed).toMatchObject({ txStatus: 'FAILED', txError: expect.stringContaining('ERC20InsufficientBalance') });
    expect(await tokensOf(to)).toBe(before + 42n);
    // The account's nonce went on by its transaction and its authorization, and it can send as before.
    expect(await ended(await send({ from, calls: [call(to, '1')] }))).toMatchObject({ txStatus: 'INCLUDED' });
    expect(await ended(await send({ from, calls: [call(to, '1'), call(to, '2')] }))).toMatchObject({
      txStatus: 'INCLUDED',
    });
  });

  test('that is sponsored costs the wallet nothing', async () => {
    const from = await newWallet(root, '0');
    await chain.write(fundedAccount(0), token, 'mint', [from, 100n]);
    const to = fundedAccount(7).address;
    const before = await tokensOf(to);
    const ids = await Promise.all(
      [1n, 2n, 3n].map((amount) =>
        send({ from, sponsor: true, calls: [call(token.address, '0', transfer(to, amount))] }),
      ),
    );
    for (const id of ids) expect(await ended(id)).toMatchObject({ txStatus: 'INCLUDED' });
    expect(await tokensOf(to)).toBe(before + 6n);
    expect(await chain.reader.getBalance({ address: from })).toBe(0n);
    const failed = await ended(
      await send({ from, sponsor: true, calls: [call(token.address, '0', transfer(to, 1000n))] }),
    );
    expect(failed).toMatchObject({ txStatus: 'FAILED', txError: expect.stringContaining('ERC20InsufficientBalance') });
  });

  test('that is sponsored counts what it cost, and is not sent beyond a limit', async () => {
    const { organizationId } = service.credentials;
    const limit = async (parameters: object): Promise<string> =>
      (
        await root.command<unknown, { gasUsageConfigId: string }>(
          '/public/v1/submit/upsert_gas_usage_config',
          {
            type: 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG',
            timestampMs: String(Date.now()),
            organizationId,
            parameters: { subOrgWindowLimitUsd: '0', windowDurationMinutes: '60', ...parameters },
          },
          'upsertGasUsageConfigResult',
        )
      ).gasUsageConfigId;
    const micros = async (): Promise<bigint> => parseUnits((await root.getGasUsage({})).usageUsd, 6);
    const from = await newWallet(root, '1');
    const sponsored = async () =>
      await ended(await send({ from, sponsor: true, calls: [call(fundedAccount(7).address, '1')] }));
    try {
      const id = await limit({ orgWindowLimitUsd: '1000000' });
      const before = await micros();
      const { txStatus, eth } = await sponsored();
      expect(txStatus).toBe('INCLUDED');
      const receipt = await chain.reader.getTransactionReceipt({ hash: eth?.txHash as Hex });
      expect(receipt.from.toLowerCase()).toBe(OPERATOR.address.toLowerCase());
      // In gwei, rounded up; one is two millionths of a dollar.
      const gwei = (receipt.gasUsed * receipt.effectiveGasPrice + 10n ** 9n - 1n) / 10n ** 9n;
      expect(await micros()).toBe(before + 2n * gwei);
      expect(await limit({ orgWindowLimitUsd: formatUnits(await micros(), 6) })).toBe(id);
      const spent = await chain.reader.getBalance({ address: OPERATOR.address });
      expect(await sponsored()).toMatchObject({
        txStatus: 'FAILED',
        txError: expect.stringContaining('orgWindowLimitUsd'),
      });
      expect(await chain.reader.getBalance({ address: OPERATOR.address })).toBe(spent);
      expect(await root.getGasUsage({})).toMatchObject({ windowDurationMinutes: 60 });
    } finally {
      await limit({ orgWindowLimitUsd: '0', enabled: false });
    }
    expect(await sponsored()).toMatchObject({ txStatus: 'INCLUDED' });
  });

  test('that was signed before goes out as it is', async () => {
    const from = await newWallet();
    const { serializeTransaction } = await import('viem');
    const unsigned = serializeTransaction({
      ...{ type: 'eip1559', chainId: 31337, nonce: 0, to: fundedAccount(8).address, value: 3n, gas: 21_000n },
      ...{ maxFeePerGas: 9_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
    });
    const { signedTransaction } = await root.signTransaction({
      signWith: from,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: unsigned.slice(2),
    });
    const { activity } = await root.request<
      unknown,
      { activity: { result: Record<string, { transactionHash: Hex }> } }
    >('/public/v1/submit/eth_send_raw_transaction', {
      type: 'ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION',
      timestampMs: String(Date.now()),
      organizationId: service.credentials.organizationId,
      parameters: { signedTransaction: `0x${signedTransaction}`, caip2: 'eip155:31337' },
    });
    const hash = activity.result.ethSendRawTransactionResult?.transactionHash as Hex;
    const receipt = await poll(
      () => chain.reader.getTransactionReceipt({ hash }).catch(() => undefined),
      (found) => found !== undefined,
    );
    expect(receipt).toMatchObject({ status: 'success' });
    expect(await ended(await send({ from, calls: [call(fundedAccount(8).address, '1')] }))).toMatchObject({
      txStatus: 'INCLUDED',
    });
  });
});

describe('around sends', () => {
  test('policies judge every call', async () => {
    const from = await newWallet();
    await chain.write(fundedAccount(0), token, 'mint', [from, 100n]);
    const key = newKeyPair();
    const { userIds } = await root.createUsers({ users: [{ ...userOf(fresh('payer'), key), userTags: [] }] });
    const payer = connect(service.baseUrl, credentialsOf(service.credentials.organizationId, key));
    const to = fundedAccount(7).address;
    const allowed = call(token.address, '0', transfer(to, 1n));
    expect(errorCodeOf(await refusal(send({ from, calls: [allowed] }, payer)))).toBe('REQUEST_NOT_AUTHORIZED');
    await root.createPolicy({
      policyName: fresh('tokens only'),
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${userIds[0]}')`,
      condition: `activity.type == 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2' && eth.tx.to == '${token.address.toLowerCase()}' && eth.tx.chain_id == 31337`,
      notes: '',
    });
    expect(await ended(await send({ from, calls: [allowed, allowed] }, payer), payer)).toMatchObject({
      txStatus: 'INCLUDED',
    });
    expect(errorCodeOf(await refusal(send({ from, calls: [allowed, call(to, '1')] }, payer)))).toBe(
      'REQUEST_NOT_AUTHORIZED',
    );
  });

  test('balances, assets and history are those of the chain', async () => {
    const from = await newWallet();
    await chain.write(fundedAccount(0), token, 'mint', [from, 2_500_000n]);
    const to = fundedAccount(6).address;
    await ended(await send({ from, calls: [call(token.address, '0', transfer(to, 500_000n))] }));
    const { balances } = await root.getWalletAddressBalances({ address: from, caip2: CHAIN });
    const held = balances?.find(({ symbol }) => symbol === 'TUSD');
    expect(held).toMatchObject({ balance: '2000000', decimals: 6, display: { crypto: '2', usd: '2.02' } });
    const ether = balances?.find(({ caip19 }) => caip19 === 'eip155:31337/slip44:60');
    expect(BigInt(ether?.balance ?? 0)).toBe(await chain.reader.getBalance({ address: from }));
    const { assets } = await root.listSupportedAssets({ caip2: CHAIN });
    expect(assets?.map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(['TUSD', 'ETH']));
    const history = await root.listEthTransactionHistory({ address: from, caip2: CHAIN });
    expect(
      history.transactions.map(({ transfers }) => transfers.map(({ direction, amount }) => [direction, amount])),
    ).toEqual([[['OUT', '500000']], [['IN', '2500000']]]);
  });

  test('what is not configured says so', async () => {
    const from = await newWallet();
    const elsewhere = root.ethSendTransaction({ from, caip2: 'eip155:1', calls: [call(from)] });
    const error = await refusal(elsewhere);
    expect(errorCodeOf(error)).toBe('CHAIN_NOT_CONFIGURED');
    expect(error.message).toContain('CUSTOS_CHAINS');
  });
});
