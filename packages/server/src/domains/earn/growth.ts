import type { EvmBlock, EvmNode, Hex } from '../../chains/nodes/node.ts';
import { NodeError } from '../../chains/nodes/node-error.ts';
import { type Clock, HOUR_MS } from '../../lib/clock.ts';
import { lruCache } from '../../lib/lru.ts';
import { decodeRead, encodeRead } from './contract-reader.ts';
import { annualised } from './rates.ts';
import { vault as vaultViews } from './views.ts';

const DAY_SECONDS = 86_400;
/** Less than a minute says nothing of a year. */
const WINDOW_SECONDS_MIN = 60;
/** While the oldest price is younger, the chain is asked for one of a day ago. */
const WINDOW_SECONDS_WANTED = 3_600;
const SAMPLE_SECONDS = 300;
const VAULTS_MAX = 2_000;
/** How far back the pace of blocks is measured. */
const PACE_BLOCKS = 1_000n;
/** What shares are asked about: so many decimals more than the price of one share shows. */
const EXTRA_DIGITS = 9;

interface Sample {
  readonly atSeconds: number;
  readonly price: bigint;
}

export interface Growth {
  /**
   * What a vault's shares gain in a year at their pace of the last day, or of as much of it as is known. Undefined until
   * two prices are.
   */
  rateOf(node: EvmNode, latest: EvmBlock, vault: string, price: bigint, shares: bigint): Promise<number | undefined>;
}

/** How many shares of a vault are asked about. */
export const sharesOf = (decimals: number): bigint => 10n ** BigInt(decimals + EXTRA_DIGITS);

/** Prices of shares, from the chain's past where the node has it and otherwise as they were seen here. */
export function createGrowth(clock: Clock): Growth {
  const histories = lruCache<readonly Sample[]>(VAULTS_MAX);
  /** Chains and vaults whose past cannot be asked for, until when. */
  const withoutPast = lruCache<number>(VAULTS_MAX);
  const hasPast = (key: string): boolean => (withoutPast.get(key) ?? 0) <= clock();
  const giveUp = (key: string): void => withoutPast.set(key, clock() + HOUR_MS);

  let yesterday: { readonly key: string; readonly block: Promise<EvmBlock | undefined> } | undefined;

  /** For all vaults that are read together. The first of them tries whether the node has the past at all. */
  function servedYesterday(node: EvmNode, latest: EvmBlock, vault: string, shares: bigint): typeof yesterday {
    const key = `${node.chain.caip2} ${latest.hash} ${latest.number}`;
    if (yesterday?.key !== key) {
      const block = blockOfYesterday(node, latest).then(async (found) => {
        if (found !== undefined) await priceAt(node, vault, shares, found.number);
        return found;
      });
      yesterday = { key, block };
    }
    return yesterday;
  }

  async function priceOfYesterday(
    node: EvmNode,
    latest: EvmBlock,
    vault: string,
    shares: bigint,
  ): Promise<Sample | undefined> {
    const { caip2 } = node.chain;
    if (!hasPast(caip2) || !hasPast(`${caip2} ${vault}`)) return undefined;
    try {
      const block = await servedYesterday(node, latest, vault, shares)?.block;
      const price = block && (await priceAt(node, vault, shares, block.number));
      if (block !== undefined && price !== undefined) return { atSeconds: block.timestamp, price };
      giveUp(block === undefined ? caip2 : `${caip2} ${vault}`);
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      giveUp(caip2);
    }
    return undefined;
  }

  return {
    async rateOf(node, latest, vault, price, shares) {
      const key = `${node.chain.caip2} ${vault}`;
      const now: Sample = { atSeconds: latest.timestamp, price };
      const isRecent = ({ atSeconds }: Sample): boolean =>
        atSeconds <= now.atSeconds && now.atSeconds - atSeconds <= DAY_SECONDS;
      let history = (histories.get(key) ?? []).filter(isRecent);
      const [oldest] = history;
      if (oldest === undefined || now.atSeconds - oldest.atSeconds < WINDOW_SECONDS_WANTED) {
        const older = await priceOfYesterday(node, latest, vault, shares);
        if (older !== undefined && isRecent(older)) history = [older, ...history];
      }
      const newest = history.at(-1);
      if (newest === undefined || now.atSeconds - newest.atSeconds >= SAMPLE_SECONDS) history = [...history, now];
      histories.set(key, history);
      const [first = now] = history;
      const seconds = now.atSeconds - first.atSeconds;
      if (seconds < WINDOW_SECONDS_MIN || first.price === 0n) return undefined;
      return annualised(first.price, now.price, seconds);
    },
  };
}

/** A block of nearly a day ago, by the pace of the last ones; undefined where the chain is younger or has no pace. */
async function blockOfYesterday(node: EvmNode, latest: EvmBlock): Promise<EvmBlock | undefined> {
  if (latest.number < PACE_BLOCKS) return undefined;
  const before = await node.block(latest.number - PACE_BLOCKS);
  if (before === undefined) return undefined;
  const seconds = latest.timestamp - before.timestamp;
  if (seconds <= 0) return undefined;
  // A little less than a day: blocks come unevenly, and a price of more than a day ago is not used.
  const back = BigInt(Math.floor((DAY_SECONDS * 0.95 * Number(PACE_BLOCKS)) / seconds));
  return back === 0n || back > latest.number ? undefined : await node.block(latest.number - back);
}

async function priceAt(node: EvmNode, vault: string, shares: bigint, at: bigint): Promise<bigint | undefined> {
  const data = await encodeRead(vaultViews.convertToAssets, [shares]);
  const answer = await node.call({ to: vault as Hex, data }, at);
  return answer.ok ? await decodeRead(vaultViews.convertToAssets, answer.data) : undefined;
}
