import { createEvmReader } from '../../packages/server/src/chains/ethereum/balances/evm-reader.ts';
import { createEvmNode } from '../../packages/server/src/chains/ethereum/node/evm-node.ts';
import type { ChainSettings } from '../../packages/server/src/chains/settings.ts';
import { readConfig } from '../../packages/server/src/config/config.ts';
import { Watch } from '../../packages/server/src/domains/balances/watch.ts';
import { type OrganizationId, randomId } from '../../packages/server/src/lib/ids.ts';
import { startPostgres } from '../../scripts/lib/postgres.mjs';
import { Child, waitForQuiet } from '../child.ts';
import { median } from '../figures.ts';
import type { Options } from '../options.ts';
import { Service } from '../service.ts';
import { createDatabase, type DatabaseKind, ethereum } from '../stage.ts';
import { openStopped } from '../storage.ts';
import type { Mined, Mining } from './node-process.ts';

/** What a block costs whoever watches it, the node's own time left out. */
export interface BalanceFigure {
  readonly title: string;
  readonly addresses: number;
  readonly transfers: number;
  readonly blockMs: number;
  readonly slowestMs: number;
  readonly cpuUs: number;
  /** Calls to nodes, of which up to a hundred are in a request. */
  readonly calls: number;
}

const CHAIN = 'eip155:31337';
const TOKEN = `0x${'aa'.repeat(20)}`;
const ADDRESSES = [100, 5000, 10_000];
const TRANSFERS = [0, 10, 200];
const ACCOUNTS_PER_CALL = 100;
const WARM_UP_BLOCKS = 5;
const BLOCKS = 25;

export const balanceTitle = (kind: DatabaseKind, addresses: number): string =>
  `${kind} balances ${addresses.toLocaleString('en')} addresses`;

export const BALANCE_NAMES = ADDRESSES;

export const BALANCE_HEAD = [
  'figure',
  'transfers',
  'ms/block',
  'slowest',
  'cpu us/block',
  'cpu us/address',
  'calls/block',
];

export const balanceLine = (figure: BalanceFigure): string[] => [
  figure.title,
  String(figure.transfers),
  figure.blockMs.toFixed(1),
  figure.slowestMs.toFixed(1),
  figure.cpuUs.toFixed(0),
  (figure.cpuUs / figure.addresses).toFixed(2),
  figure.calls.toFixed(0),
];

export async function measureBalances(
  kind: DatabaseKind,
  names: readonly number[],
  options: Options,
  tell: (figure: BalanceFigure) => void,
): Promise<BalanceFigure[]> {
  const figures: BalanceFigure[] = [];
  await using postgres = kind === 'postgres' ? await startPostgres() : undefined;
  for (const count of names) {
    const child = new Child<Mining, Mined>(new URL('./node-process.ts', import.meta.url));
    await using _ended = child;
    const { url } = await child.ask({ addresses: [], token: TOKEN, transfers: 0, blocks: 1 });
    const token = { caip19: `${CHAIN}/erc20:${TOKEN}`, symbol: 'USDX', name: 'Dollar', decimals: 6 };
    const env = {
      CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8',
      CUSTOS_CHAINS: JSON.stringify({ [CHAIN]: { rpcUrls: [url], assets: [token] } }),
    };
    await using service = new Service(postgres && (await createDatabase(postgres, `balances${count}`)));
    await service.start({ env });
    const { addresses, rootId } = await fill(service, count);
    await service.stop();
    const chain = readConfig(env).chains.get(CHAIN) as ChainSettings;
    await using watching = await openWatch(service, chain, rootId);
    // Begins the watch, where the service has not.
    await watching.follow();
    for (const transfers of TRANSFERS) {
      await waitForQuiet(options.patienceSeconds);
      const mine = (blocks: number) => child.ask({ addresses, token: TOKEN, transfers, blocks });
      await mine(WARM_UP_BLOCKS);
      await watching.follow();
      const { calls: before } = await mine(BLOCKS);
      const usage = process.cpuUsage();
      const times = await watching.follow();
      const { user, system } = process.cpuUsage(usage);
      const { calls } = await mine(0);
      const figure = {
        title: balanceTitle(kind, count),
        addresses: count,
        transfers,
        blockMs: median(times),
        slowestMs: Math.max(...times),
        cpuUs: (user + system) / BLOCKS,
        calls: (calls - before) / BLOCKS,
      };
      figures.push(figure);
      tell(figure);
    }
  }
  return figures;
}

/** Wallet accounts, and an endpoint that wants to hear of them. */
async function fill({ root }: Service, count: number): Promise<{ addresses: string[]; rootId: OrganizationId }> {
  const { walletId } = await root.run('create_wallet', { walletName: 'Watched', accounts: [] });
  const addresses: string[] = [];
  while (addresses.length < count) {
    const accounts = Array.from({ length: ACCOUNTS_PER_CALL }, (_, index) => ethereum(addresses.length + index));
    addresses.push(...(await root.run('create_wallet_accounts', { walletId, accounts })).addresses);
  }
  await root.run('create_webhook_endpoint', {
    // Nobody listens there, and nothing is sent.
    url: 'http://127.0.0.1:9/',
    name: 'Balances',
    subscriptions: [{ eventType: 'BALANCE_CONFIRMED_UPDATES' }],
  });
  return { addresses, rootId: root.organizationId as OrganizationId };
}

/** The watch of a process, by the service's own code; nothing is delivered. */
async function openWatch(service: Service, chain: ChainSettings, rootId: OrganizationId) {
  const storage = await openStopped(service);
  const fail = (error: Error): void => {
    throw error;
  };
  const ignore = (): void => {};
  const observe = {
    balanceEvents: ignore,
    balanceBlocksSkipped: ignore,
    stateMissing: ignore,
    unavailable: fail as never,
  };
  const closing = new AbortController();
  const reader = createEvmReader(createEvmNode(chain, { signal: closing.signal }), 'confirmed', observe);
  const parts = { storage, clock: Date.now, elapsed: () => performance.now(), newId: randomId, owner: 'bench' };
  const watch = new Watch(
    { ...parts, catchUpBlocks: 1000, wake: ignore, observe },
    chain,
    { caip2: CHAIN, level: 'confirmed' },
    reader,
  );
  watch.roots = new Set([rootId]);
  return {
    /** Up to the newest block; answers with the milliseconds that each took. */
    async follow(): Promise<number[]> {
      const times: number[] = [];
      for (;;) {
        const startedAt = performance.now();
        if (!(await watch.step())) return times;
        times.push(performance.now() - startedAt);
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await storage.close();
    },
  };
}
