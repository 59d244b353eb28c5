import { randomUUID } from 'node:crypto';
import { getAddress, type Hex, pad } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEvmReader } from '../../../src/balances/evm-reader.ts';
import { Watch, type WatchParts } from '../../../src/balances/watch.ts';
import { type OrganizationId, randomId } from '../../../src/lib/ids.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { StubError, StubNode } from '../../chain/stub-node.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { DATABASES } from '../../harness/databases.ts';
import { type Hook, WebhookReceiver } from '../../harness/webhook-receiver.ts';
import { newWallet } from '../../hostile/keys.ts';
import { LOOPBACK } from '../fixtures/webhooks.ts';

// One step of the watch at a time, with nodes and processes that fail at the worst moment.

const CHAIN = 'eip155:31337';
const PLACE = { caip2: CHAIN, level: 'confirmed' } as const;
const TOKEN = getAddress(`0x${'aa'.repeat(20)}`);
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const USDX = { caip19: `${CHAIN}/erc20:${TOKEN}`, symbol: 'USDX', name: 'Dollar', decimals: 6 };

const newAddress = (): Hex => privateKeyToAccount(generatePrivateKey()).address.toLowerCase() as Hex;
const newHash = (): Hex => generatePrivateKey();

describe.each(DATABASES)('the watch over balances on %s', (database) => {
  let node: StubNode;
  let opened: TestApp;
  let receiver: WebhookReceiver;
  let address: string;
  let hook: Hook;

  beforeAll(async () => {
    node = await StubNode.start();
    receiver = await WebhookReceiver.start();
    const env = { ...LOOPBACK, CUSTOS_CHAINS: JSON.stringify(node.settings({ assets: [USDX] })) };
    opened = await openTestApp(database, env);
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
    await node[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    node.methods.clear();
    ({ address } = await newWallet(opened.root, randomUUID()));
    hook = receiver.hook();
    opened.advance(20_000);
    await opened.root.run('create_webhook_endpoint', {
      url: hook.url,
      name: randomUUID(),
      subscriptions: [
        { eventType: 'BALANCE_CONFIRMED_UPDATES', filtersJson: JSON.stringify({ addresses: [address] }) },
      ],
    });
    await until(watch());
    opened.advance(20_000);
  });

  const cursor = async () => (await opened.app.storage.read.balanceWatch.cursors())[0];

  /** As a process has it that has just been started. */
  function watch(parts: Partial<WatchParts> = {}): Watch {
    const { config, nodes, storage, observe, webhooks, clock, elapsed } = opened.app;
    const chain = config.chains.get(CHAIN);
    if (chain === undefined) throw new Error('the chain is configured');
    const all = {
      storage,
      clock,
      elapsed,
      newId: randomId,
      owner: 'the only one',
      catchUpBlocks: 1000,
      wake: (ids: Parameters<WatchParts['wake']>[0]) => webhooks.wake(ids),
      observe,
      ...parts,
    };
    const made = new Watch(all, chain, PLACE, createEvmReader(nodes.evm(CHAIN), 'confirmed', observe));
    made.roots = new Set([opened.root.organizationId as OrganizationId]);
    return made;
  }

  /** All there is to do, up to the newest block. */
  async function until(one: Watch): Promise<void> {
    while (await one.step());
    expect(await cursor()).toMatchObject({ number: node.head.number, hash: node.head.hash });
  }

  /** A block that pays the address, by a transaction and in a token. */
  function pay(amount: bigint): void {
    const key = address.toLowerCase();
    node.balances.set(key, (node.balances.get(key) ?? 0n) + amount);
    const hash = newHash();
    const [from, token] = [newAddress(), TOKEN.toLowerCase() as Hex];
    const transaction = { hash, raw: hash, from, to: key as Hex, value: amount, nonce: 0, input: '0x' as Hex };
    const log = { address: token, topics: [TRANSFER, pad(from), pad(key as Hex)] as Hex[], data: pad('0x7') };
    node.mine([{ transaction: { ...transaction, isReverted: false }, logs: [log] }]);
  }

  const told = () =>
    hook.arrivals.map(({ body: { msg } }) => `${msg.operation} ${msg.asset.amount} ${msg.asset.symbol}`).sort();

  test('a process that dies before it commits leaves everything to the next one, with the same ids', async () => {
    const { storage } = opened.app;
    const ids: string[] = [];
    // Everything is written, and then nothing is.
    const dying = new Proxy(storage, {
      get: (real, name) =>
        name !== 'write'
          ? Reflect.get(real, name, real)
          : (unit: Parameters<Storage['write']>[0]) =>
              storage.write(async (store) => {
                const { webhooks } = store;
                const insertEvents = webhooks.insertEvents.bind(webhooks);
                webhooks.insertEvents = async (events) => {
                  await insertEvents(events);
                  ids.push(...events.map(({ id }) => id));
                };
                const outcome = await unit(store);
                if (ids.length > 0) throw new Error('killed');
                return outcome;
              }),
    });
    const before = await cursor();
    pay(5n);
    await expect(watch({ storage: dying, owner: 'the dying one' }).step()).rejects.toThrow('killed');
    expect(ids).toHaveLength(2);
    expect(await cursor()).toMatchObject({ number: before?.number, hash: before?.hash });
    // Its claim is still there, and ends by itself.
    expect(await watch({ owner: 'the next one' }).step()).toBe(false);
    opened.advance(20_000);
    await until(watch({ owner: 'the next one' }));
    await hook.count(2);
    expect(told()).toEqual(['deposit 5 ETH', 'deposit 7 USDX']);
    expect(hook.arrivals.map(({ eventId }) => eventId).sort()).toEqual(ids.sort());
  });

  test('a process that is so slow that another takes over tells nothing twice, and neither keeps the other from it', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld = false;
    const reached = new Promise<void>((resolve) => {
      node.methods.set('eth_getTransactionReceipt', async (hash: string) => {
        if (!isHeld) {
          isHeld = true;
          resolve();
          await held;
        }
        node.methods.delete('eth_getTransactionReceipt');
        return receiptOf(hash);
      });
    });
    pay(6n);
    const receiptOf = (hash: string) => ({
      transactionHash: hash,
      blockHash: node.head.hash,
      blockNumber: `0x${node.head.number.toString(16)}`,
      status: '0x1',
      gasUsed: '0x1',
      effectiveGasPrice: '0x1',
      from: newAddress(),
      to: address,
      contractAddress: null,
      logs: [],
    });
    const slow = watch({ owner: 'slow' }).step();
    await reached;
    opened.advance(20_000);
    const { storage, clock } = opened.app;
    const taken = await storage.write(({ balanceWatch }) =>
      balanceWatch.claim(PLACE, 'another', clock(), clock() + 15_000),
    );
    expect(taken).toBe(true);
    release();
    // The other one has the claim but has not come further: the work that is done counts.
    expect(await slow).toBe(true);
    await until(watch({ owner: 'another' }));
    await hook.count(2);
    expect(told()).toEqual(['deposit 6 ETH', 'deposit 7 USDX']);
  });

  const block = (number: number, isFull: boolean, more: object = {}) => {
    const { hash, parentHash, timestamp, mined } = node.blocks[number] as (typeof node.blocks)[number];
    const transactions = mined.map(({ transaction: { hash: id, from, to } }) =>
      isFull ? { hash: id, from, to, value: '0x9', blockNumber: `0x${number.toString(16)}` } : id,
    );
    const head = { number: `0x${number.toString(16)}`, timestamp: `0x${timestamp.toString(16)}` };
    return { ...head, hash, parentHash, transactions, ...more };
  };
  const wrongBlock = (change: (isFull: boolean) => object | null) => (tag: string, isFull: boolean) => {
    const number = tag === 'latest' ? node.head.number : Number(tag);
    if (number < node.head.number || tag === 'latest') return block(number, isFull);
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
  test.each(Object.entries(faults))('%s: the block waits until the nodes are well', async (_name, methods) => {
    const before = await cursor();
    pay(9n);
    for (const [method, answer] of Object.entries(methods)) node.methods.set(method, answer);
    const one = watch();
    for (let attempt = 0; attempt < 2; attempt += 1) expect(await one.step().catch(() => false)).toBe(false);
    expect(await cursor()).toMatchObject({ number: before?.number, hash: before?.hash, turn: before?.turn });
    node.methods.clear();
    await until(one);
    await hook.count(2);
    expect(told()).toEqual(['deposit 7 USDX', 'deposit 9 ETH']);
  });

  test('where a reorganisation replaces the very block that a watch began with, the new one is told', async () => {
    await opened.app.storage.write(async ({ balanceWatch }) => {
      const at = await cursor();
      if (at !== undefined) await balanceWatch.end(at);
    });
    node.mine();
    await until(watch());
    node.undo(1);
    pay(3n);
    node.mine();
    await until(watch());
    await hook.count(2);
    expect(told()).toEqual(['deposit 3 ETH', 'deposit 7 USDX']);
  });

  test('a watch that begins again tells nothing of what was told before, and goes on behind it', async () => {
    const before = await cursor();
    pay(4n);
    await until(watch());
    await hook.count(2);
    await opened.app.storage.write(async ({ balanceWatch }) => {
      const at = await cursor();
      if (at !== undefined) await balanceWatch.end(at);
      // A node that was behind has said what the newest block is.
      if (before !== undefined) await balanceWatch.begin(before);
    });
    await until(watch());
    pay(8n);
    await until(watch());
    await hook.count(4);
    expect(told()).toEqual(['deposit 4 ETH', 'deposit 7 USDX', 'deposit 7 USDX', 'deposit 8 ETH']);
  });

  test('a block with more transfers than a node tells at once is read by its receipts', async () => {
    const [from, token] = [newAddress(), TOKEN.toLowerCase() as Hex];
    const topics = [TRANSFER, pad(from), pad(address.toLowerCase() as Hex)] as Hex[];
    const others = [TRANSFER, pad(from), pad(newAddress())] as Hex[];
    const mined = Array.from({ length: 3 }, (_, index) => {
      const hash = newHash();
      const transaction = { hash, raw: hash, from, to: token, value: 0n, nonce: index, input: '0x' as Hex };
      const logs = Array.from({ length: 3500 }, () => ({ address: token, topics: others, data: pad('0x1') }));
      return {
        transaction: { ...transaction, isReverted: false },
        logs: [...logs, { address: token, topics, data: pad('0x5') }],
      };
    });
    node.mine(mined);
    await until(watch());
    await hook.count(3);
    expect(told()).toEqual(Array(3).fill('deposit 5 USDX'));
  });

  test('a block that is too long to be read at once is read by its transactions', async () => {
    const long: Hex = `0x${'00'.repeat(3 * 1024 * 1024)}`;
    const to = address.toLowerCase() as Hex;
    node.balances.set(to, 3n);
    const mined = Array.from({ length: 3 }, () => {
      const hash = newHash();
      const from = newAddress();
      const transaction = { hash, raw: hash, from, to, value: 1n, nonce: 0, input: long, isReverted: false };
      return { transaction, logs: [] };
    });
    node.mine(mined);
    await until(watch());
    await hook.count(3);
    expect(told()).toEqual(Array(3).fill('deposit 1 ETH'));
  });
});
