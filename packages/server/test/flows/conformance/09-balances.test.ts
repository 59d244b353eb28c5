import { randomUUID } from 'node:crypto';
import { getAddress, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BalanceWatchReader } from '../../../src/domains/balances/store.ts';
import { BalanceWatcher } from '../../../src/domains/balances/watcher.ts';
import { randomId } from '../../../src/lib/ids.ts';
import { StubError, StubNode } from '../../chain/stub-node.ts';
import { newWallet } from '../../fixtures/keys.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { type Arrival, type Hook, WebhookReceiver } from '../../harness/webhook-receiver.ts';
import { LOOPBACK } from '../fixtures/webhooks.ts';

const CHAIN = 'eip155:31337';
const TOKEN = getAddress(`0x${'aa'.repeat(20)}`);
const COIN = { caip19: `${CHAIN}/slip44:60`, symbol: 'COIN', name: 'Coin', decimals: 18 };
const USDX = { caip19: `${CHAIN}/erc20:${TOKEN}`, symbol: 'USDX', name: 'Dollar', decimals: 6 };
const FEE = 21_000n * 1_000_000_000n;
const PATIENCE = { timeout: 15_000, interval: 20 };
const BOTH = ['BALANCE_CONFIRMED_UPDATES', 'BALANCE_FINALIZED_UPDATES'];

const newAddress = (): Hex => privateKeyToAccount(generatePrivateKey()).address;
const brief = ({ body: { type, msg } }: Arrival): string =>
  `${type} ${msg.operation} ${msg.asset.amount} ${msg.asset.symbol} ${msg.txHash} ${msg.block.hash}`;

describe.each(databasesOf(import.meta.url))('events about balances on %s', (database) => {
  let node: StubNode;
  let opened: TestApp;
  let receiver: WebhookReceiver;
  let sub: TestClient;

  beforeAll(async () => {
    node = await StubNode.start();
    receiver = await WebhookReceiver.start();
    const chains = node.settings({ assets: [COIN, USDX] });
    opened = await openTestApp(database, {
      ...LOOPBACK,
      CUSTOS_CHAINS: JSON.stringify(chains),
      CUSTOS_BALANCE_CATCH_UP_BLOCKS: '20',
    });
    sub = await createSubOrganization(opened.root, 'Watched');
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
    await node[Symbol.asyncDispose]();
  });

  const cursors = () => opened.app.storage.read(BalanceWatchReader).cursors();
  const watcher = (chains = opened.app.config.chains): BalanceWatcher => {
    const { config, nodes, storage, observe, webhooks } = opened.app;
    return new BalanceWatcher({
      chains,
      nodes,
      storage,
      clock: opened.app.clock,
      elapsed: opened.app.elapsed,
      newId: randomId,
      catchUpBlocks: config.balanceCatchUpBlocks,
      wake: (ids) => webhooks.wake(ids),
      observe,
    });
  };
  /** Every level is at its newest block. */
  const caughtUp = () =>
    vi.waitFor(async () => {
      const at = await cursors();
      expect(at.length).toBeGreaterThan(0);
      for (const { level, number } of at) {
        expect(number).toBe(node.head.number - (level === 'finalized' ? (node.unfinalBlocks ?? 0) : 0));
      }
    }, PATIENCE);

  /** An endpoint that hears of one address. */
  async function listen(address: string, eventTypes: readonly string[] = BOTH): Promise<Hook> {
    const hook = receiver.hook();
    const filtersJson = JSON.stringify({ addresses: [address], caip2: [CHAIN] });
    await opened.root.run('create_webhook_endpoint', {
      url: hook.url,
      name: randomUUID(),
      subscriptions: eventTypes.map((eventType) => ({ eventType, filtersJson })),
    });
    return hook;
  }

  const setBalance = (address: string, change: bigint): void => {
    const key = address.toLowerCase();
    node.balances.set(key, (node.balances.get(key) ?? 0n) + change);
  };

  test('tell of transactions, fees, tokens and of what contracts move inside, once at each level', async () => {
    await using watching = watcher();
    watching.start();
    const { address } = await newWallet(sub, randomUUID());
    const other = newAddress();
    const hook = await listen(address);
    await caughtUp();

    setBalance(address, 1000n + 3n * FEE);
    const [received] = node.mineValues({ from: other, to: address, value: 1000n + 3n * FEE });
    setBalance(address, -400n - FEE);
    const [paid] = node.mineValues({ from: address, to: other, value: 400n });
    const token = node.mineTransfer(TOKEN, other, address, 2_500_000n);
    // A contract pays in a transaction that names the address nowhere, beside a payment that does.
    setBalance(address, 77n + 5n);
    const [beside] = node
      .mineValues({ from: other, to: newAddress(), value: 3n }, { from: other, to: address, value: 5n })
      .slice(1);
    // A transaction that is reverted moves nothing but its fee, and one to oneself nothing but its fee either.
    setBalance(address, -FEE);
    const [reverted] = node.mineValues({ from: address, to: other, value: 9n, isReverted: true });
    // Tokens that nobody configured are not told.
    node.mineTransfer(`0x${'cc'.repeat(20)}`, other, address, 1n);

    const [b1, b2, b3, b4, b5] = node.blocks.slice(-6).map(({ hash }) => hash);
    const expected = [
      `deposit ${1000n + 3n * FEE} COIN ${received} ${b1}`,
      `withdraw ${400n + FEE} COIN ${paid} ${b2}`,
      `deposit 2500000 USDX ${token} ${b3}`,
      `deposit 5 COIN ${beside} ${b4}`,
      `deposit 77 COIN  ${b4}`,
      `withdraw ${FEE} COIN ${reverted} ${b5}`,
    ];
    await hook.count(12);
    for (const level of ['confirmed', 'finalized']) {
      const told = hook.arrivals.map(brief).filter((text) => text.startsWith(`balances:${level}`));
      expect(told.sort()).toEqual(expected.map((text) => `balances:${level} ${text}`).sort());
    }
    const first = hook.arrivals.find((arrival) => brief(arrival) === `balances:confirmed ${expected[0]}`);
    const block = node.blocks.at(-6);
    expect(first?.body).toEqual({
      type: 'balances:confirmed',
      organizationId: sub.organizationId,
      parentOrganizationId: opened.root.organizationId,
      msg: {
        operation: 'deposit',
        caip2: CHAIN,
        txHash: received,
        address,
        idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
        asset: { symbol: 'COIN', name: 'Coin', decimals: 18, caip19: COIN.caip19, amount: String(1000n + 3n * FEE) },
        block: {
          number: block?.number,
          hash: block?.hash,
          timestamp: new Date((block?.timestamp ?? 0) * 1000).toISOString(),
        },
      },
    });
    expect(first?.headers['x-service-organization-id']).toBe(opened.root.organizationId);
    expect(new Set(hook.arrivals.map(({ eventId }) => eventId)).size).toBe(12);
    await caughtUp();
    expect(hook.arrivals).toHaveLength(12);
  });

  test('are corrected when the chain is reorganised, and told anew when a transaction comes back', async () => {
    await using watching = watcher();
    watching.start();
    const { address } = await newWallet(sub, randomUUID());
    const other = newAddress();
    const hook = await listen(address, ['BALANCE_CONFIRMED_UPDATES']);
    await caughtUp();
    setBalance(address, 10n);
    const [hash] = node.mineValues({ from: other, to: address, value: 10n });
    const undone = node.head.hash;
    node.mine();
    await hook.count(1);
    await caughtUp();

    node.undo(2);
    setBalance(address, -10n);
    node.mine();
    setBalance(address, 10n);
    const [again] = node.mineValues({ from: other, to: address, value: 10n });
    node.mine();
    await hook.count(3);
    await caughtUp();
    expect(hook.arrivals.map(brief)).toEqual([
      `balances:confirmed deposit 10 COIN ${hash} ${undone}`,
      `balances:confirmed withdraw 10 COIN ${hash} ${undone}`,
      `balances:confirmed deposit 10 COIN ${again} ${node.blocks.at(-2)?.hash}`,
    ]);
    const keys = hook.arrivals.map(({ body }) => body.msg.idempotencyKey);
    expect(keys[1]).toBe(`${keys[0]}:undone`);
    expect(new Set(keys).size).toBe(3);
    expect(new Set(hook.arrivals.map(({ eventId }) => eventId)).size).toBe(3);
  });

  test('finalized ones wait for finality', async () => {
    await using watching = watcher();
    watching.start();
    const { address } = await newWallet(sub, randomUUID());
    const hook = await listen(address);
    await caughtUp();
    node.unfinalBlocks = 3;
    setBalance(address, 10n);
    node.mineValues({ from: newAddress(), to: address, value: 10n });
    await hook.count(1);
    await vi.waitFor(async () => {
      const confirmed = (await cursors()).find(({ level }) => level === 'confirmed');
      expect(confirmed?.number).toBe(node.head.number);
    }, PATIENCE);
    expect(hook.arrivals.map(({ body }) => body.type)).toEqual(['balances:confirmed']);
    for (let index = 0; index < 3; index += 1) node.mine();
    await hook.count(2);
    expect(hook.arrivals[1]?.body.type).toBe('balances:finalized');
    node.unfinalBlocks = 0;
  });

  test('after a time without watching some blocks are caught up on, and the rest is skipped and counted', async () => {
    const { address } = await newWallet(sub, randomUUID());
    let hook: Hook;
    {
      await using watching = watcher();
      watching.start();
      hook = await listen(address, ['BALANCE_CONFIRMED_UPDATES']);
      await caughtUp();
    }
    setBalance(address, 1n);
    node.mineValues({ from: newAddress(), to: address, value: 1n });
    for (let index = 0; index < 20; index += 1) node.mine();
    setBalance(address, 2n);
    const [seen] = node.mineValues({ from: newAddress(), to: address, value: 2n });
    opened.advance(60_000);
    // Two at once, as two processes are: each event is written once.
    await using one = watcher();
    await using two = watcher();
    one.start();
    two.start();
    await caughtUp();
    await hook.count(1);
    setBalance(address, 4n);
    const [last] = node.mineValues({ from: newAddress(), to: address, value: 4n });
    await hook.count(2);
    await caughtUp();
    expect(hook.arrivals.map(({ body }) => body.msg.txHash)).toEqual([seen, last]);
    const metrics = await opened.app.observe.metrics.metrics();
    expect(metrics).toMatch(/custos_balance_blocks_skipped_total\{chain="eip155:31337",level="confirmed"\} [1-9]/);
  });

  test('a node without old states tells what contracts gave with a later block', async () => {
    await using watching = watcher();
    watching.start();
    const { address } = await newWallet(sub, randomUUID());
    const hook = await listen(address, ['BALANCE_CONFIRMED_UPDATES']);
    await caughtUp();
    node.mine();
    await caughtUp();
    node.methods.set('eth_getBalance', () => {
      throw new StubError('missing trie node');
    });
    setBalance(address, 9n);
    node.mine();
    await caughtUp();
    expect(hook.arrivals).toEqual([]);
    node.methods.delete('eth_getBalance');
    node.mine();
    await hook.count(1);
    expect(hook.arrivals.map(brief)).toEqual([`balances:confirmed deposit 9 COIN  ${node.head.hash}`]);
  });

  test('a process that does not know a chain leaves its watch alone; without subscriptions it ends', async () => {
    const { address } = await newWallet(sub, randomUUID());
    const hook = await listen(address, ['BALANCE_CONFIRMED_UPDATES']);
    {
      await using knowing = watcher();
      knowing.start();
      await caughtUp();
    }
    const before = await cursors();
    setBalance(address, 6n);
    const [hash] = node.mineValues({ from: newAddress(), to: address, value: 6n });
    const known = opened.app.config.chains.get(CHAIN);
    const other = 'eip155:5';
    const looked = vi.spyOn(opened.app.storage.read(BalanceWatchReader), 'subscribers');
    {
      // As while a new configuration is rolled out.
      await using unknowing = watcher(known && new Map([[other, { ...known, caip2: other }]]));
      unknowing.start();
      await vi.waitFor(() => expect(looked.mock.calls.length).toBeGreaterThan(1), PATIENCE);
    }
    const kept = (all: typeof before) => all.map(({ caip2, level, number }) => `${caip2} ${level} ${number}`).sort();
    expect(kept((await cursors()).filter(({ caip2 }) => caip2 === CHAIN))).toEqual(kept(before));
    await using knowing = watcher();
    knowing.start();
    await hook.count(1);
    expect(hook.arrivals.map(({ body }) => body.msg.txHash)).toEqual([hash]);

    const { webhookEndpoints } = (await opened.root.query('list_webhook_endpoints')).body;
    for (const { endpointId } of webhookEndpoints) await opened.root.run('delete_webhook_endpoint', { endpointId });
    await vi.waitFor(async () => expect(await cursors()).toEqual([]), PATIENCE);
  });

  test('a chain that is not configured is refused with the subscription', async () => {
    const attempt = (caip2: string) =>
      opened.root.submit('create_webhook_endpoint', {
        url: receiver.hook().url,
        name: randomUUID(),
        subscriptions: [{ eventType: 'BALANCE_CONFIRMED_UPDATES', filtersJson: JSON.stringify({ caip2: [caip2] }) }],
      });
    expect((await attempt(CHAIN)).status).toBe(200);
    const refused = await attempt('eip155:5');
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('CHAIN_NOT_CONFIGURED');
  });
});
