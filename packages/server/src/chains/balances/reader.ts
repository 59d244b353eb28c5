import type { ChainAsset } from '../settings.ts';

/** What a block changed for an address: one for each transaction and asset. */
export interface Change {
  /** The address in the spelling that addresses are compared by. */
  readonly key: string;
  /** Empty for what no transaction of the block explains. */
  readonly txHash: string;
  readonly asset: ChainAsset;
  /** Less than zero for what went away; never zero. */
  readonly amount: bigint;
}

/** Which addresses somebody wants to hear of. */
export interface Audience {
  /** Those of the addresses that a block names. */
  among(keys: ReadonlySet<string>): Promise<ReadonlySet<string>>;
  /** All of them, or undefined where they are too many to be looked at one by one. */
  all(): Promise<readonly string[] | undefined>;
}

export interface WatchedBlock {
  readonly number: bigint;
  readonly hash: string;
  /** Not always one less: a slot can be without a block. */
  readonly parentNumber: bigint;
  readonly parentHash: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** Undefined when the chain has another block in this place by now. */
  changes(audience: Audience): Promise<readonly Change[] | undefined>;
}

/** A chain as the watch sees it, at one level. */
export interface ChainReader {
  /** The number of the newest block of the level; undefined while nobody can tell. */
  tip(): Promise<bigint | undefined>;
  /** The first block behind a number, up to the tip. */
  next(after: bigint, tip: bigint): Promise<WatchedBlock | undefined>;
  /** Undefined where the node has no block with this number. */
  hashAt(number: bigint): Promise<string | undefined>;
}

export interface ReaderObserver {
  /** Addresses of which nobody can tell what contracts gave them in a block: the node lacks the state. */
  stateMissing(caip2: string, addresses: number): void;
}

/** Adds up what a transaction does to an address in an asset. */
export class ChangeSum {
  readonly #sums = new Map<string, Change>();

  add({ key, txHash, asset, amount }: Change): void {
    const name = `${txHash} ${key} ${asset.caip19}`;
    const sum = (this.#sums.get(name)?.amount ?? 0n) + amount;
    this.#sums.set(name, { key, txHash, asset, amount: sum });
  }

  /** What nets to nothing is left out. */
  list(): Change[] {
    return [...this.#sums.values()].filter(({ amount }) => amount !== 0n);
  }
}
