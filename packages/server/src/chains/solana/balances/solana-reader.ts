import { nativeAsset, tokenAssets } from '../../assets.ts';
import type { BalanceLevel } from '../../balances/level.ts';
import { type Audience, type ChainReader, type Change, ChangeSum } from '../../balances/reader.ts';
import type { SolanaBlock, SolanaNode } from '../../nodes/node.ts';

/** Slots that are asked for together; most have a block. */
const SLOTS_AT_ONCE = 1000n;

/**
 * A block of Solana has each account's balance before and after each transaction, so that what programs move inside
 * is part of it. What remains is what the chain itself gives and takes: rewards and rent.
 */
export function createSolanaReader(node: SolanaNode, level: BalanceLevel): ChainReader {
  const native = nativeAsset(node.chain);
  const tokens = tokenAssets(node.chain);

  async function changesOf({ moves, rewards }: SolanaBlock, audience: Audience): Promise<readonly Change[]> {
    const named = new Set(rewards.map(({ account }) => account));
    for (const { lamports, tokens: moved } of moves) {
      for (const account of lamports.keys()) named.add(account);
      for (const { owner, mint } of moved) if (tokens.has(mint)) named.add(owner);
    }
    const wanted = await audience.among(named);
    const sum = new ChangeSum();
    for (const { signature: txHash, lamports, tokens: moved } of moves) {
      for (const [key, amount] of lamports) if (wanted.has(key)) sum.add({ key, txHash, asset: native, amount });
      for (const { owner: key, mint, amount } of moved) {
        const asset = tokens.get(mint);
        if (asset !== undefined && wanted.has(key)) sum.add({ key, txHash, asset, amount });
      }
    }
    for (const { account: key, lamports: amount } of rewards) {
      if (wanted.has(key)) sum.add({ key, txHash: '', asset: native, amount });
    }
    return sum.list();
  }

  /** The first slot of a range that has a block. */
  async function firstSlot(from: bigint, to: bigint): Promise<bigint | undefined> {
    for (let start = from; start <= to; start += SLOTS_AT_ONCE) {
      const end = start + SLOTS_AT_ONCE - 1n;
      const [slot] = await node.slotsWithBlocks(start, end < to ? end : to, level);
      if (slot !== undefined) return slot;
    }
    return undefined;
  }

  return {
    tip: () => node.slot(level),
    async next(after, newest) {
      const slot = await firstSlot(after + 1n, newest);
      if (slot === undefined) return undefined;
      const block = await node.block(slot, level);
      const { hash, parentSlot: parentNumber, parentHash, timestamp } = block;
      const changes = (audience: Audience) => changesOf(block, audience);
      return { number: slot, hash, parentNumber, parentHash, timestamp, changes };
    },
    async hashAt(number) {
      const slot = await firstSlot(number, number);
      return slot === undefined ? undefined : (await node.block(slot, level)).hash;
    },
  };
}
