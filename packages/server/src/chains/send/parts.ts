import type { Clock } from '../../lib/clock.ts';
import type { NewId, WebhookEndpointId } from '../../lib/ids.ts';
import { isViolation } from '../../storage/integrity/apart.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Nodes } from '../nodes/node.ts';
import type { ChainSettings } from '../settings.ts';
import type { Send, SendLane, SendProgress } from './model.ts';
import type { SendSigner } from './signer.ts';
import type { Since } from './since.ts';

export interface SendObserver {
  /** A send reached a state. */
  send(send: Send, state: Send['state']): void;
  unavailable(operation: string, cause: unknown): void;
}

/** What the dispatcher is built from. */
export interface SendParts {
  readonly chains: readonly ChainSettings[];
  readonly nodes: Nodes;
  readonly storage: Storage;
  readonly signer: SendSigner;
  readonly webhooks: { wake(endpointIds: readonly WebhookEndpointId[]): void };
  readonly clock: Clock;
  /** For what is compared within this process only: it goes on when the clock is set. */
  readonly elapsed: Clock;
  readonly newId: NewId;
  readonly observe: SendObserver;
}

/** What one round of a lane works with. */
export interface Round {
  readonly parts: SendParts;
  readonly chain: ChainSettings;
  readonly lane: SendLane;
  /** What this process remembers of the lane's sends between rounds; nothing that would have to survive it. */
  readonly memory: LaneMemory;
  /** Whether sends of organizations that are held after a restore are left out. Their nonces are theirs all the same. */
  readonly isPartial?: boolean;
  /**
   * Writes down how far a send is and tells webhooks of a new state. Throws LaneLost when another process has the lane,
   * SendGone when the send is not there any more, and SendChanged when it is not stored as `send` has it. What is
   * written or sent next builds on the answer: a node gets bytes only after they were written.
   */
  readonly save: (send: Send, progress: SendProgress) => Promise<Send>;
}

export interface LaneMemory {
  /** When this process last had a look at the lane. */
  seenAtMs: number;
  /** When a send's bytes were last handed to a node. */
  readonly broadcastAtMs: Map<string, number>;
  /** When a send was last looked at. */
  readonly lookedAtMs: Map<string, number>;
  /** Whether the chain has told of a block that is final. */
  hasFinality: boolean;
  /** Since when a send is looked for in vain that can land no more, or that failed. */
  readonly missingSince: Map<string, Since>;
  /** Since when, in milliseconds, a send may not begin that others in its lane do not wait for. */
  readonly heldSince: Map<string, number>;
  /** When this process wrote down the first bytes of a send: one that has none again was put back from an older time. */
  readonly begunAtMs: Map<string, number>;
}

/** Another process has taken the lane over: whatever was to be written is for it to find out. */
export class LaneLost extends Error {
  override readonly name = 'LaneLost';
}

/** The send was erased with its organization meanwhile. That is nobody's business but its own. */
export class SendGone extends Error {
  override readonly name = 'SendGone';
}

/**
 * The stored send is not what was read, so what was decided about it was not written and must not be done. A lane has one
 * process, which takes each send once: this is a defect, or somebody else changes the database. The round fails, which is
 * reported, and the next one reads the send anew.
 */
export class SendChanged extends Error {
  override readonly name = 'SendChanged';
}

/** Does what a send needs; one that is gone needs nothing any more. */
export async function unlessGone(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SendGone)) throw error;
  }
}

/** Whether organizations share the lane: the operator pays for all of them. */
export const isShared = ({ chain, lane }: Pick<Round, 'chain' | 'lane'>): boolean =>
  lane.lane === chain.operatorAddress;

/** A record that is not genuine keeps the sends of one organization, and not those of others in the same lane. */
export const isPassedOver = (round: Round, error: unknown): boolean => isShared(round) && isViolation(error);

export const progressOf = ({ state, nonce, attempts, txHash, block, error, isOpen }: Send): SendProgress => ({
  state,
  nonce,
  attempts,
  txHash,
  block,
  error,
  isOpen,
});
