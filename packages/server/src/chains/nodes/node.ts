import type { ChainSettings } from '../settings.ts';

/** Text of bytes or of a quantity, with 0x. What a node answers is in lower case. */
export type Hex = `0x${string}`;

export interface EvmBlock {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** Absent on chains without EIP-1559. */
  readonly baseFeePerGas: bigint | undefined;
  /** The hashes of its transactions, in their order. */
  readonly transactions: readonly Hex[];
}

/** A block with what its transactions say of themselves. */
export interface EvmFullBlock extends Omit<EvmBlock, 'transactions'> {
  readonly transactions: readonly EvmMove[];
}

export interface EvmMove {
  readonly hash: Hex;
  readonly from: Hex;
  readonly to: Hex | undefined;
  readonly value: bigint;
}

export interface EvmLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  readonly logIndex: number;
}

export interface EvmReceipt {
  readonly transactionHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** False: the transaction is in the block, paid for its gas and was reverted. */
  readonly isSuccess: boolean;
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  readonly from: Hex;
  /** Absent when the transaction created a contract. */
  readonly to: Hex | undefined;
  readonly contractAddress: Hex | undefined;
  readonly logs: readonly EvmLog[];
}

export interface EvmTransaction {
  readonly hash: Hex;
  readonly from: Hex;
  readonly to: Hex | undefined;
  readonly value: bigint;
  readonly nonce: number;
  readonly input: Hex;
  /** Absent while no block has taken it. */
  readonly blockNumber: bigint | undefined;
}

export interface EvmCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly from?: Hex;
  readonly value?: bigint;
}

/** Not ok: the call was reverted, or the node would not run it; `data` is what the contract reverted with. */
export type CallResult = { readonly ok: true; readonly data: Hex } | CallRefusal;

export interface CallRefusal {
  readonly ok: false;
  readonly message: string;
  readonly data: Hex | undefined;
}

/** A signed entry of an EIP-7702 authorization list. */
export interface EvmAuthorization {
  readonly chainId: number;
  readonly address: Hex;
  readonly nonce: number;
  readonly yParity: number;
  readonly r: Hex;
  readonly s: Hex;
}

export interface EvmEstimate {
  readonly from: Hex;
  /** Absent: `data` creates a contract. */
  readonly to?: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly nonce?: number;
  readonly gas?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly authorizationList?: readonly EvmAuthorization[];
}

export type GasResult = { readonly ok: true; readonly gas: bigint } | CallRefusal;

export interface EvmFees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

interface EvmLogWish {
  readonly address?: Hex | readonly Hex[];
  /** By position; null takes every value, a list any of its values. */
  readonly topics?: readonly (Hex | readonly Hex[] | null)[];
}

/** A node that does not have a block yet refuses its hash, but answers with no logs for its number. */
export type EvmLogFilter = EvmLogWish &
  ({ readonly fromBlock: bigint; readonly toBlock: bigint } | { readonly blockHash: Hex });

/**
 * What became of signed bytes that were handed to nodes. `known`: a node has them already. `nonce-too-low`: a
 * transaction with this nonce is in the chain, perhaps this very one. `underpriced`: it pays too little, for its turn
 * or to take the place of another with this nonce that waits. `refused`: a node will not take it, and this time no
 * other was given it. `uncertain`: a node that may have it did not answer, or could not take it just now.
 */
export type Broadcast =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'known' }
  | { readonly kind: 'nonce-too-low' }
  | { readonly kind: 'underpriced' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'uncertain'; readonly message: string };

/**
 * The nodes of an EVM chain. A function throws a NodeError when no node gave an answer that can be true; what nodes say
 * is a value. A refused call is a value too, since it speaks of the call and not of the node.
 */
export interface EvmNode {
  readonly chain: ChainSettings;
  /** Undefined: the node has no such block (yet), or does not know the tag. */
  block(at: bigint | 'latest' | 'finalized' | 'safe'): Promise<EvmBlock | undefined>;
  /** Undefined: the node has no such block (yet). */
  fullBlock(number: bigint): Promise<EvmFullBlock | undefined>;
  transactionCount(address: Hex, at: 'latest' | 'pending'): Promise<number>;
  balance(address: Hex): Promise<bigint>;
  /** After a block. Undefined: the node does not have the state of that block any more. */
  balanceAt(address: Hex, number: bigint): Promise<bigint | undefined>;
  /** `0x` where there is no contract. */
  code(address: Hex): Promise<Hex>;
  /** 32 bytes. */
  storageAt(address: Hex, slot: Hex): Promise<Hex>;
  call(call: EvmCall, at?: bigint | 'latest'): Promise<CallResult>;
  /** Many calls at the latest block, in few requests; the results are in the order of the calls. */
  callMany(calls: readonly EvmCall[]): Promise<readonly CallResult[]>;
  estimateGas(transaction: EvmEstimate): Promise<GasResult>;
  /** Twice the base fee and a tip; the gas price for both where the chain has no base fee. */
  fees(): Promise<EvmFees>;
  receipt(hash: Hex): Promise<EvmReceipt | undefined>;
  transaction(hash: Hex): Promise<EvmTransaction | undefined>;
  /** At most 10,000; more are a NodeError, and the caller asks for fewer blocks. */
  logs(filter: EvmLogFilter): Promise<readonly EvmLog[]>;
  /** Hands signed bytes to one node, and to the next ones while it is uncertain. Throws for nothing that nodes say. */
  broadcast(raw: Hex): Promise<Broadcast>;
  /**
   * Whether nodes other than the one that served the receipt have the transaction in the same block. Undefined when
   * there is no other, or none answers.
   */
  confirmedElsewhere(receipt: EvmReceipt): Promise<boolean | undefined>;
  /** How many transactions of an address are in blocks, as each node that answers has it. */
  transactionCounts(address: Hex): Promise<readonly number[]>;
  /** Whether any node that answers has a receipt of one of these transactions. Undefined when nobody can tell. */
  hasReceiptAnywhere(hashes: readonly Hex[]): Promise<boolean | undefined>;
  /** How far each node is, as it says within a moment. */
  heads(): Promise<readonly NodeHead[]>;
}

export interface SolanaBlockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: bigint;
}

export type SolanaBroadcast =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'known' }
  | SolanaRefusal
  | { readonly kind: 'uncertain'; readonly message: string };

/**
 * What a node said instead of taking a transaction: `err` and `logs` are those of the simulation before it. The `err`
 * `BlockhashNotFound` may only mean that this node is behind, or that the transaction has expired since it was taken.
 */
export interface SolanaRefusal {
  readonly kind: 'refused';
  readonly rpcCode: number;
  readonly message: string;
  readonly logs?: readonly string[];
  /** The TransactionError as the node wrote it. */
  readonly err?: unknown;
}

export interface SolanaSignatureStatus {
  readonly slot: bigint;
  /** Absent once the slot is rooted. */
  readonly confirmations: number | undefined;
  readonly confirmationStatus: 'processed' | 'confirmed' | 'finalized';
  /** Undefined when the transaction did what it says; otherwise the TransactionError as the node wrote it. */
  readonly err: unknown;
}

/** What one node says of a transaction: what became of it, or how far the node is that knows nothing of it. */
export type SolanaSight =
  | { readonly status: SolanaSignatureStatus }
  | { readonly status: undefined; readonly height: bigint; readonly isBlockhashValid: boolean };

export interface SolanaTokenBalance {
  readonly mint: string;
  readonly amount: bigint;
  readonly decimals: number;
  readonly tokenProgram: string;
}

export interface SolanaTransactionDetails {
  readonly slot: bigint;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint | undefined;
  /** What programs called inside it, as the node wrote it: JSON. Undefined where it tells of none, or of too many. */
  readonly innerInstructions?: string | undefined;
  readonly fee: bigint;
  readonly err: unknown;
}

/** What a transaction of a block changed. */
export interface SolanaMove {
  readonly signature: string;
  /** In lamports, by account; those that did not change are left out. */
  readonly lamports: ReadonlyMap<string, bigint>;
  readonly tokens: readonly { readonly owner: string; readonly mint: string; readonly amount: bigint }[];
}

export interface SolanaBlock {
  readonly slot: bigint;
  readonly parentSlot: bigint;
  readonly hash: string;
  readonly parentHash: string;
  /** Seconds since the epoch; 0 where the node does not know. */
  readonly timestamp: number;
  readonly moves: readonly SolanaMove[];
  /** What the chain itself gave or took, by account. */
  readonly rewards: readonly { readonly account: string; readonly lamports: bigint }[];
}

export type SolanaCommitment = 'confirmed' | 'finalized';

export interface SolanaNode {
  readonly chain: ChainSettings;
  latestBlockhash(): Promise<SolanaBlockhash>;
  /** Of the finalized chain: a transaction that is in no block at its last valid height will never be. */
  blockHeight(): Promise<bigint>;
  isBlockhashValid(blockhash: string): Promise<boolean>;
  /** A whole signed transaction in base64. Throws for nothing that nodes say. */
  broadcast(transaction: string): Promise<SolanaBroadcast>;
  /** In the order of the signatures; undefined for one that the node knows nothing of. */
  signatureStatuses(signatures: readonly string[]): Promise<readonly (SolanaSignatureStatus | undefined)[]>;
  /**
   * What each node says of a transaction; those that do not answer are left out. The height is of the finalized chain.
   */
  lookEverywhere(signature: string, blockhash: string): Promise<readonly SolanaSight[]>;
  /** The newest slot with a block. */
  slot(commitment: SolanaCommitment): Promise<bigint>;
  /** The slots of a range that have a block. */
  slotsWithBlocks(from: bigint, to: bigint, commitment: SolanaCommitment): Promise<readonly bigint[]>;
  block(slot: bigint, commitment: SolanaCommitment): Promise<SolanaBlock>;
  /** In lamports. */
  balance(address: string): Promise<bigint>;
  /** Of both token programs, one entry for each mint. */
  tokenBalances(owner: string): Promise<readonly SolanaTokenBalance[]>;
  transactionDetails(signature: string): Promise<SolanaTransactionDetails | undefined>;
  /** How far each node is, as it says within a moment. */
  heads(): Promise<readonly NodeHead[]>;
}

/** How far a node is; no head: it does not answer. */
export interface NodeHead {
  readonly host: string;
  /** Its newest block, or slot. */
  readonly head: bigint | undefined;
}

/** The nodes of one chain, as what they are. */
export interface ChainNode {
  readonly evm?: EvmNode;
  readonly solana?: SolanaNode;
}

export interface Nodes {
  /** Throws ApiError CHAIN_NOT_CONFIGURED. */
  evm(caip2: string): EvmNode;
  /** Throws ApiError CHAIN_NOT_CONFIGURED. */
  solana(caip2: string): SolanaNode;
  /** How far each node of a chain is. Throws ApiError CHAIN_NOT_CONFIGURED. */
  heads(caip2: string): Promise<readonly NodeHead[]>;
  /** Gives up what is under way; nothing is asked afterwards. */
  close(): void;
}
