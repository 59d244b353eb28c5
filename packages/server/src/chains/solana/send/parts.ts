import type { ReadStores } from '../../../storage/stores.ts';
import type { SolanaNode } from '../../nodes/node.ts';
import type { Send, SendProgress } from '../../send/model.ts';
import type { Since } from '../../send/since.ts';

/** What one step of a send on Solana works with. */
export interface SolanaParts {
  readonly node: SolanaNode;
  readonly read: ReadStores;
  /**
   * The 64 bytes of an Ed25519 signature: the operator's where the address is the operator's, else the organization's.
   */
  readonly sign: (send: Send, address: string, payload: Uint8Array) => Promise<Uint8Array>;
  readonly nowMs: number;
  /** By the clock that is never set. */
  readonly elapsedMs: number;
  /** Since when a transaction that can land no more is looked for in vain, by the send's id. */
  readonly missingSince: Map<string, Since>;
  /** Writes down what must be known before a node is; false when another process has the lane by now. */
  readonly save: (progress: SendProgress) => Promise<boolean>;
}
