import { type Hex, pad } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { StubError } from '../../chain/stub-node.ts';
import { BalanceScene, newAddress, newHash, TOKEN, TRANSFER } from '../fixtures/balances.ts';

describe('the watch over balances among nodes that fail', () => {
  let scene: BalanceScene;
  beforeAll(async () => {
    scene = await BalanceScene.open('sqlite');
  });
  afterAll(() => scene[Symbol.asyncDispose]());
  beforeEach(() => scene.begin());

  const block = (number: number, isFull: boolean, more: object = {}) => {
    const { hash, parentHash, timestamp, mined } = scene.node.blocks[number] as (typeof scene.node.blocks)[number];
    const transactions = mined.map(({ transaction: { hash: id, from, to } }) =>
      isFull ? { hash: id, from, to, value: '0x9', blockNumber: `0x${number.toString(16)}` } : id,
    );
    const head = { number: `0x${number.toString(16)}`, timestamp: `0x${timestamp.toString(16)}` };
    return { ...head, hash, parentHash, transactions, ...more };
  };
  const wrongBlock = (change: (isFull: boolean) => object | null) => (tag: string, isFull: boolean) => {
    const number = tag === 'latest' ? scene.node.head.number : Number(tag);
    if (number < scene.node.head.number || tag === 'latest') return block(number, isFull);
    const changed = change(isFull);
    return changed && block(number, isFull, changed);
  };
  const faults: Readonly<Record<string, Readonly<Record<string, (...params: never[]) => unknown>>>> = {
    'no receipt': { eth_getTransactionReceipt: () => null },
    'a receipt of another block': {
      eth_getTransactionReceipt: (hash: string) => ({
        transactionHash: hash,
        blockHash: pad('0x1'),
        blockNumber: '0x1',
        status: '0x0',
        gasUsed: '0x1',
        effectiveGasPrice: '0x1',
        from: newAddress(),
        to: newAddress(),
        logs: [],
      }),
    },
    'the logs of a node that is behind': {
      eth_getLogs: (filter: { blockHash?: string }) => {
        if (filter.blockHash !== undefined) throw new StubError('unknown block');
        return [];
      },
    },
    'the balances of a node that is behind': {
      eth_getBalance: () => {
        throw new StubError('header not found');
      },
    },
    'garbage for balances': { eth_getBalance: () => ({ balance: 1 }) },
    'garbage for logs': { eth_getLogs: () => 'none' },
    'a log without a block': { eth_getLogs: () => [{ address: TOKEN, topics: [TRANSFER], data: '0x' }] },
    'no block': { eth_getBlockByNumber: wrongBlock(() => null) },
    'a block with another number': { eth_getBlockByNumber: wrongBlock(() => ({ number: '0x1' })) },
    'a block with garbage for transactions': {
      eth_getBlockByNumber: wrongBlock((isFull) => (isFull ? { transactions: [7] } : {})),
    },
    'a block that does not fit onto the last one': {
      eth_getBlockByNumber: wrongBlock(() => ({ parentHash: pad('0x2') })),
    },
    'another block when it is asked for again': {
      eth_getBlockByNumber: wrongBlock((isFull) => (isFull ? {} : { hash: pad('0x3') })),
    },
  };
  test.each(Object.entries(faults))('%s: the block waits until they are well', async (_name, methods) => {
    const { number, hash, turn } = await scene.cursor();
    scene.pay(9n);
    for (const [method, answer] of Object.entries(methods)) scene.node.methods.set(method, answer);
    const watch = scene.watch();
    expect(await watch.step().catch(() => false)).toBe(false);
    expect(await scene.cursor()).toMatchObject({ number, hash, turn });
    scene.node.methods.clear();
    await scene.finish(watch);
    expect(await scene.told(2)).toEqual(['deposit 7 USDX', 'deposit 9 ETH']);
  });

  test('a block with more transfers than can be read at once is read by its receipts', async () => {
    const from = newAddress();
    const to = (receiver: Hex, data: Hex) => ({
      address: TOKEN,
      topics: [TRANSFER, pad(from), pad(receiver)] as const,
      data: pad(data),
    });
    const other = to(newAddress(), '0x1');
    scene.node.mine(
      [1, 2, 3].map((nonce) => {
        const hash = newHash();
        const input: Hex = '0x';
        const transaction = { hash, raw: hash, from, to: TOKEN, value: 0n, nonce, input, isReverted: false };
        return { transaction, logs: [...Array<typeof other>(3500).fill(other), to(scene.address, '0x5')] };
      }),
    );
    await scene.finish(scene.watch());
    expect(await scene.told(3)).toEqual(Array(3).fill('deposit 5 USDX'));
  });

  test('a block that is too long to be read at once is read by its transactions', async () => {
    const input: Hex = `0x${'00'.repeat(3 * 1024 * 1024)}`;
    const to = scene.address;
    scene.node.balances.set(to, 3n);
    scene.node.mine(
      [1, 2, 3].map((nonce) => {
        const hash = newHash();
        const transaction = { hash, raw: hash, from: newAddress(), to, value: 1n, nonce, input, isReverted: false };
        return { transaction, logs: [] };
      }),
    );
    await scene.finish(scene.watch());
    expect(await scene.told(3)).toEqual(Array(3).fill('deposit 1 ETH'));
  });
});
