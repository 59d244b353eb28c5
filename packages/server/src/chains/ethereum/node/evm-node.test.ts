import { decodeFunctionData, encodeFunctionResult, keccak256, multicall3Abi } from 'viem';
import { describe, expect, test } from 'vitest';
import { chainSettings } from '../../../../test/chain/chain-settings.ts';
import { type FakeNode, Refusal, sendJson, startFakeNode } from '../../../../test/harness/json-rpc-node.ts';
import type { EvmLogFilter, EvmNode, Hex } from '../../nodes/node.ts';
import type { NodeOptions } from '../../nodes/rpc.ts';
import { blockWith } from './block-with.ts';
import { createEvmNode } from './evm-node.ts';
import { MULTICALL3 } from './multicall.ts';

const word = (digit: string): Hex => `0x${digit.repeat(64)}`;
const address = (digit: string): Hex => `0x${digit.repeat(40)}`;

const HASH = word('a');
const BLOCK_HASH = word('b');
const TOPIC = word('c');
const BLOCK = {
  number: '0x10',
  hash: BLOCK_HASH,
  parentHash: word('d'),
  timestamp: '0x66000000',
  baseFeePerGas: '0x3b9aca00',
  transactions: [word('1'), HASH],
};
const LOG = {
  address: address('E'),
  topics: [TOPIC, word('2')],
  data: '0xABCD',
  blockNumber: '0x10',
  blockHash: BLOCK_HASH,
  transactionHash: HASH,
  logIndex: '0x0',
  removed: false,
};
const RECEIPT = {
  transactionHash: HASH,
  blockNumber: '0x10',
  blockHash: BLOCK_HASH,
  status: '0x1',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x1',
  from: address('F'),
  to: address('e'),
  contractAddress: null,
  logs: [LOG],
};
const TRANSACTION = {
  hash: HASH,
  from: address('f'),
  to: null,
  value: '0xde0b6b3a7640000',
  nonce: '0x7',
  input: '0x00',
  blockNumber: null,
};
const READ_LOG = {
  address: address('e'),
  topics: [TOPIC, word('2')],
  data: '0xabcd',
  blockNumber: 16n,
  blockHash: BLOCK_HASH,
  transactionHash: HASH,
  logIndex: 0,
};

const startNode = (answers: Readonly<Record<string, unknown>> = {}): Promise<FakeNode> =>
  startFakeNode({ eth_chainId: '0x7a69', ...answers });

const evmNode = (nodes: readonly FakeNode[], options: NodeOptions = {}): EvmNode =>
  createEvmNode(chainSettings({ rpcUrls: nodes.map(({ url }) => url) }), { retryPauseMs: 0, ...options });

/** The one node of a chain, which answers so. */
async function only(answers: Readonly<Record<string, unknown>>): Promise<EvmNode> {
  return evmNode([await startNode(answers)]);
}

const ILL_SHAPED = { name: 'NodeError', kind: 'ill-shaped' };

test('a node of another chain is not asked anything', async () => {
  const [theirs, ours] = [await startNode({ eth_getBalance: '0x1' }), await startNode({ eth_getBalance: '0x2' })];
  expect(await evmNode([theirs, ours]).balance(HASH)).toBe(1n);
  theirs.answers.set('eth_chainId', '0x1');
  theirs.requests.length = 0;
  const reports: string[][] = [];
  const node = evmNode([theirs, ours], { report: (...report) => reports.push(report) });
  expect(await node.balance(address('1'))).toBe(2n);
  expect(reports).toEqual([[theirs.host, 'the node is of the chain eip155:1, not of eip155:31337']]);
  expect(theirs.requests).toEqual(['eth_chainId']);
});

describe('what a node says of the chain', () => {
  test('plain values', async () => {
    const fake = await startNode({
      eth_getTransactionCount: (_address: Hex, at: string) => (at === 'pending' ? '0x3' : '0x2'),
      eth_getBalance: '0xde0b6b3a7640000',
      eth_getCode: '0x60FF',
      eth_getStorageAt: (_address: Hex, slot: Hex) => (slot === '0x0' ? '0x' : `0x${'0'.repeat(63)}5`),
    });
    const node = evmNode([fake]);
    expect(await node.transactionCount(address('1'), 'latest')).toBe(2);
    expect(await node.transactionCount(address('1'), 'pending')).toBe(3);
    expect(await node.balance(address('1'))).toBe(10n ** 18n);
    expect(await node.code(address('1'))).toBe('0x60ff');
    expect(await node.storageAt(address('1'), '0x0')).toBe(word('0'));
    expect(await node.storageAt(address('1'), '0x1')).toBe(`0x${'0'.repeat(63)}5`);
  });

  test('a block', async () => {
    const asked: unknown[] = [];
    const node = await only({
      eth_getBlockByNumber: (at: string, isWhole: boolean) => {
        asked.push([at, isWhole]);
        if (at === '0x11') return null;
        return at === 'safe' ? new Refusal(-32602, 'unsupported block tag') : BLOCK;
      },
    });
    const expected = {
      number: 16n,
      hash: BLOCK_HASH,
      parentHash: word('d'),
      timestamp: 0x66000000,
      baseFeePerGas: 10n ** 9n,
      transactions: [word('1'), HASH],
    };
    expect(await node.block(16n)).toEqual(expected);
    expect(await node.block('latest')).toEqual(expected);
    expect(await node.block('finalized')).toEqual(expected);
    expect(await node.block(17n)).toBeUndefined();
    expect(await node.block('safe')).toBeUndefined();
    expect(asked.slice(0, 2)).toEqual([
      ['0x10', false],
      ['latest', false],
    ]);
  });

  test('there is always a latest block', async () => {
    const [empty, full] = [await startNode({ eth_getBlockByNumber: BLOCK }), await startNode()];
    full.answers.set('eth_getBlockByNumber', BLOCK);
    expect(await evmNode([empty]).block('latest')).toMatchObject({ number: 16n });
    empty.answers.set('eth_getBlockByNumber', null);
    await expect(evmNode([empty]).block('latest')).rejects.toMatchObject(ILL_SHAPED);
    expect(await evmNode([empty, full]).block('latest')).toMatchObject({ number: 16n });
  });

  test('an error about a block is either that it is not there or that the node does not serve', async () => {
    const fake = await startNode({ eth_getBlockByNumber: new Refusal(-32000, 'header not found') });
    const node = evmNode([fake]);
    expect(await node.block(16n)).toBeUndefined();
    await expect(node.block('latest')).rejects.toMatchObject({ kind: 'unavailable' });
    fake.answers.set('eth_getBlockByNumber', new Refusal(-32000, 'daily request count exceeded'));
    await expect(node.block(16n)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('a receipt', async () => {
    const node = await only({ eth_getTransactionReceipt: RECEIPT });
    expect(await node.receipt(HASH)).toEqual({
      transactionHash: HASH,
      blockNumber: 16n,
      blockHash: BLOCK_HASH,
      isSuccess: true,
      gasUsed: 21_000n,
      effectiveGasPrice: 1n,
      from: address('f'),
      to: address('e'),
      contractAddress: undefined,
      logs: [READ_LOG],
    });
    const reverted = { ...RECEIPT, status: '0x0', to: null, contractAddress: address('9'), logs: [] };
    expect(await (await only({ eth_getTransactionReceipt: reverted })).receipt(HASH)).toMatchObject({
      isSuccess: false,
      to: undefined,
      contractAddress: address('9'),
    });
    expect(await (await only({ eth_getTransactionReceipt: null })).receipt(HASH)).toBeUndefined();
    const waiting = { ...RECEIPT, blockHash: null, blockNumber: null };
    expect(await (await only({ eth_getTransactionReceipt: waiting })).receipt(HASH)).toBeUndefined();
  });

  test('a transaction', async () => {
    const node = await only({ eth_getTransactionByHash: TRANSACTION });
    expect(await node.transaction(HASH)).toEqual({
      hash: HASH,
      from: address('f'),
      to: undefined,
      value: 10n ** 18n,
      nonce: 7,
      input: '0x00',
      blockNumber: undefined,
    });
    const mined = { ...TRANSACTION, to: address('E'), blockNumber: '0x10' };
    expect(await (await only({ eth_getTransactionByHash: mined })).transaction(HASH)).toMatchObject({
      to: address('e'),
      blockNumber: 16n,
    });
    expect(await (await only({ eth_getTransactionByHash: null })).transaction(HASH)).toBeUndefined();
  });

  test('the fees: twice the base fee and the tip', async () => {
    const node = await only({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: '0x5' });
    expect(await node.fees()).toEqual({ maxFeePerGas: 2n * 10n ** 9n + 5n, maxPriorityFeePerGas: 5n });
  });

  test('the fees where no tip is told, or where there is no base fee', async () => {
    const price = { eth_gasPrice: '0x3b9aca07' };
    const untold = await only({ eth_getBlockByNumber: BLOCK, ...price });
    expect(await untold.fees()).toEqual({ maxFeePerGas: 2n * 10n ** 9n + 7n, maxPriorityFeePerGas: 7n });
    const { baseFeePerGas, ...old } = BLOCK;
    const legacy = await only({ eth_getBlockByNumber: old, eth_maxPriorityFeePerGas: '0x5', ...price });
    expect(await legacy.fees()).toEqual({ maxFeePerGas: 10n ** 9n + 7n, maxPriorityFeePerGas: 10n ** 9n + 7n });
  });

  test('a fee that would burn a fortune is not believed', async () => {
    const million = '0x38d7ea4c68000';
    expect(
      (await (await only({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: million })).fees())
        .maxPriorityFeePerGas,
    ).toBe(10n ** 15n);
    const greedy = await only({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: '0x38d7ea4c68001' });
    await expect(greedy.fees()).rejects.toMatchObject(ILL_SHAPED);
    const base = { ...BLOCK, baseFeePerGas: '0x38d7ea4c68001' };
    await expect(
      (await only({ eth_getBlockByNumber: base, eth_maxPriorityFeePerGas: '0x5' })).fees(),
    ).rejects.toMatchObject(ILL_SHAPED);
  });

  describe('the fees of several nodes', () => {
    const GWEI = 10n ** 9n;
    const asks = (gwei: bigint) => ({
      eth_getBlockByNumber: { ...BLOCK, baseFeePerGas: `0x${((gwei * GWEI) / 2n).toString(16)}` },
      eth_maxPriorityFeePerGas: '0x0',
    });
    const nodesThatAsk = (...all: bigint[]) => Promise.all(all.map((gwei) => startNode(asks(gwei))));
    const feeOf = async (node: EvmNode) => (await node.fees()).maxFeePerGas / GWEI;
    const set = (node: FakeNode, gwei: bigint) => {
      for (const [method, answer] of Object.entries(asks(gwei))) node.answers.set(method, answer);
    };

    test('are their median, whoever is asked first', async () => {
      expect(await feeOf(evmNode(await nodesThatAsk(900n, 20n, 22n)))).toBe(22n);
      expect(await feeOf(evmNode(await nodesThatAsk(0n, 20n, 22n)))).toBe(20n);
      // Of an even number the lower one in the middle: one node alone raises nothing.
      expect(await feeOf(evmNode(await nodesThatAsk(900n, 20n)))).toBe(20n);
      expect(await feeOf(evmNode(await nodesThatAsk(900n, 24n, 22n, 20n)))).toBe(22n);
    });

    test('are those of whoever answers, and one that hangs is waited for once', async () => {
      const [liar, slow, honest] = await nodesThatAsk(900n, 20n, 22n);
      if (liar === undefined || slow === undefined || honest === undefined) throw new Error('three nodes');
      slow.misbehave = (response, body, asked) => {
        // It tells its chain, and nothing after that.
        if (!Array.isArray(asked) && asked.method === 'eth_chainId') sendJson(response, body);
      };
      const node = evmNode([liar, slow, honest], { patienceMs: 100, timeoutMs: 2000 });
      expect(await feeOf(node)).toBe(22n);
      const before = slow.requests.length;
      expect(await feeOf(node)).toBe(22n);
      expect(slow.requests).toHaveLength(before);
    });

    test('of a node that is left alone are believed up to three times what was known', async () => {
      let nowMs = 0;
      const [liar, honest] = await nodesThatAsk(900n, 20n);
      if (liar === undefined || honest === undefined) throw new Error('two nodes');
      const node = evmNode([liar, honest], { clock: () => nowMs });
      expect(await feeOf(node)).toBe(20n);
      honest.answers.set('eth_getBlockByNumber', new Refusal(-32005, 'limit exceeded'));
      await expect(node.fees()).rejects.toThrow(/only node that answers asks for 900000000000 wei .* 20000000000 of/);
      set(liar, 60n);
      expect(await feeOf(node)).toBe(60n);
      // It cannot climb by steps either, but a price that stays is believed in the end.
      set(liar, 61n);
      await expect(node.fees()).rejects.toThrow('more than three times');
      nowMs += 5 * 60_000;
      expect(await feeOf(node)).toBe(61n);
    });
  });

  test('logs', async () => {
    const asked: unknown[] = [];
    const node = await only({
      eth_getLogs: (filter: unknown) => {
        asked.push(filter);
        return [LOG];
      },
    });
    const filter: EvmLogFilter = {
      address: [address('E')],
      topics: [TOPIC, null],
      fromBlock: 1n,
      toBlock: 16n,
    };
    expect(await node.logs(filter)).toEqual([READ_LOG]);
    expect(asked).toEqual([{ address: [address('E')], topics: [TOPIC, null], fromBlock: '0x1', toBlock: '0x10' }]);
    expect(await node.logs({ fromBlock: 16n, toBlock: 16n })).toHaveLength(1);
  });

  test('at most ten thousand logs', async () => {
    const many = (count: number): unknown[] =>
      Array.from({ length: count }, (_log, index) => ({ ...LOG, logIndex: `0x${index.toString(16)}` }));
    const fake = await startNode({ eth_getLogs: () => many(10_000) });
    const node = evmNode([fake]);
    expect(await node.logs({ fromBlock: 0n, toBlock: 16n })).toHaveLength(10_000);
    fake.answers.set('eth_getLogs', () => many(10_001));
    await expect(node.logs({ fromBlock: 0n, toBlock: 16n })).rejects.toMatchObject({ kind: 'too-large' });
  });
});

describe('a lie is not believed, and another node is asked', () => {
  const NO_ADDRESS = { fromBlock: 0n, toBlock: 16n } as const;
  const truth: Readonly<Record<string, unknown>> = {
    eth_getTransactionCount: '0x2',
    eth_getBalance: '0x2',
    eth_getCode: '0x60ff',
    eth_getStorageAt: word('0'),
    eth_call: '0x01',
    eth_estimateGas: '0x5208',
    eth_getBlockByNumber: BLOCK,
    eth_getTransactionReceipt: RECEIPT,
    eth_getTransactionByHash: TRANSACTION,
    eth_getLogs: [LOG],
  };
  const asks: Readonly<Record<string, (node: EvmNode) => Promise<unknown>>> = {
    eth_getTransactionCount: (node) => node.transactionCount(address('1'), 'latest'),
    eth_getBalance: (node) => node.balance(address('1')),
    eth_getCode: (node) => node.code(address('1')),
    eth_getStorageAt: (node) => node.storageAt(address('1'), '0x0'),
    eth_call: (node) => node.call({ to: address('1'), data: '0x' }),
    eth_estimateGas: (node) => node.estimateGas({ from: address('1') }),
    eth_getBlockByNumber: (node) => node.block(16n),
    eth_getTransactionReceipt: (node) => node.receipt(HASH),
    eth_getTransactionByHash: (node) => node.transaction(HASH),
    eth_getLogs: (node) => node.logs({ ...NO_ADDRESS, address: address('e'), topics: [TOPIC, [word('2'), word('3')]] }),
  };
  const lies: [string, string, unknown][] = [
    ['a count without 0x', 'eth_getTransactionCount', '2'],
    ['a count beyond all counts', 'eth_getTransactionCount', '0xffffffffffffffff'],
    ['a number for a balance', 'eth_getBalance', 2],
    ['a balance of more than 256 bits', 'eth_getBalance', `0x1${'0'.repeat(64)}`],
    ['a negative balance', 'eth_getBalance', '-0x1'],
    ['code with half a byte', 'eth_getCode', '0x6'],
    ['no storage', 'eth_getStorageAt', null],
    ['a call without a result', 'eth_call', null],
    ['no estimate', 'eth_estimateGas', {}],
    ['another block than the one asked for', 'eth_getBlockByNumber', { ...BLOCK, number: '0x11' }],
    ['a block without its hash', 'eth_getBlockByNumber', { ...BLOCK, hash: null }],
    ['a block with whole transactions', 'eth_getBlockByNumber', { ...BLOCK, transactions: [TRANSACTION] }],
    ['a list for a block', 'eth_getBlockByNumber', [BLOCK]],
    [
      "another transaction's receipt",
      'eth_getTransactionReceipt',
      { ...RECEIPT, transactionHash: word('9'), logs: [] },
    ],
    ['a receipt without a status', 'eth_getTransactionReceipt', { ...RECEIPT, status: undefined }],
    ['a receipt with a third status', 'eth_getTransactionReceipt', { ...RECEIPT, status: '0x2' }],
    ['a receipt with a short sender', 'eth_getTransactionReceipt', { ...RECEIPT, from: '0x12' }],
    [
      'a receipt with the log of another transaction',
      'eth_getTransactionReceipt',
      { ...RECEIPT, logs: [{ ...LOG, transactionHash: word('9') }] },
    ],
    [
      'a receipt with a log of another block',
      'eth_getTransactionReceipt',
      { ...RECEIPT, logs: [{ ...LOG, blockHash: word('9') }] },
    ],
    ['another transaction', 'eth_getTransactionByHash', { ...TRANSACTION, hash: word('9') }],
    ['a transaction without data', 'eth_getTransactionByHash', { ...TRANSACTION, input: undefined }],
    ['a log of another contract', 'eth_getLogs', [{ ...LOG, address: address('9') }]],
    ['a log with another topic', 'eth_getLogs', [{ ...LOG, topics: [word('9'), word('2')] }]],
    ['a log with another topic at a place with several', 'eth_getLogs', [{ ...LOG, topics: [TOPIC, word('9')] }]],
    ['a log with too few topics', 'eth_getLogs', [{ ...LOG, topics: [TOPIC] }]],
    ['a log of a later block', 'eth_getLogs', [{ ...LOG, blockNumber: '0x11' }]],
    ['a log of no block', 'eth_getLogs', [{ ...LOG, blockNumber: null, blockHash: null }]],
    ['a log that was removed', 'eth_getLogs', [{ ...LOG, removed: true }]],
    ['the same log twice', 'eth_getLogs', [LOG, LOG]],
    ['a log with five topics', 'eth_getLogs', [{ ...LOG, topics: [TOPIC, word('2'), TOPIC, TOPIC, TOPIC] }]],
    ['an object for logs', 'eth_getLogs', {}],
  ];

  test.each(lies)('%s (%s)', async (_what, method, lie) => {
    const ask = asks[method] as (node: EvmNode) => Promise<unknown>;
    const [liar, honest] = [await startNode(truth), await startNode(truth)];
    const right = await ask(evmNode([liar]));
    liar.answers.set(method, lie);
    await expect(ask(evmNode([liar]))).rejects.toMatchObject(ILL_SHAPED);
    expect(await ask(evmNode([liar, honest]))).toEqual(right);
    expect(honest.requests).toContain(method);
  });
});

describe('calls', () => {
  test('what is asked', async () => {
    const asked: unknown[] = [];
    const record = (...parameters: unknown[]): string => {
      asked.push(parameters);
      return '0x01';
    };
    const node = await only({ eth_call: record, eth_estimateGas: record });
    expect(await node.call({ to: address('1'), data: '0x12' })).toEqual({ ok: true, data: '0x01' });
    await node.call({ to: address('1'), data: '0x', from: address('2'), value: 16n }, 255n);
    const authorization = {
      chainId: 1,
      address: address('5'),
      nonce: 0,
      yParity: 1,
      r: `0x00${'1'.repeat(62)}`,
      s: '0x02',
    } as const;
    const estimate = { from: address('2'), data: '0x', value: 0n, nonce: 3, gas: 21_000n, maxFeePerGas: 2n } as const;
    expect(
      await node.estimateGas({ ...estimate, maxPriorityFeePerGas: 1n, authorizationList: [authorization] }),
    ).toEqual({ ok: true, gas: 1n });
    expect(asked).toEqual([
      [{ to: address('1'), data: '0x12' }, 'latest'],
      [{ from: address('2'), to: address('1'), data: '0x', value: '0x10' }, '0xff'],
      [
        {
          from: address('2'),
          data: '0x',
          value: '0x0',
          nonce: '0x3',
          gas: '0x5208',
          maxFeePerGas: '0x2',
          maxPriorityFeePerGas: '0x1',
          authorizationList: [
            { chainId: '0x1', address: address('5'), nonce: '0x0', yParity: '0x1', r: `0x${'1'.repeat(62)}`, s: '0x2' },
          ],
        },
      ],
    ]);
  });

  const data = '0x08C379A0';
  test.each([
    ['geth', new Refusal(3, 'execution reverted: no', data), '0x08c379a0'],
    ['geth without a reason', new Refusal(-32000, 'execution reverted'), undefined],
    ['nethermind', new Refusal(-32015, 'VM execution error.', `Reverted ${data}`), '0x08c379a0'],
    ['hardhat', new Refusal(-32603, 'Error: reverted with no', { message: 'no', data }), '0x08c379a0'],
    ['hardhat, nested', new Refusal(-32603, 'Error: reverted', { data: { data } }), undefined],
    ['besu', new Refusal(-32000, 'Execution reverted', data), '0x08c379a0'],
    ['a sender without money', new Refusal(-32000, 'insufficient funds for gas * price + value'), undefined],
    ['no gas', new Refusal(-32000, 'out of gas'), undefined],
  ])('a reverted call is an answer (%s)', async (_who, refusal, reverted) => {
    const node = await only({ eth_call: refusal, eth_estimateGas: refusal });
    const expected = { ok: false, message: refusal.error.message, data: reverted };
    expect(await node.call({ to: address('1'), data: '0x' })).toEqual(expected);
    expect(await node.estimateGas({ from: address('1'), to: address('2') })).toEqual(expected);
  });

  test.each([
    new Refusal(-32000, 'header not found'),
    new Refusal(-32000, 'missing trie node abc (path ) <nil>'),
    new Refusal(-32601, 'the method eth_call does not exist'),
    new Refusal(-32005, 'limit exceeded'),
    new Refusal(-32603, 'Internal error'),
    new Refusal(-32000, 'project ID request rate exceeded: too many requests'),
    new Refusal(-32000, 'World state unavailable'),
  ])('an error of the node is none of the call: $error.message', async (refusal) => {
    const [weak, strong] = [await startNode({ eth_call: '0x01' }), await startNode({ eth_call: '0x02' })];
    const call = { to: address('1'), data: '0x' } as const;
    expect(await evmNode([weak, strong]).call(call)).toEqual({ ok: true, data: '0x01' });
    weak.answers.set('eth_call', refusal);
    expect(await evmNode([weak, strong]).call(call)).toEqual({ ok: true, data: '0x02' });
  });
});

describe('many calls', () => {
  /** Answers each call with its own data; 0xdead reverts with a word, 0x90 without one. */
  const run = (data: Hex): { readonly success: boolean; readonly returnData: Hex } => {
    if (data === '0xdead') return { success: false, returnData: '0x0bad' };
    return data === '0x90' ? { success: false, returnData: '0x' } : { success: true, returnData: data };
  };
  interface Call {
    readonly to: Hex;
    readonly data: Hex;
  }
  const single = ({ data }: Call): unknown => {
    const { success, returnData } = run(data);
    return success ? returnData : new Refusal(3, 'execution reverted', returnData);
  };
  const multicall = (call: Call): unknown => {
    if (call.to !== MULTICALL3) return single(call);
    const { args } = decodeFunctionData({ abi: multicall3Abi, data: call.data });
    const [entries = []] = args as readonly (readonly { readonly callData: Hex }[])[];
    const result = entries.map(({ callData }) => run(callData));
    return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result });
  };
  const calls = (...data: Hex[]): { to: Hex; data: Hex }[] => data.map((one) => ({ to: address('1'), data: one }));

  test('go through the multicall contract where it is, in the order of the calls', async () => {
    const fake = await startNode({ eth_getCode: '0x60', eth_call: multicall });
    const node = evmNode([fake]);
    expect(await node.callMany(calls('0x01', '0xdead', '0x03'))).toEqual([
      { ok: true, data: '0x01' },
      { ok: false, message: 'execution reverted', data: '0x0bad' },
      { ok: true, data: '0x03' },
    ]);
    expect(fake.requests).toEqual(['eth_chainId', 'eth_getCode', 'eth_call']);
    const many = Array.from({ length: 250 }, (_call, index): Hex => `0x${(index + 0x1000).toString(16)}`);
    expect(await node.callMany(calls(...many))).toEqual(many.map((data) => ({ ok: true, data })));
    expect(fake.requests.slice(3)).toEqual([['eth_call', 'eth_call', 'eth_call']]);
  });

  test('one that fails without a word, or wants a sender, is asked alone', async () => {
    const fake = await startNode({ eth_getCode: '0x60', eth_call: multicall });
    const results = await evmNode([fake]).callMany([
      ...calls('0x90', '0x02'),
      { to: address('1'), data: '0x03', from: address('2') },
    ]);
    expect(results).toEqual([
      { ok: false, message: 'execution reverted', data: '0x' },
      { ok: true, data: '0x02' },
      { ok: true, data: '0x03' },
    ]);
    expect(fake.requests.slice(2)).toEqual([['eth_call', 'eth_call'], 'eth_call']);
  });

  test.each([
    ['fails', () => new Refusal(-32000, 'out of gas')],
    ['is no such contract', () => '0x'],
    ['answers too few', () => encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: [] })],
    ['answers nonsense', () => word('f')],
  ])('are asked one by one when the contract %s', async (_how, answer) => {
    const fake = await startNode({
      eth_getCode: '0x60',
      eth_call: (call: Call) => (call.to === MULTICALL3 ? answer() : single(call)),
    });
    expect(await evmNode([fake]).callMany(calls('0x01', '0xdead'))).toEqual([
      { ok: true, data: '0x01' },
      { ok: false, message: 'execution reverted', data: '0x0bad' },
    ]);
  });

  test('travel as one batch where there is no such contract, which is asked only once', async () => {
    const fake = await startNode({ eth_getCode: '0x', eth_call: multicall });
    const node = evmNode([fake]);
    for (let round = 0; round < 2; round += 1) {
      expect(await node.callMany(calls('0x01', '0x02'))).toEqual([
        { ok: true, data: '0x01' },
        { ok: true, data: '0x02' },
      ]);
    }
    expect(fake.requests).toEqual(['eth_chainId', 'eth_getCode', ['eth_call', 'eth_call'], ['eth_call', 'eth_call']]);
    expect(await node.callMany([])).toEqual([]);
  });
});

describe('a broadcast', () => {
  const RAW = '0x02c0ffee';

  test.each([
    ['the hash', keccak256(RAW), { kind: 'accepted' }],
    ['that it is known', new Refusal(-32000, 'already known'), { kind: 'known' }],
    ['that the nonce is used', new Refusal(-32000, 'nonce too low'), { kind: 'nonce-too-low' }],
    ['that another waits', new Refusal(-32000, 'replacement transaction underpriced'), { kind: 'underpriced' }],
    ['no', new Refusal(-32000, 'insufficient funds'), { kind: 'refused', message: 'insufficient funds' }],
  ])('a node answers %s, and no other is asked', async (_what, answer, outcome) => {
    const [fake, other] = [await startNode({ eth_sendRawTransaction: answer }), await startNode()];
    expect(await evmNode([fake, other]).broadcast(RAW)).toEqual(outcome);
    expect(fake.requests).toEqual(['eth_chainId', 'eth_sendRawTransaction']);
    expect(other.requests).toEqual([]);
  });

  test.each([
    ['another hash', word('9')],
    ['nothing', null],
    ['that its pool is full', new Refusal(-32000, 'txpool is full')],
    ['an error of its own', new Refusal(-32603, 'Internal error')],
  ])('a node answers %s: the next one is given it too', async (_what, answer) => {
    const [fake, other] = [await startNode(), await startNode({ eth_sendRawTransaction: keccak256(RAW) })];
    fake.answers.set('eth_sendRawTransaction', answer);
    expect(await evmNode([fake]).broadcast(RAW)).toMatchObject({ kind: 'uncertain' });
    expect(await evmNode([fake, other]).broadcast(RAW)).toEqual({ kind: 'accepted' });
    expect(other.requests).toContain('eth_sendRawTransaction');
  });

  test('a node that breaks off may have it', async () => {
    const [fake, other] = [await startNode(), await startNode()];
    other.answers.set('eth_sendRawTransaction', new Refusal(-32000, 'insufficient funds'));
    fake.misbehave = (response, body, asked) =>
      Object(asked).method === 'eth_sendRawTransaction' ? response.destroy() : sendJson(response, body);
    expect(await evmNode([fake, other]).broadcast(RAW)).toEqual({
      kind: 'uncertain',
      message: expect.stringContaining(fake.host),
    });
    expect(fake.requests.filter((method) => method === 'eth_sendRawTransaction')).toHaveLength(1);
  });
});

describe('whether a receipt is true', () => {
  const elsewhere = { ...RECEIPT, blockHash: word('9'), logs: [] };

  test.each<[string, unknown[], boolean | undefined, block?: unknown]>([
    ['no other node', [], undefined],
    ['another has it in the same block', [RECEIPT], true],
    ['another has it in another block', [elsewhere], false],
    ['another has another block in that place', [null], false, { ...BLOCK, hash: word('9') }],
    ['another is behind', [null], undefined, null],
    ['another has the block and not yet its receipts', [null], undefined, BLOCK],
    ['another does not answer', [new Refusal(-32603, 'Internal error')], undefined],
    ['one of two has it', [null, RECEIPT], true],
  ])('%s', async (_what, others, expected, block = null) => {
    const first = await startNode({ eth_getTransactionReceipt: RECEIPT });
    const rest = await Promise.all(
      others.map((answer) => startNode({ eth_getTransactionReceipt: answer, eth_getBlockByNumber: block })),
    );
    const node = evmNode([first, ...rest]);
    const receipt = await node.receipt(HASH);
    if (receipt === undefined) throw new Error('no receipt');
    first.requests.length = 0;
    expect(await node.confirmedElsewhere(receipt)).toBe(expected);
    expect(first.requests).toEqual([]);
  });

  test.each<[string, unknown[], boolean]>([
    ['none has one', [null, null], false],
    ['the first one has it', [RECEIPT, null], true],
    ['only another one has it', [null, RECEIPT], true],
    ['the other one does not answer', [null, new Refusal(-32603, 'Internal error')], false],
    ['the first one does not answer', [new Refusal(-32603, 'Internal error'), RECEIPT], true],
  ])('whether there is one anywhere: %s', async (_what, answers, expected) => {
    const nodes = await Promise.all(
      answers.map((answer) =>
        startNode({ eth_getTransactionReceipt: (hash: string) => (hash === HASH ? answer : null) }),
      ),
    );
    const node = evmNode(nodes);
    expect(await node.hasReceiptAnywhere([word('7'), HASH])).toBe(expected);
    for (const { requests } of nodes) expect(requests.flat()).toContain('eth_getTransactionReceipt');
    expect(await node.hasReceiptAnywhere([word('7')])).toBe(false);
    expect(await node.hasReceiptAnywhere([])).toBe(false);
  });

  test('when no node answers nobody knows whether there is a receipt', async () => {
    const nodes = [await startNode({ eth_getTransactionReceipt: null }), await startNode()];
    const node = evmNode(nodes);
    const unwell = new Refusal(-32603, 'Internal error');
    nodes[1]?.answers.set('eth_getTransactionReceipt', unwell);
    expect(await node.hasReceiptAnywhere([word('7'), HASH])).toBe(false);
    nodes[0]?.answers.set('eth_getTransactionReceipt', (hash: string) => (hash === HASH ? unwell : null));
    expect(await node.hasReceiptAnywhere([word('7'), HASH])).toBeUndefined();
    expect(await node.hasReceiptAnywhere([word('7')])).toBe(false);
    nodes[0]?.answers.set('eth_getTransactionReceipt', unwell);
    expect(await node.hasReceiptAnywhere([HASH])).toBeUndefined();
  });

  test('how many transactions each node that answers counts', async () => {
    const nodes = [await startNode({ eth_getTransactionCount: '0x7' }), await startNode(), await startNode()];
    nodes[1]?.answers.set('eth_getTransactionCount', new Refusal(-32603, 'Internal error'));
    nodes[2]?.answers.set('eth_getTransactionCount', (_address: string, at: string) =>
      at === 'latest' ? '0x5' : '0x9',
    );
    expect(await evmNode(nodes).transactionCounts(address('1'))).toEqual([7, 5]);
  });

  test('the node that served it is never the one that confirms it', async () => {
    const [first, second] = [await startNode({ eth_getTransactionReceipt: RECEIPT }), await startNode()];
    second.answers.set('eth_getTransactionReceipt', elsewhere);
    const node = evmNode([first, second]);
    const receipt = await node.receipt(HASH);
    if (receipt === undefined) throw new Error('no receipt');
    // The other node serves from here on.
    first.misbehave = (response) => response.destroy();
    second.answers.set('eth_getBalance', '0x1');
    expect(await node.balance(address('1'))).toBe(1n);
    first.misbehave = undefined;
    expect(await node.confirmedElsewhere(receipt)).toBe(false);
  });

  test.each<[string, unknown, boolean]>([
    ['its block is there and has it', BLOCK, true],
    ['its block is gone', null, false],
    ['another block is in its place', { ...BLOCK, hash: word('9') }, false],
    ['its block does not list it', { ...BLOCK, transactions: [] }, false],
  ])('%s', async (_what, block, expected) => {
    const node = await only({ eth_getTransactionReceipt: RECEIPT, eth_getBlockByNumber: block });
    const receipt = await node.receipt(HASH);
    if (receipt === undefined) throw new Error('no receipt');
    expect((await blockWith(node, receipt)) !== undefined).toBe(expected);
  });
});
