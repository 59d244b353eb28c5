import type { SendId } from '../../lib/ids.ts';
import type { Send, SendAttempt, SendLaneName } from './model.ts';

// What a chain says of sends whose fate a restored database does not know: the service that was lost may have signed, sent
// and replaced them after the backup.

/** Where a transaction is, in a block. */
export interface SightedBlock {
  /** On Solana the slot. */
  readonly number: number;
  /** Whether it did what it says; otherwise it paid its fee and did nothing. */
  readonly isSuccess: boolean;
}

/** The transaction that a send became. */
export interface SeenForm {
  readonly attempt: SendAttempt;
  /** The last nonce of the address that it takes; undefined on chains without nonces. */
  readonly lastNonce: number | undefined;
}

/**
 * `landed`: in a block. `pending`: a node has it, and no block. `void`: nothing that was signed for it can land any more.
 * `free`: neither, and to send it once more pays once, because its nonce, its batch or its very bytes are the same.
 * `unseen`: no node shows it, and one that was signed at a nonce or a blockhash that nobody knows may still turn up.
 * `unknown`: the chain could not be asked, or its nodes contradict each other.
 */
export type Sighting =
  | (SeenForm & { readonly kind: 'landed'; readonly block: SightedBlock })
  | (SeenForm & { readonly kind: 'pending' })
  | {
      readonly kind: 'void';
      readonly because: string;
      /** Whether it could be begun as if it never had been: it names neither a nonce nor a blockhash of its own. */
      readonly canBeginAnew: boolean;
    }
  | { readonly kind: 'free'; readonly because: string }
  | { readonly kind: 'unseen'; readonly because: string }
  | {
      readonly kind: 'unknown';
      readonly because: string;
      /** No node answers; otherwise they answer, but do not have what was asked for. */
      readonly isAway: boolean;
    };

/** A transaction that an address made after the backup and that is no send of the database. */
export interface OtherTransaction {
  readonly hash: string;
  readonly nonce?: number;
  /** The block, or on Solana the slot; undefined while it waits. */
  readonly block: number | undefined;
  /** What it says, for a person. */
  readonly says: string;
}

/** The sends of a paying address that are not final. */
export interface UnsettledLane extends SendLaneName {
  /** In the order in which they would leave. */
  readonly sends: readonly Send[];
  readonly snapshotAtMs: number;
  /** From then on the service that was lost has signed nothing. */
  readonly restoredAtMs: number;
  /** One more than the highest nonce of the address that a block is known to have; undefined where nobody knows. */
  readonly knownCount: number | undefined;
  /** Whether a transaction is another send's, by what is stored. */
  isKnown(hash: string): Promise<boolean>;
}

export interface LaneSightings {
  /** Of every send that was asked for. */
  readonly sightings: ReadonlyMap<SendId, Sighting>;
  readonly others: readonly OtherTransaction[];
}

/** Looks for sends on one chain. */
export interface SendLookup {
  /** Throws nothing that nodes say: what they do not answer is unknown. */
  ofLane(lane: UnsettledLane): Promise<LaneSightings>;
  /** A transaction that a person says is the send's; `void` where it is not of the address that pays. */
  named(send: Send, hash: string): Promise<Sighting>;
}

/** More are counted and not shown. */
export const OTHERS_SHOWN = 100;
