import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import type { SolanaBroadcast, SolanaNode, SolanaSight, SolanaSignatureStatus } from '../../src/chains/nodes/node.ts';
import { NodeError } from '../../src/chains/nodes/node-error.ts';
import type { ChainSettings } from '../../src/chains/settings.ts';
import { CHAIN } from './fake-chain.ts';

// Solana in memory, with the rules that matter to whoever sends: signatures, blockhashes and their age, forks.

export const GENESIS = base58.encode(new Uint8Array(32).fill(0xee));
export const SOLANA_CHAIN: ChainSettings = {
  ...CHAIN,
  caip2: `solana:${GENESIS.slice(0, 32)}`,
  namespace: 'solana',
  reference: GENESIS.slice(0, 32),
};

const BLOCKHASH_LIFE = 150;
/** Of what is not finalized yet. */
const FINALIZED_DEPTH = 32;

export interface Landed {
  readonly signature: string;
  slot: number;
  level: SolanaSignatureStatus['confirmationStatus'];
  err: unknown;
  readonly atMs: number;
}

export interface Handed {
  /** The whole transaction. */
  readonly raw: Uint8Array;
  readonly signature: string;
  readonly signers: readonly string[];
  readonly message: Uint8Array;
  readonly blockhash: string;
}

const blockhashAt = (height: number): string => base58.encode(createHash('sha256').update(`block ${height}`).digest());

export class FakeSolana {
  /** Of the newest block; each slot has one. */
  height = 1000;
  /** Every transaction that was ever handed over, in that order. */
  readonly handed: Handed[] = [];
  readonly landed = new Map<string, Landed>();
  isDown = false;
  /** Whether what is taken lands, and so deep. */
  landsAs: SolanaSignatureStatus['confirmationStatus'] | undefined = 'finalized';
  /** What happens to bytes that are handed over, in place of the rules. */
  onBroadcast: ((transaction: string, take: () => SolanaBroadcast) => SolanaBroadcast) | undefined;
  /** What transactions fail with in their block. */
  errorInBlock: unknown;
  keepsDetails = true;
  /** When the block of a slot was made, in milliseconds; those that are asked for were made just now. */
  timeOf: (slot: number) => number = () => Date.now();
  /** What further nodes see. */
  readonly others: FakeSolana[] = [];

  get blockhash(): string {
    return blockhashAt(this.height);
  }

  grow(blocks: number): void {
    this.height += blocks;
  }

  isValid(blockhash: string): boolean {
    for (let age = 0; age <= BLOCKHASH_LIFE; age += 1) if (blockhashAt(this.height - age) === blockhash) return true;
    return false;
  }

  land(signature: string, level: Landed['level'], err: unknown = this.errorInBlock): void {
    this.landed.set(signature, { signature, slot: this.height, level, err, atMs: Date.now() });
  }

  take(transaction: string): SolanaBroadcast {
    const handed = readWire(Buffer.from(transaction, 'base64'));
    this.handed.push(handed);
    if (this.landed.has(handed.signature)) return { kind: 'known' };
    if (!this.isValid(handed.blockhash)) {
      const message = 'Transaction simulation failed: Blockhash not found';
      return { kind: 'refused', rpcCode: -32002, message, err: 'BlockhashNotFound', logs: [] };
    }
    if (this.landsAs !== undefined) this.land(handed.signature, this.landsAs);
    return { kind: 'accepted' };
  }

  broadcast(transaction: string): SolanaBroadcast {
    const take = () => this.take(transaction);
    return this.onBroadcast === undefined ? take() : this.onBroadcast(transaction, take);
  }

  statusOf(signature: string): SolanaSignatureStatus | undefined {
    const found = this.landed.get(signature);
    if (found === undefined) return undefined;
    const confirmations = found.level === 'finalized' ? undefined : 1;
    return { slot: BigInt(found.slot), confirmations, confirmationStatus: found.level, err: found.err };
  }

  sight(signature: string, blockhash: string): SolanaSight {
    const status = this.statusOf(signature);
    if (status !== undefined) return { status };
    return { status, height: BigInt(this.height - FINALIZED_DEPTH), isBlockhashValid: this.isValid(blockhash) };
  }

  node(chain: ChainSettings = SOLANA_CHAIN): SolanaNode {
    const ask = async <Value>(answer: () => Value): Promise<Value> => {
      if (this.isDown) throw new NodeError('unavailable', 'the node is down');
      return answer();
    };
    return {
      chain,
      latestBlockhash: () =>
        ask(() => ({ blockhash: this.blockhash, lastValidBlockHeight: BigInt(this.height + BLOCKHASH_LIFE) })),
      blockHeight: () => ask(() => BigInt(this.height - FINALIZED_DEPTH)),
      isBlockhashValid: (blockhash) => ask(() => this.isValid(blockhash)),
      broadcast: async (transaction) =>
        this.isDown ? { kind: 'uncertain', message: 'the node is down' } : this.broadcast(transaction),
      signatureStatuses: (signatures) => ask(() => signatures.map((signature) => this.statusOf(signature))),
      lookEverywhere: async (signature, blockhash) =>
        [this, ...this.others].filter(({ isDown }) => !isDown).map((seer) => seer.sight(signature, blockhash)),
      heads: () => ask(() => [{ host: 'fake', head: BigInt(this.height) }]),
      slot: () => ask(() => BigInt(this.height)),
      slotsWithBlocks: () => ask(() => []),
      block: () => Promise.reject(new NodeError('unavailable', 'this chain keeps no blocks')),
      balance: () => ask(() => 0n),
      tokenBalances: () => ask(() => []),
      transactionDetails: (signature) =>
        ask(() => {
          const found = this.landed.get(signature);
          if (!this.keepsDetails) throw new NodeError('unavailable', 'it keeps no history');
          if (found === undefined) return undefined;
          const { slot, err } = found;
          return { slot: BigInt(slot), logs: ['Program log: hello'], unitsConsumed: 150n, fee: 5000n, err };
        }),
    };
  }
}

/** Reads what a validator reads of a transaction before it looks at its instructions; throws for a wrong signature. */
export function readWire(bytes: Uint8Array): Handed {
  const count = bytes[0] ?? 0;
  const message = Uint8Array.from(bytes.subarray(1 + 64 * count));
  const body = (message[0] ?? 0) >= 0x80 ? message.subarray(1) : message;
  const keys = Array.from({ length: body[3] ?? 0 }, (_key, at) => body.subarray(4 + 32 * at, 36 + 32 * at));
  const signatures = Array.from({ length: count }, (_slot, at) => bytes.subarray(1 + 64 * at, 65 + 64 * at));
  if (count !== body[0]) throw new Error('it does not have one signature for each signer');
  for (const [at, signature] of signatures.entries()) {
    if (!ed25519.verify(signature, message, keys[at] as Uint8Array)) throw new Error(`signature ${at} is wrong`);
  }
  return {
    raw: Uint8Array.from(bytes),
    signature: base58.encode(signatures[0] as Uint8Array),
    signers: keys.slice(0, count).map((key) => base58.encode(key)),
    message,
    blockhash: base58.encode(body.subarray(4 + 32 * keys.length, 36 + 32 * keys.length)),
  };
}
