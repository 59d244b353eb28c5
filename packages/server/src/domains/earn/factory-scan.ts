import type { EvmLog, EvmNode, Hex } from '../../chains/nodes/node.ts';
import { NodeError } from '../../chains/nodes/node-error.ts';
import { lruCache } from '../../lib/lru.ts';
import { someAddress } from './chain-text.ts';
import type { ContractReader } from './contract-reader.ts';
import { morphoV1, morphoV2 } from './views.ts';

const EVENTS = [
  {
    isMade: morphoV1.isMetaMorpho,
    signature:
      'event CreateMetaMorpho(address indexed metaMorpho, address indexed caller, address initialOwner, uint256 initialTimelock, address indexed asset, string name, string symbol, bytes32 salt)',
    assetTopic: 3,
    vaultTopic: 1,
  },
  {
    isMade: morphoV2.isVaultV2,
    signature:
      'event CreateVaultV2(address indexed owner, address indexed asset, bytes32 salt, address indexed newVaultV2)',
    assetTopic: 2,
    vaultTopic: 3,
  },
] as const;
type FactoryEvent = (typeof EVENTS)[number];

/** Of one asset. Anybody may make vaults; of more than that the rest is not looked at. */
const VAULTS_MAX = 5_000;
const SCANS_MAX = 500;
const WINDOW_MAX = 2_000_000n;
/** Of one refresh; a longer way is gone in several. */
const REQUESTS_MAX = 200;
/** Blocks that are looked at again, since the chain may have changed them. */
const OVERLAP = 64n;

interface Scan {
  /** The first block that was not looked at. */
  next: bigint;
  readonly found: Map<string, { readonly factory: string; readonly event: FactoryEvent }>;
}

export interface FactoryScans {
  /** The vaults that factories made for an asset, and that they still know. */
  vaultsOf(node: EvmNode, reader: ContractReader, asset: string, latest: bigint): Promise<readonly string[]>;
}

/** Which of the factories made a vault; undefined where none did. */
export async function makerOf(
  reader: ContractReader,
  factories: readonly string[],
  vault: string,
): Promise<string | undefined> {
  const made = await Promise.all(
    factories.map(async (factory) => {
      const answers = await Promise.all(EVENTS.map(({ isMade }) => reader.read(isMade, factory, vault)));
      return answers.includes(true);
    }),
  );
  return factories.find((_factory, index) => made[index]);
}

/**
 * Finds vaults by the events of their factories. What was found is kept with the block up to which it was looked for,
 * so that only new blocks are asked for again.
 */
export function createFactoryScans(): FactoryScans {
  const scans = lruCache<Scan>(SCANS_MAX);
  /** How many blocks at once the nodes of a chain answer for. */
  const windows = new Map<string, bigint>();

  async function advance(node: EvmNode, scan: Scan, asset: string, latest: bigint): Promise<void> {
    const { caip2, morphoFactories } = node.chain;
    const { toEventSelector } = await import('viem/utils');
    const assetTopic = `0x${asset.slice(2).toLowerCase().padStart(64, '0')}` as Hex;
    const filters = EVENTS.map((event) => {
      const topics: (Hex | null)[] = [toEventSelector(event.signature), null, null, null];
      topics[event.assetTopic] = assetTopic;
      return { event, topics: topics.slice(0, event.assetTopic + 1) };
    });
    let from = scan.next > OVERLAP ? scan.next - OVERLAP : 0n;
    for (let requests = 0; from <= latest && requests < REQUESTS_MAX; requests += filters.length) {
      const window = windows.get(caip2) ?? WINDOW_MAX;
      const end = from + window - 1n;
      const toBlock = end < latest ? end : latest;
      try {
        const logs = await Promise.all(
          filters.map(({ topics }) =>
            node.logs({ address: morphoFactories as readonly Hex[], topics, fromBlock: from, toBlock }),
          ),
        );
        for (const [index, { event }] of filters.entries()) note(scan, event, logs[index] ?? []);
      } catch (error) {
        if (!(error instanceof NodeError) || window === 1n) throw error;
        // A node may also take too long for so many blocks, which looks like one that is away.
        windows.set(caip2, window / 2n);
        if (error.kind !== 'too-large') throw error;
        continue;
      }
      from = toBlock + 1n;
      scan.next = from;
    }
  }

  return {
    async vaultsOf(node, reader, asset, latest) {
      const { caip2, morphoFactories } = node.chain;
      if (morphoFactories.length === 0) return [];
      const key = `${caip2} ${asset}`;
      const scan = scans.get(key) ?? { next: 0n, found: new Map() };
      scans.set(key, scan);
      await advance(node, scan, asset, latest);
      const confirmed = await Promise.all(
        [...scan.found].map(async ([vault, { factory, event }]) =>
          (await reader.read(event.isMade, factory, vault)) === true ? vault : undefined,
        ),
      );
      return confirmed.filter((vault) => vault !== undefined);
    },
  };
}

function note({ found }: Scan, event: FactoryEvent, logs: readonly EvmLog[]): void {
  for (const { address, topics } of logs) {
    const vault = someAddress(addressIn(topics[event.vaultTopic]));
    if (vault !== undefined && found.size < VAULTS_MAX) found.set(vault, { factory: address.toLowerCase(), event });
  }
}

const addressIn = (topic: Hex | undefined): string | undefined =>
  topic === undefined || !/^0x0{24}/.test(topic) ? undefined : `0x${topic.slice(26)}`;
