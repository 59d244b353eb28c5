import type { ActivityId, OrganizationId, SendId } from '../../lib/ids.ts';
import type { SendState } from '../settings.ts';

/** What a send is for: somebody's own, or a step of Earn. */
export const SEND_PURPOSES = [
  'send',
  'raw',
  'earn-deploy',
  'earn-approve',
  'earn-deposit',
  'earn-withdraw',
  'earn-claim',
] as const;
export type SendPurpose = (typeof SEND_PURPOSES)[number];

/** Hex in lower case with 0x; the value in wei as a decimal number. */
export interface SendCall {
  readonly to: string;
  readonly value: string;
  readonly data: string;
}

/** A transaction of an EVM chain that the dispatcher completes. Numbers are decimal. */
export interface EthereumSendRequest {
  readonly kind: 'ethereum';
  readonly calls: readonly SendCall[];
  /** What the caller fixed; the dispatcher chooses the rest. */
  readonly nonce?: number;
  readonly gasLimit?: string;
  readonly maxFeePerGas?: string;
  readonly maxPriorityFeePerGas?: string;
  /** Set when the operator's key pays: the account signs the calls, the operator the transaction. */
  readonly sponsored?: {
    /** Of the account's batch, not of its transactions. */
    readonly batchNonce: string;
  };
  /** In seconds since 1970: it is not sent later than that. */
  readonly deadline?: number;
}

/** A transaction that was signed elsewhere. */
export interface RawSendRequest {
  readonly kind: 'ethereum-raw';
  readonly raw: string;
}

export interface SolanaSendRequest {
  readonly kind: 'solana';
  /** The whole transaction in hex, with the signatures that it came with. */
  readonly transaction: string;
  /** The addresses that sign, of this organization. */
  readonly signers: readonly string[];
  /** Whether the dispatcher sets a fresh blockhash: the transaction came without one. */
  readonly takesFreshBlockhash: boolean;
  /** Whether the operator's key signs as the payer of the fee. */
  readonly isSponsored: boolean;
}

export type SendRequest = EthereumSendRequest | RawSendRequest | SolanaSendRequest;

/**
 * One signed form of a send. All of a send's have one nonce, or on Solana no life in common, so that one lands at most.
 */
export interface SendAttempt {
  /** The transaction hash, or on Solana the signature in base58. */
  readonly hash: string;
  /** The signed bytes: hex with 0x, on Solana base64. */
  readonly raw: string;
  /** Of the transaction itself; an authorization in it may take the next one too. */
  readonly nonce?: number;
  /** On Solana: the block height after which no block takes it. */
  readonly lastValidBlockHeight?: number;
  readonly signedAtMs: number;
  /** It does nothing but take the nonce: nodes refused what was asked for, and others wait behind it. */
  readonly isEmpty?: true;
  /** Where the operator pays: the most that it can cost, in the smallest unit of the native asset. */
  readonly maxCost?: string;
  /** Beside it: US dollars for one whole unit when the send was first signed, if the operator had set a price. */
  readonly usdPrice?: string;
}

/** One frame of a revert, as the wire has it. */
export interface RevertEntry {
  readonly address?: string;
  readonly errorType?: 'unknown' | 'native' | 'custom';
  readonly displayMessage?: string;
  readonly unknown?: { readonly selector?: string; readonly data?: string };
  readonly native?: { readonly nativeType?: string; readonly message?: string; readonly panicCode?: string };
  readonly custom?: { readonly errorName?: string; readonly paramsJson?: string };
}

/** Why a send failed, as the wire has it. */
export interface SendError {
  readonly message: string;
  readonly eth?: { readonly revertChain: readonly RevertEntry[] };
  readonly solana?: {
    readonly source?: string;
    readonly rpcCode?: number;
    readonly rpcMessage?: string;
    readonly transactionErrorJson?: string;
    readonly logs?: readonly string[];
    readonly unitsConsumed?: string;
    readonly innerInstructionsJson?: string;
  };
}

export interface Send {
  readonly organizationId: OrganizationId;
  readonly id: SendId;
  readonly activityId: ActivityId;
  readonly caip2: string;
  /** Whose transaction it is: lower-case hex, or base58. */
  readonly sender: string;
  /** Whose nonce it takes and who pays: the sender, or the operator. Sends of a lane go out one after the other. */
  readonly lane: string;
  readonly purpose: SendPurpose;
  readonly request: SendRequest;
  /** The send that must be included before this one is begun. */
  readonly afterId: SendId | undefined;
  readonly state: SendState;
  /** The last nonce of the lane that it takes. */
  readonly nonce: number | undefined;
  readonly attempts: readonly SendAttempt[];
  /** Of the attempt that is in a block, or else of the newest. */
  readonly txHash: string | undefined;
  /** Where it is included. */
  readonly block: SendBlock | undefined;
  readonly error: SendError | undefined;
  /** Whether it is still watched: false once nothing can change it any more. */
  readonly isOpen: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface SendBlock {
  /** On Solana the slot. */
  readonly number: number;
  /** On Solana the slot too. */
  readonly hash: string;
  /** In seconds since 1970; on Solana when it was first seen there. */
  readonly timestamp: number;
  /** What was paid for it, in the smallest unit of the native asset; decimal, empty where the node does not tell. */
  readonly fee: string;
  /** Of an EVM chain, decimal; older versions did not keep it. */
  readonly gasUsed?: string;
  /** Of a withdrawal from a fee wrapper: what its receipt says was paid out, in the smallest unit of the asset. */
  readonly withdrawn?: string;
}

/** What of a send changes while it is on its way. */
export type SendProgress = Pick<Send, 'state' | 'nonce' | 'attempts' | 'txHash' | 'block' | 'error' | 'isOpen'>;

/** A lane that a process has claimed; one works on it at a time. */
export interface SendLane extends SendLaneName {
  /** Raised with every claim: what an older claim wants to write is refused. */
  readonly epoch: number;
}

/** The key that pays for an operator on a chain. */
export interface OperatorKey {
  readonly caip2: string;
  /** Lower-case hex, or base58. */
  readonly address: string;
  readonly publicKey: string;
  readonly sealedKey: Uint8Array;
  readonly createdAtMs: number;
}

/**
 * The first nonce that neither the chain nor a send of ours has. One that is fixed far ahead leaves the gap to be
 * filled.
 */
export function nextNonce(count: number, taken: ReadonlySet<number>): number {
  let next = count;
  while (taken.has(next)) next += 1;
  return next;
}

/** Where an organization sends transactions that keys of others have signed. */
export const foreignLane = (organizationId: OrganizationId, address: string): string => `${organizationId} ${address}`;

/** The address whose nonces a lane takes. */
export const laneAddress = (lane: string): string => lane.slice(lane.lastIndexOf(' ') + 1);

/** The sends of one paying address on one chain. */
export interface SendLaneName {
  readonly caip2: string;
  readonly lane: string;
}
