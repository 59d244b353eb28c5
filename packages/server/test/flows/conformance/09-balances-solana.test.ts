import { randomBytes, randomUUID } from 'node:crypto';
import { base58 } from '@scure/base';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BalanceWatchReader } from '../../../src/domains/balances/store.ts';
import { openTestApp } from '../../harness/app.ts';
import { startFakeNode } from '../../harness/json-rpc-node.ts';
import { WebhookReceiver } from '../../harness/webhook-receiver.ts';
import { LOOPBACK } from '../fixtures/webhooks.ts';

const key = (): string => base58.encode(randomBytes(32));
const GENESIS = key();
const CHAIN = `solana:${GENESIS.slice(0, 32)}`;
const MINT = key();
const TOKEN = { caip19: `${CHAIN}/token:${MINT}`, symbol: 'USDX', name: 'Dollar', decimals: 6 };
const PATIENCE = { timeout: 15_000, interval: 20 };

interface Block {
  readonly slot: number;
  readonly hash: string;
  readonly transactions?: readonly object[];
  readonly rewards?: readonly object[];
}

const tokenBalance = (owner: string, amount: string) => ({ owner, mint: MINT, uiTokenAmount: { amount } });

describe('events about balances on Solana', () => {
  test('tell of what transactions changed and of rewards, over slots without a block, and are corrected', async () => {
    const chain: Block[] = [{ slot: 10, hash: key() }];
    const head = () => chain.at(-1) as Block;
    const node = await startFakeNode({
      getGenesisHash: GENESIS,
      getSlot: () => head().slot,
      getBlocks: (from: number, to: number) =>
        chain.map(({ slot }) => slot).filter((slot) => slot >= from && slot <= to),
      getBlock: (slot: number) => {
        const index = chain.findIndex((block) => block.slot === slot);
        const { hash, transactions = [], rewards = [] } = chain[index] as Block;
        const parent = chain[index - 1];
        return {
          blockhash: hash,
          previousBlockhash: parent?.hash ?? GENESIS,
          parentSlot: parent?.slot ?? slot - 1,
          blockTime: 1_700_000_000 + slot,
          transactions,
          rewards,
        };
      },
    });
    const receiver = await WebhookReceiver.start();
    const settings = { [CHAIN]: { rpcUrls: [node.url], pollMs: 50, assets: [TOKEN] } };
    const opened = await openTestApp('sqlite', { ...LOOPBACK, CUSTOS_CHAINS: JSON.stringify(settings) });
    onTestFinished(async () => {
      await opened[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    });
    const account = {
      curve: 'CURVE_ED25519',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/501'/0'/0'",
      addressFormat: 'ADDRESS_FORMAT_SOLANA',
    };
    const { addresses } = await opened.root.run('create_wallet', { walletName: randomUUID(), accounts: [account] });
    const [address] = addresses as string[];
    const hook = receiver.hook();
    await opened.root.run('create_webhook_endpoint', {
      url: hook.url,
      name: 'Solana',
      subscriptions: [{ eventType: 'BALANCE_CONFIRMED_UPDATES' }],
    });
    opened.app.balances.start();
    const caughtUp = () =>
      vi.waitFor(async () => {
        const [cursor] = await opened.app.storage.read(BalanceWatchReader).cursors();
        expect(cursor?.number).toBe(head().slot);
      }, PATIENCE);
    await caughtUp();

    const [other, tokenAccount] = [key(), key()];
    const first = {
      transaction: { signatures: ['first'], accountKeys: [{ pubkey: other }, { pubkey: address }] },
      meta: { err: null, fee: 5000, preBalances: [100_000, 0], postBalances: [90_000, 5000] },
    };
    const second = {
      transaction: {
        signatures: ['second'],
        accountKeys: [other, address, tokenAccount].map((pubkey) => ({ pubkey })),
      },
      meta: {
        err: null,
        fee: 5000,
        preBalances: [90_000, 5000, 1],
        postBalances: [85_000, 5000, 1],
        preTokenBalances: [tokenBalance(address as string, '10')],
        postTokenBalances: [tokenBalance(address as string, '250')],
      },
    };
    // No block at 11 and 12.
    chain.push({ slot: 13, hash: key(), transactions: [first, second] });
    chain.push({ slot: 14, hash: key(), rewards: [{ pubkey: address, lamports: -7 }] });
    await hook.count(3);
    await caughtUp();
    chain.splice(-1, 1, { slot: 15, hash: key() }, { slot: 16, hash: key() });
    await hook.count(4);
    await caughtUp();
    const told = hook.arrivals.map(({ body: { msg } }) => {
      const { operation, asset, txHash, block } = msg;
      return `${operation} ${asset.amount} ${asset.symbol} ${txHash} ${block.number}`;
    });
    expect(told).toEqual([
      'deposit 5000 SOL first 13',
      'deposit 240 USDX second 13',
      'withdraw 7 SOL  14',
      'deposit 7 SOL  14',
    ]);
    expect(hook.arrivals[0]?.body.msg).toMatchObject({ address, caip2: CHAIN });

    // A node that lacks blocks says nothing against those that were told.
    chain.push({ slot: 17, hash: key(), rewards: [{ pubkey: address, lamports: 9 }] }, { slot: 18, hash: key() });
    const gap = (from: number, to: number) => (from <= 18 && to >= 18 ? [18] : []);
    const whole = node.answers.get('getBlocks');
    node.answers.set('getBlocks', gap);
    const asked = () => node.requests.filter((method) => method === 'getBlocks').length;
    const before = asked();
    await vi.waitFor(() => expect(asked()).toBeGreaterThan(before + 6), PATIENCE);
    expect((await opened.app.storage.read(BalanceWatchReader).cursors())[0]?.number).toBe(16);
    node.answers.set('getBlocks', whole);
    await hook.count(5);
    await caughtUp();
    const last = hook.arrivals.slice(4).map(({ body: { msg } }) => `${msg.operation} ${msg.asset.amount}`);
    expect(last).toEqual(['deposit 9']);
  });
});
