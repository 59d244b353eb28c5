import { randomUUID } from 'node:crypto';
import { getAddress, type Hex, keccak256, numberToHex, pad, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { StubError, StubNode } from '../chain/stub-node.ts';
import { newWallet } from '../fixtures/keys.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';

const CHAIN = 'eip155:31337';
/** A chain with a long past. */
const LONG = 'eip155:4444';
const TOKEN = getAddress(`0x${'aa'.repeat(20)}`);
const NATIVE = { caip19: `${CHAIN}/slip44:60`, symbol: 'COIN', name: 'Coin', decimals: 18 };
const USDX = { caip19: `${CHAIN}/erc20:${TOKEN}`, symbol: 'USDX', name: 'Dollar', decimals: 6 };
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const PATIENCE = { timeout: 20_000, interval: 20 };

const newAddress = (): Hex => privateKeyToAccount(generatePrivateKey()).address;

describe.each(databasesOf(import.meta.url))('the history of an address on %s', (database) => {
  let node: StubNode;
  let long: StubNode;
  let opened: TestApp;
  let root: TestClient;

  beforeAll(async () => {
    node = await StubNode.start();
    long = await StubNode.start(4444);
    const chains = {
      ...node.settings({ assets: [NATIVE, USDX], prices: { [USDX.caip19]: '1.00' } }),
      ...long.settings({ assets: [{ ...USDX, caip19: `${LONG}/erc20:${TOKEN}` }] }),
      'eip155:31338': { rpcUrls: ['http://127.0.0.1:1'] },
    };
    opened = await openTestApp(database, { CUSTOS_CHAINS: JSON.stringify(chains) });
    root = await createSubOrganization(opened.root, 'History');
    opened.app.sends.start();
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await node[Symbol.asyncDispose]();
    await long[Symbol.asyncDispose]();
  });

  const ask = (address: string, paginationOptions?: object, extra: object = {}, client = root) =>
    client.query('list_eth_transaction_history', { address, caip2: CHAIN, paginationOptions, ...extra });
  const hashesOf = (transactions: readonly { transactionHash: string }[]) =>
    transactions.map(({ transactionHash }) => transactionHash);

  async function pay(client: TestClient, from: string, to: string, value: string): Promise<string> {
    const { sendTransactionStatusId } = await client.run('eth_send_transaction', {
      from,
      caip2: CHAIN,
      calls: [{ to, value }],
    });
    return await vi.waitFor(async () => {
      const { body } = await client.query('get_send_transaction_status', { sendTransactionStatusId });
      expect(body.txStatus).toBe('INCLUDED');
      return body.eth.txHash;
    }, PATIENCE);
  }

  test('has what was sent here and transfers of tokens, the newest first', async () => {
    const { address } = await newWallet(root, `Wallet ${randomUUID()}`);
    const other = newAddress();
    const received = node.mineTransfer(TOKEN, other, address, 2_500_000n);
    const receivedIn = node.head;
    const paid = await pay(root, address, other, '1500000000000000000');
    const paidIn = node.head;
    const given = node.mineTransfer(TOKEN, address, other, 7n);
    // Tokens that nobody configured, and transfers between others, are not shown.
    node.mineTransfer(`0x${'cc'.repeat(20)}`, other, address, 1n);
    node.mineTransfer(TOKEN, other, newAddress(), 1n);

    const { status, body } = await ask(address);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(hashesOf(body.transactions)).toEqual([given, paid, received]);
    expect(body.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
    const fee = { amount: String(21_000n * 1_000_000_000n), caip19: NATIVE.caip19 };
    expect(body.transactions[1]).toEqual({
      transactionHash: paid,
      block: {
        number: String(paidIn.number),
        hash: paidIn.hash,
        timestamp: new Date(paidIn.timestamp * 1000).toISOString(),
      },
      status: 'FINALIZED',
      origin: 'TURNKEY',
      from: address,
      to: other,
      fee,
      transfers: [
        {
          direction: 'OUT',
          asset: NATIVE,
          amount: '1500000000000000000',
          counterparty: other,
          display: { crypto: '1.5', usd: '' },
        },
      ],
      turnkey: {
        sponsored: false,
        activityFingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        submittedAt: expect.stringMatching(RFC_3339),
      },
      executionFailed: false,
    });
    expect(body.transactions[2]).toEqual({
      transactionHash: received,
      block: {
        number: String(receivedIn.number),
        hash: receivedIn.hash,
        timestamp: new Date(receivedIn.timestamp * 1000).toISOString(),
      },
      status: 'FINALIZED',
      origin: 'EXTERNAL',
      from: other,
      to: TOKEN,
      fee,
      transfers: [
        {
          direction: 'IN',
          asset: USDX,
          amount: '2500000',
          counterparty: other,
          display: { crypto: '2.5', usd: '2.50' },
        },
      ],
      executionFailed: false,
    });
    expect(body.transactions[0].transfers).toMatchObject([{ direction: 'OUT', amount: '7', counterparty: other }]);
  });

  test('of another organization tells nothing of who sent what', async () => {
    const { address } = await newWallet(root, `Wallet ${randomUUID()}`);
    const paid = await pay(root, address, newAddress(), '5');
    const received = node.mineTransfer(TOKEN, newAddress(), address, 1n);
    expect(hashesOf((await ask(address)).body.transactions)).toEqual([received, paid]);
    const sibling = await createSubOrganization(opened.root, `Sibling ${randomUUID()}`);
    const { transactions } = (await ask(address, undefined, {}, sibling)).body;
    expect(hashesOf(transactions)).toEqual([received]);
    expect(JSON.stringify(transactions)).not.toContain('turnkey');
  });

  test('is read page by page, each transaction once, while new blocks come', async () => {
    const { address } = await newWallet(root, `Wallet ${randomUUID()}`);
    const other = newAddress();
    const hashes: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      hashes.unshift(node.mineTransfer(TOKEN, other, address, 1n));
      hashes.unshift(await pay(root, address, other, '1'));
    }
    // Several in one block, in its order.
    const together = ['one', 'two', 'three'].map((name) => keccak256(toHex(`${name} ${address}`)));
    const topics = [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      pad(other),
      pad(address as Hex),
    ];
    node.mine(
      together.map((hash) => ({
        transaction: {
          hash,
          raw: hash,
          from: other.toLowerCase() as Hex,
          to: TOKEN,
          value: 0n,
          nonce: 0,
          input: '0x',
          isReverted: false,
        },
        logs: [
          {
            address: TOKEN.toLowerCase() as Hex,
            topics: topics.map((topic) => topic.toLowerCase() as Hex),
            data: pad('0x1'),
          },
        ],
      })),
    );
    hashes.unshift(...together.reverse());
    expect(hashesOf((await ask(address)).body.transactions)).toEqual(hashes);

    for (const limit of [1, 2, 4, 9]) {
      const seen: string[] = [];
      let after: string | undefined;
      for (let pages = 0; pages < 20; pages += 1) {
        const { body } = await ask(address, { limit: String(limit), ...(after && { after }) });
        expect(body.transactions.length).toBeLessThanOrEqual(limit);
        expect(body.pageInfo.hasPreviousPage).toBe(after !== undefined);
        seen.push(...hashesOf(body.transactions));
        if (!body.pageInfo.hasNextPage) break;
        after = body.pageInfo.endCursor;
        node.mine();
      }
      expect(seen, `pages of ${limit}`).toEqual(hashes);
    }

    // And back again, from the oldest.
    for (const limit of [2, 4]) {
      const seen: string[] = [];
      let before = (await ask(address)).body.pageInfo.endCursor;
      for (let pages = 0; pages < 20; pages += 1) {
        const { body } = await ask(address, { limit: String(limit), before });
        expect(body.pageInfo.hasNextPage).toBe(true);
        seen.unshift(...hashesOf(body.transactions));
        before = body.pageInfo.startCursor;
        if (!body.pageInfo.hasPreviousPage) break;
      }
      expect(seen, `pages of ${limit}`).toEqual(hashes.slice(0, -1));
    }
  });

  test('is final when the chain says so, or deep enough where it does not say', async () => {
    const { address } = await newWallet(root, `Wallet ${randomUUID()}`);
    node.mineTransfer(TOKEN, newAddress(), address, 1n);
    const status = async () => (await ask(address)).body.transactions[0].status;
    expect(await status()).toBe('FINALIZED');
    try {
      node.unfinalBlocks = 1;
      expect(await status()).toBe('CONFIRMED');
      node.mine();
      expect(await status()).toBe('FINALIZED');
      node.unfinalBlocks = undefined;
      expect(await status()).toBe('CONFIRMED');
      for (let blocks = 0; blocks < 63; blocks += 1) node.mine();
      expect(await status()).toBe('FINALIZED');
    } finally {
      node.unfinalBlocks = 0;
    }
  });

  test('shows what failed in a block, which moved nothing', async () => {
    const { address } = await newWallet(root, `Wallet ${randomUUID()}`);
    const other = newAddress();
    const paid = await pay(root, address, other, '9');
    expect((await ask(address)).body.transactions).toMatchObject([{ executionFailed: false, transfers: [{}] }]);
    const block = node.blocks.find(({ mined }) => mined.some(({ transaction }) => transaction.hash === paid));
    const [one] = block?.mined ?? [];
    if (block === undefined || one === undefined) throw new Error('it is in no block');
    node.blocks[block.number] = {
      ...block,
      mined: [{ ...one, transaction: { ...one.transaction, isReverted: true } }],
    };
    expect((await ask(address)).body.transactions).toMatchObject([{ executionFailed: true, transfers: [] }]);
    // A block that is no longer in the chain takes its transactions with it.
    node.blocks[block.number] = { ...block, mined: [] };
    expect((await ask(address)).body.transactions).toEqual([]);
  });

  describe('over many blocks', () => {
    const HEAD = 250_000;
    const hashOf = (number: number) => keccak256(toHex(`long ${number}`));
    const address = newAddress();
    const other = newAddress();
    /** Blocks with a transfer to the address. */
    const busy = [200_000, 120_000, 5];
    let ranges: number[];

    beforeAll(() => {
      long.methods.set('eth_getBlockByNumber', (tag: string) => {
        const number = tag.startsWith('0x') ? Number(tag) : HEAD;
        return {
          number: numberToHex(number),
          hash: hashOf(number),
          parentHash: hashOf(number - 1),
          timestamp: numberToHex(1_600_000_000 + number),
          transactions: busy.includes(number) ? [keccak256(hashOf(number))] : [],
        };
      });
      long.methods.set(
        'eth_getLogs',
        ({ fromBlock, toBlock, topics }: { fromBlock: Hex; toBlock: Hex; topics: unknown[] }) => {
          ranges.push(Number(toBlock) - Number(fromBlock) + 1);
          if (topics.length === 2) return [];
          return busy
            .filter((number) => number >= Number(fromBlock) && number <= Number(toBlock))
            .map((number) => ({
              address: TOKEN,
              topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', pad(other), pad(address)],
              data: pad('0x1'),
              blockNumber: numberToHex(number),
              blockHash: hashOf(number),
              transactionHash: keccak256(hashOf(number)),
              logIndex: '0x0',
            }));
        },
      );
    });

    async function readAll(limit = '10'): Promise<{ numbers: number[][]; windows: number[] }> {
      const numbers: number[][] = [];
      const windows: number[] = [];
      let after: string | undefined;
      for (let pages = 0; pages < 50; pages += 1) {
        ranges = [];
        const { body } = await ask(address, { limit, ...(after && { after }) }, { caip2: LONG });
        numbers.push(body.transactions.map(({ block }: { block: { number: string } }) => Number(block.number)));
        windows.push(ranges.length / 2);
        if (!body.pageInfo.hasNextPage) break;
        after = body.pageInfo.endCursor;
      }
      return { numbers, windows };
    }

    test('asks for no more than twenty windows at a time, and goes on from there', async () => {
      const { numbers, windows } = await readAll();
      expect(numbers).toEqual([[200_000], [120_000], [5]]);
      expect(windows).toEqual([20, 20, 11]);
      expect(Math.max(...ranges)).toBe(5000);
    });

    test('and forth again', async () => {
      ranges = [];
      const [page] = [(await ask(address, undefined, { caip2: LONG })).body];
      let before = page.pageInfo.endCursor;
      // From the oldest that was seen to the newest; the first stop is behind the newest transaction.
      const { body } = await ask(address, { before }, { caip2: LONG });
      expect(body.transactions).toMatchObject([{ block: { number: '200000' } }]);
      expect(body.pageInfo.hasPreviousPage).toBe(false);
      before = body.pageInfo.startCursor;
      expect((await ask(address, { before }, { caip2: LONG })).body.transactions).toEqual([]);
    });

    test('stops as soon as the page is full', async () => {
      ranges = [];
      const { body } = await ask(address, { limit: '1' }, { caip2: LONG });
      expect(body.transactions).toHaveLength(1);
      // It looks for one more, to know whether there is a next page, as far as it may.
      expect(ranges).toHaveLength(40);
      expect((await readAll('1')).numbers.flat()).toEqual([200_000, 120_000, 5]);
    });

    test('asks for fewer blocks where a node answers no more', async () => {
      const usual = long.methods.get('eth_getLogs');
      try {
        long.methods.set('eth_getLogs', ((filter: { fromBlock: Hex; toBlock: Hex; topics: unknown[] }) => {
          if (Number(filter.toBlock) - Number(filter.fromBlock) >= 1000) {
            throw new StubError('query exceeds max block range 1000');
          }
          return (usual as (filter: object) => unknown)(filter);
        }) as never);
        ranges = [];
        const { body } = await ask(address, undefined, { caip2: LONG });
        expect(body.transactions).toEqual([]);
        expect(body.pageInfo.hasNextPage).toBe(true);
        expect(new Set(ranges)).toEqual(new Set([625]));
      } finally {
        long.methods.set('eth_getLogs', usual as never);
      }
    });
  });

  test('refuses cursors that it did not give, and other ways to page', async () => {
    const { address } = await newWallet(root, `Wallet ${randomUUID()}`);
    for (let index = 0; index < 2; index += 1) node.mineTransfer(TOKEN, newAddress(), address, 1n);
    const { endCursor } = (await ask(address, { limit: '1' })).body.pageInfo;
    expect((await ask(address, { after: endCursor })).status).toBe(200);
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const [owner] = JSON.parse(Buffer.from(endCursor, 'base64url').toString());
    expect((await ask(address, { after: encoded([owner, '1', 0]) })).status).toBe(200);
    for (const paginationOptions of [
      { before: endCursor, after: endCursor },
      { before: randomUUID() },
      { after: randomUUID() },
      { after: `${endCursor}=` },
      { after: encoded([owner, '-1', 0]) },
      { after: encoded([owner, '1', -1]) },
      { after: encoded([owner, '1', 0.5]) },
      { after: encoded(['0'.repeat(16), '1', 0]) },
      { after: encoded([owner, '9'.repeat(30), 0]) },
      { after: encoded(null) },
      { after: 'a'.repeat(10_000) },
      { limit: '0' },
      { limit: '101' },
      { limit: 'ten' },
    ]) {
      const answer = await ask(address, paginationOptions);
      expect(answer, JSON.stringify(paginationOptions)).toMatchObject({
        status: 400,
        body: { errorCode: 'REQUEST_INVALID' },
      });
    }
    // A cursor is good for the history that it is from.
    const other = newAddress();
    node.mineTransfer(TOKEN, address, other, 1n);
    expect((await ask(other, { after: endCursor })).status).toBe(400);
    expect((await ask(address, { after: endCursor }, {}, opened.root)).status).toBe(400);
    const away = await ask(address, undefined, { caip2: 'eip155:31338' });
    expect(away).toMatchObject({ status: 503, body: { errorCode: 'RPC_CALL_ERROR' } });
  });
});
