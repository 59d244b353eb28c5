import { randomBytes } from 'node:crypto';
import { keccak256, parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem';
import type { Broadcast, CallResult, EvmBlock, EvmNode, EvmReceipt, Hex } from '../../src/chains/nodes/node.ts';
import { NodeError } from '../../src/chains/nodes/node-error.ts';
import type { ChainSettings } from '../../src/chains/settings.ts';
import { chainSettings } from './chain-settings.ts';

// A chain in memory with the rules that matter to whoever sends: nonces, fees, replacement, blocks and their undoing.

export const CHAIN = chainSettings({ pollMs: 50 });

interface Pending {
  readonly hash: Hex;
  readonly raw: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly nonce: number;
  readonly maxFeePerGas: bigint;
}

interface Mined extends EvmBlock {
  readonly mined: readonly Pending[];
}

const newHash = (): Hex => `0x${randomBytes(32).toString('hex')}`;

export class FakeChain {
  blocks: Mined[] = [block(0n, newHash(), [], 0)];
  readonly pool = new Map<Hex, Pending>();
  /** Every transaction that was ever handed over, in that order. */
  readonly handed: Hex[] = [];
  baseFee = 1_000_000_000n;
  /** Contracts that revert: when asked for gas, or only in a block. */
  readonly reverting = new Map<string, { readonly data: Hex; readonly onlyInBlocks: boolean }>();
  isDown = false;
  /** What happens to bytes that are handed over, in place of the rules. */
  onBroadcast: ((raw: Hex, take: () => Promise<Broadcast>) => Promise<Broadcast>) | undefined;
  /** Lies about receipts. */
  receiptOf: ((hash: Hex, truth: EvmReceipt | undefined) => EvmReceipt | undefined) | undefined;
  confirmed: boolean | undefined;
  /** Whether other nodes tell the truth about receipts. */
  hasWitnesses = false;
  /** What another node says of how many transactions of an address are in blocks. */
  countElsewhere: number | undefined;
  /** Whether nodes fail when each of them is asked. */
  isEachAway = false;
  isMiningAtOnce = true;
  /** The height that nodes call final; `away` where they fail to answer. Unless it is set they know no such thing. */
  finalized: bigint | 'away' | undefined;
  /** How often somebody asked for the newest block to learn what became of something. */
  looks = 0;
  readonly codes = new Map<string, Hex>();
  /** What transactions to an address have in their receipts. */
  readonly logs = new Map<string, EvmReceipt['logs']>();

  get head(): Mined {
    return this.blocks.at(-1) as Mined;
  }

  count(address: string, extra: readonly Pending[] = []): number {
    const mined = this.blocks.flatMap((one) => one.mined);
    return [...mined, ...extra].filter(({ from }) => from === address.toLowerCase()).length;
  }

  /** Transactions of an address that are in blocks, in their order. */
  landed(address: string): Pending[] {
    return this.blocks.flatMap((one) => one.mined).filter(({ from }) => from === address.toLowerCase());
  }

  async take(raw: Hex): Promise<Broadcast> {
    const hash = keccak256(raw);
    const parsed = parseTransaction(raw);
    const from = (
      await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized })
    ).toLowerCase() as Hex;
    const nonce = parsed.nonce ?? 0;
    const maxFeePerGas = parsed.maxFeePerGas ?? 0n;
    if (this.pool.has(hash)) return { kind: 'known' };
    if (nonce < this.count(from)) return { kind: 'nonce-too-low' };
    const rival = [...this.pool.values()].find((one) => one.from === from && one.nonce === nonce);
    if (rival !== undefined && maxFeePerGas * 10n < rival.maxFeePerGas * 11n) return { kind: 'underpriced' };
    if (rival !== undefined) this.pool.delete(rival.hash);
    this.pool.set(hash, { hash, raw, from, to: (parsed.to ?? '0x') as Hex, nonce, maxFeePerGas });
    if (this.isMiningAtOnce) this.mine();
    return { kind: 'accepted' };
  }

  /** Puts what may be next into a block, and makes one in any case. */
  mine(count = 1): void {
    for (let index = 0; index < count; index += 1) {
      const taken: Pending[] = [];
      for (let isMore = true; isMore; ) {
        isMore = false;
        for (const one of this.pool.values()) {
          if (one.maxFeePerGas < this.baseFee || one.nonce !== this.count(one.from, taken)) continue;
          taken.push(one);
          this.pool.delete(one.hash);
          isMore = true;
        }
      }
      this.blocks.push(block(this.head.number + 1n, this.head.hash, taken, this.head.timestamp + 12));
    }
  }

  /** Replaces the newest blocks by as many empty ones and one more. Their transactions are forgotten unless kept. */
  reorganise(depth: number, isKept: boolean): void {
    const undone = this.blocks.splice(this.blocks.length - depth, depth);
    for (const one of undone.flatMap(({ mined }) => mined)) if (isKept) this.pool.set(one.hash, one);
    for (let index = 0; index <= depth; index += 1) {
      this.blocks.push(block(this.head.number + 1n, this.head.hash, [], this.head.timestamp + 12));
    }
  }

  receipt(hash: Hex): EvmReceipt | undefined {
    const found = this.blocks.find(({ mined }) => mined.some((one) => one.hash === hash));
    const transaction = found?.mined.find((one) => one.hash === hash);
    if (found === undefined || transaction === undefined) return undefined;
    return {
      transactionHash: hash,
      blockNumber: found.number,
      blockHash: found.hash,
      isSuccess: !this.reverting.has(transaction.to),
      gasUsed: 21_000n,
      effectiveGasPrice: this.baseFee,
      from: transaction.from,
      to: transaction.to,
      contractAddress: undefined,
      logs: this.logs.get(transaction.to.toLowerCase()) ?? [],
    };
  }

  /** The chain as a node tells of it. */
  node(settings: ChainSettings = CHAIN): EvmNode {
    const up = <T>(answer: () => T | Promise<T>): Promise<T> =>
      this.isDown ? Promise.reject(new NodeError('unavailable', 'down')) : Promise.resolve().then(answer);
    const refusal = (to: string | undefined, inBlocks: boolean) => {
      const reverting = to === undefined ? undefined : this.reverting.get(to.toLowerCase());
      if (reverting === undefined || (reverting.onlyInBlocks && !inBlocks)) return undefined;
      return { ok: false as const, message: 'execution reverted', data: reverting.data };
    };
    return {
      chain: settings,
      heads: () => up(() => [{ host: 'fake', head: BigInt(this.blocks.length - 1) }]),
      fullBlock: () => up(() => undefined),
      balanceAt: () => up(() => 0n),
      block: (at) =>
        up(() => {
          if (at === 'latest') {
            this.looks += 1;
            return this.head;
          }
          if (at === 'finalized' && this.finalized === 'away') throw new NodeError('unavailable', 'no answer');
          const wanted = at === 'finalized' ? this.finalized : at;
          return typeof wanted === 'bigint' ? this.blocks.find(({ number }) => number === wanted) : undefined;
        }),
      transactionCount: (address, at) =>
        up(() => {
          const mined = this.count(address);
          if (at === 'latest') return mined;
          const nonces = new Set(
            [...this.pool.values()].filter(({ from }) => from === address).map(({ nonce }) => nonce),
          );
          let next = mined;
          while (nonces.has(next)) next += 1;
          return next;
        }),
      balance: () => up(() => 10n ** 18n),
      code: (address) => up(() => this.codes.get(address) ?? '0x'),
      storageAt: () => up(() => `0x${'00'.repeat(32)}` as Hex),
      call: ({ to }, at) => up((): CallResult => refusal(to, typeof at === 'bigint') ?? { ok: true, data: '0x' }),
      callMany: (calls) => up(() => calls.map((): CallResult => ({ ok: true, data: '0x' }))),
      estimateGas: ({ to }) => up(() => refusal(to, false) ?? { ok: true as const, gas: 21_000n }),
      fees: () => up(() => ({ maxFeePerGas: 2n * this.baseFee + 1n, maxPriorityFeePerGas: 1n })),
      receipt: (hash) =>
        up(() => {
          const truth = this.receipt(hash);
          return this.receiptOf === undefined ? truth : this.receiptOf(hash, truth);
        }),
      transaction: () => up(() => undefined),
      logs: () => up(() => []),
      broadcast: async (raw) => {
        if (this.isDown) return { kind: 'uncertain', message: 'down' };
        this.handed.push(keccak256(raw));
        const take = () => this.take(raw);
        return this.onBroadcast === undefined ? await take() : await this.onBroadcast(raw, take);
      },
      confirmedElsewhere: () => up(() => this.confirmed),
      transactionCounts: (address) =>
        up(() => (this.isEachAway ? [] : [this.count(address), this.countElsewhere ?? this.count(address)])),
      hasReceiptAnywhere: (hashes) =>
        up(() => {
          if (this.isEachAway) return undefined;
          return this.hasWitnesses && hashes.some((hash) => this.receipt(hash) !== undefined);
        }),
    };
  }
}

function block(number: bigint, parentHash: Hex, mined: readonly Pending[], timestamp: number): Mined {
  const transactions = mined.map(({ hash }) => hash);
  return { number, hash: newHash(), parentHash, timestamp, baseFeePerGas: 1n, transactions, mined };
}
