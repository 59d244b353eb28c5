import { createHash } from 'node:crypto';
import { type Hex, keccak256, parseTransaction, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { Refusal, startFakeNode } from '../harness/json-rpc-node.ts';

// An EVM chain of blocks that a test fills, behind the JSON-RPC of a node that keeps what the test wants it to keep.

const START_SECONDS = 1_700_000_000;
export const BLOCK_SECONDS = 12;
export const secondsAt = (block: number): number => START_SECONDS + block * BLOCK_SECONDS;
export const msAt = (block: number): number => secondsAt(block) * 1000;

export const keyOf = (fill: number) => privateKeyToAccount(toHex(new Uint8Array(32).fill(fill)));
type Account = ReturnType<typeof keyOf>;

export interface Sent {
  readonly raw: Hex;
  readonly from: Hex;
  readonly hash: Hex;
  readonly nonce: number;
}

interface Wish {
  readonly nonce: number;
  readonly to?: Hex;
  readonly value?: bigint;
  readonly data?: Hex;
  readonly gas?: bigint;
}

/** As Custos signs it. */
export async function sign(
  account: Account,
  { nonce, to, value = 0n, data = '0x', gas = 21_000n }: Wish,
): Promise<Sent> {
  const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n };
  const raw = await account.signTransaction({ chainId: 31337, type: 'eip1559', nonce, to, value, data, gas, ...fees });
  return { raw, from: account.address.toLowerCase() as Hex, hash: keccak256(raw), nonce };
}

const hashOf = (text: string): Hex => `0x${createHash('sha256').update(text).digest('hex')}`;

export class RpcChain {
  /** What each block has; the first one is empty. */
  readonly blocks: Sent[][] = [[]];
  /** What the node has and no block. */
  pool: Sent[] = [];
  /** Nonces that something else than a transaction of the address took, with the block. */
  readonly authorizations: { readonly address: string; readonly block: number }[] = [];
  readonly reverted = new Set<Hex>();
  readonly logs: { readonly address: string; readonly topics: readonly string[]; readonly hash: Hex }[] = [];
  /** The first block whose state the node still has. */
  statesFrom = 0;
  showsPool = true;
  /** Changes what the node tells of a transaction. */
  lie: (transaction: Record<string, unknown>) => Record<string, unknown> = (transaction) => transaction;

  get height(): number {
    return this.blocks.length - 1;
  }

  /** Empty blocks, and then one with these. */
  mine(empty: number, ...sent: Sent[]): void {
    for (let index = 0; index < empty; index += 1) this.blocks.push([]);
    if (sent.length > 0) this.blocks.push(sent);
  }

  count(address: string, upTo = this.height): number {
    const sent = this.blocks.slice(0, upTo + 1).flat();
    const taken = this.authorizations.filter((one) => one.address === address && one.block <= upTo);
    return sent.filter(({ from }) => from === address).length + taken.length;
  }

  async serve(): Promise<string> {
    const number = (value: number): Hex => `0x${value.toString(16)}`;
    const blockOf = (tag: string): number => (tag.startsWith('0x') ? Number(tag) : this.height);
    const node = await startFakeNode({
      eth_chainId: '0x7a69',
      eth_blockNumber: () => number(this.height),
      eth_getTransactionCount: (address: string, tag: string) => {
        if (tag === 'pending') {
          const waiting = this.pool.filter(({ from }) => from === address).length;
          return number(this.count(address) + waiting);
        }
        if (blockOf(tag) < this.statesFrom) return new Refusal(-32000, 'missing trie node: state is not available');
        return number(this.count(address, blockOf(tag)));
      },
      eth_getBlockByNumber: (tag: string, isFull: boolean) => {
        if (tag === 'pending') return this.showsPool ? null : this.#block(this.height, isFull);
        if (tag === 'finalized') return null;
        return blockOf(tag) > this.height ? null : this.#block(blockOf(tag), isFull);
      },
      eth_getTransactionByHash: (hash: string) => {
        const at = this.blocks.findIndex((sent) => sent.some((one) => one.hash === hash));
        const found = [...this.blocks.flat(), ...this.pool].find((one) => one.hash === hash);
        return found === undefined ? null : this.#transaction(found, at === -1 ? undefined : at);
      },
      eth_getTransactionReceipt: (hash: Hex) => this.#receipt(hash),
      eth_getLogs: ({ address, topics }: { address: string; topics: string[] }) =>
        this.logs
          .filter((log) => log.address === address && topics.every((topic, at) => log.topics[at] === topic))
          .map(({ hash, ...log }) => {
            const at = this.blocks.findIndex((sent) => sent.some((one) => one.hash === hash));
            const place = { blockNumber: number(at), blockHash: hashOf(`block ${at}`), transactionHash: hash };
            return { ...log, ...place, data: '0x', logIndex: '0x0', removed: false };
          }),
      txpool_contentFrom: (address: string) =>
        this.showsPool
          ? {
              pending: Object.fromEntries(
                this.pool
                  .filter(({ from }) => from === address)
                  .map((sent) => [sent.nonce, this.#transaction(sent, undefined)]),
              ),
              queued: {},
            }
          : new Refusal(-32601, 'the method txpool_contentFrom does not exist'),
    });
    return node.url;
  }

  #block(at: number, isFull: boolean): object {
    const sent = this.blocks[at] ?? [];
    return {
      number: `0x${at.toString(16)}`,
      hash: hashOf(`block ${at}`),
      parentHash: hashOf(`block ${at - 1}`),
      timestamp: `0x${secondsAt(at).toString(16)}`,
      baseFeePerGas: '0x1',
      transactions: isFull ? sent.map((one) => this.#transaction(one, at)) : sent.map(({ hash }) => hash),
    };
  }

  #transaction({ raw, from, hash }: Sent, at: number | undefined): object {
    const parsed = parseTransaction(raw);
    const place = at === undefined ? null : `0x${at.toString(16)}`;
    return this.lie({
      ...{ hash, from, to: parsed.to ?? null, input: parsed.data ?? '0x', type: '0x2', chainId: '0x7a69' },
      ...{ nonce: toHex(parsed.nonce ?? 0), value: toHex(parsed.value ?? 0n), gas: toHex(parsed.gas ?? 0n) },
      maxFeePerGas: toHex(parsed.maxFeePerGas ?? 0n),
      maxPriorityFeePerGas: toHex(parsed.maxPriorityFeePerGas ?? 0n),
      ...{
        accessList: [],
        r: toHex(BigInt(parsed.r ?? 0)),
        s: toHex(BigInt(parsed.s ?? 0)),
        yParity: toHex(parsed.yParity ?? 0),
      },
      blockNumber: place,
    });
  }

  #receipt(hash: Hex): object | null {
    const at = this.blocks.findIndex((sent) => sent.some((one) => one.hash === hash));
    const sent = this.blocks[at]?.find((one) => one.hash === hash);
    if (sent === undefined) return null;
    return {
      transactionHash: hash,
      ...{ blockNumber: `0x${at.toString(16)}`, blockHash: hashOf(`block ${at}`) },
      ...{ status: this.reverted.has(hash) ? '0x0' : '0x1', gasUsed: '0x5208', effectiveGasPrice: '0x1' },
      ...{ from: sent.from, to: parseTransaction(sent.raw).to ?? null, contractAddress: null, logs: [] },
    };
  }
}
