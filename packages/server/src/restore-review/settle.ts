import { serviceOf } from '../chains/index.ts';
import { SignerGone } from '../chains/send/errors.ts';
import type { Send, SendLane, SendProgress } from '../chains/send/model.ts';
import { LaneLost, type LaneMemory, type Round, SendChanged, SendGone, type SendParts } from '../chains/send/parts.ts';
import type { Sighting } from '../chains/send/sighting.ts';
import type { SendSigner } from '../chains/send/signer.ts';
import { OrganizationReader } from '../core/store/organizations.ts';
import { charge, isCharged } from '../domains/sends/budget.ts';
import { recordProgress, saveProgress } from '../domains/sends/save.ts';
import { SendReader } from '../domains/sends/store/sends.ts';
import { isHeld, SettlementReader, SettlementStore } from '../domains/sends/store/settlement.ts';
import { writeBeside } from '../keyring-admin/beside.ts';
import { systemClock } from '../lib/clock.ts';
import { randomId, type SendId } from '../lib/ids.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';
import type { Stores } from '../storage/stores.ts';
import {
  decidedSettlement,
  isDecidedSo,
  progressAfter,
  type SendDecision,
  type SendDecisions,
  type Settlement,
  settlementOf,
} from './decision.ts';
import type { RestoreInQuestion } from './restore.ts';
import { type ReviewChains, type ReviewedSend, reviewSends } from './sends.ts';

/** Between what is written: whoever is killed there runs the command again. */
export type AtStep = (
  step: 'confirmed' | 'settled' | 'looked at' | 'held behind' | 'all settled' | 'accepted',
) => void | Promise<void>;

export interface SettleOptions {
  readonly restore: RestoreInQuestion;
  /** What the operator decides; nothing else is done with these sends. */
  readonly decisions: SendDecisions;
  /** Whose sends are settled: of an organization with its sub-organizations, or of all. */
  readonly organizationId?: string | undefined;
  readonly say?: (line: string) => void;
  readonly at?: AtStep;
}

export interface SettledSend {
  readonly send: Send;
  readonly sighting: Sighting;
  readonly settlement: Settlement;
}

export interface Settled {
  readonly sends: readonly SettledSend[];
  /** Of those: what nobody knows, and what waits for a decision. */
  readonly held: readonly SettledSend[];
  /** Ids of sends that somebody else wrote. */
  readonly altered: readonly string[];
}

/**
 * Settles the sends of a restored database by what their chains say, before the fence is lifted: what landed is never sent again,
 * and what nobody knows is held. Can be repeated, also beside a service.
 */
export async function settleSends(
  storage: Storage,
  chains: ReviewChains,
  { restore, decisions, organizationId, say = () => {}, at = () => {} }: SettleOptions,
): Promise<Settled> {
  const settler = new Settler(storage, chains, at);
  const sends: SettledSend[] = [];
  const altered: string[] = [];
  const plan: SettledSend[] = [];
  const undecided = new Set(decisions.keys());
  // Whatever is wrong with a decision is said before anything is written.
  for await (const lane of reviewSends(storage, chains, restore)) {
    altered.push(...lane.altered);
    for (const one of lane.sends) {
      if (!(await isOf(storage, one.send, organizationId))) continue;
      const decision = decisions.get(one.send.id);
      undecided.delete(one.send.id);
      plan.push({ ...one, settlement: await settler.plan(one, decision) });
    }
  }
  for (const id of undecided) {
    if (await settler.isDone(id, decisions.get(id), organizationId)) continue;
    throw new StartError(
      `${id} is not a send that you can decide: it is over, was altered, belongs to another organization, or has been under way since the restore was accepted; \`custos restore review\` lists those that you can decide`,
    );
  }
  for (const one of plan) {
    const settlement = await settler.apply(one);
    sends.push({ ...one, settlement });
    if (sends.length % 100 === 0) say(`settled ${sends.length} of ${plan.length} sends`);
  }
  const behind = await settler.holdFollowers(organizationId);
  const settled = sends.map(
    (one): SettledSend => (behind.has(one.send.id) ? { ...one, settlement: { kind: 'hold' } } : one),
  );
  return { sends: settled, altered, held: settled.filter(({ settlement }) => settlement.kind === 'hold') };
}

/** Whether a send is an organization's, or one of its sub-organizations'. */
export async function isOf(
  { read }: Pick<Storage, 'read'>,
  send: Send,
  organizationId: string | undefined,
): Promise<boolean> {
  if (organizationId === undefined || send.organizationId === organizationId) return true;
  return (await read(OrganizationReader).find(send.organizationId))?.parentId === organizationId;
}

class Settler {
  readonly #storage: Storage;
  readonly #chains: ReviewChains;
  readonly #at: AtStep;
  readonly #parts: SendParts;

  constructor(storage: Storage, chains: ReviewChains, at: AtStep) {
    this.#storage = storage;
    this.#chains = chains;
    this.#at = at;
    this.#parts = {
      chains: [...chains.chains.values()],
      nodes: chains.nodes,
      storage: besideOf(storage),
      signer: NOBODY,
      // Services look for themselves every second.
      webhooks: { wake: () => {} },
      clock: systemClock,
      elapsed: () => performance.now(),
      newId: randomId,
      observe: { send: () => {}, unavailable: () => {} },
    };
  }

  async plan({ send, sighting }: ReviewedSend, decision: SendDecision | undefined): Promise<Settlement> {
    if (decision === undefined) return settlementOf(send, sighting);
    if (isDecidedSo(send, decision)) return { kind: 'keep' };
    const named = decision.kind === 'landed' ? await this.#named(send, decision.hash) : undefined;
    return decidedSettlement(send, decision, sighting, named);
  }

  /** Whether a run that was interrupted has settled a send so that nothing is left to be decided about it. */
  async isDone(id: string, decision: SendDecision | undefined, organizationId: string | undefined): Promise<boolean> {
    const send = await this.#storage.read(SettlementReader).withId(id);
    if (send === undefined || decision === undefined || !isDecidedSo(send, decision)) return false;
    return await isOf(this.#storage, send, organizationId);
  }

  async #named(send: Send, hash: string): Promise<Sighting | undefined> {
    const isOwn = send.attempts.some((attempt) => attempt.hash === hash);
    if (!isOwn && (await this.#storage.read(SendReader).hasHash(send.caip2, hash)))
      throw new StartError(`${send.id} cannot be decided like this: ${hash} is another send's transaction`);
    return await this.#chains.lookup(send.caip2)?.named(send, hash);
  }

  /** Writes down what follows for a send, in one transaction, and then has its lane look at what landed. */
  async apply({ send, settlement: planned }: SettledSend): Promise<Settlement> {
    const settlement = await this.#asItIsNow(send, planned);
    const progress = progressAfter(send, settlement);
    if (progress === undefined) return settlement;
    const lane = await this.#write(send, settlement, progress);
    await this.#at('settled');
    if (settlement.kind !== 'record' || !settlement.isLanded) return settlement;
    await this.#look(send, lane);
    await this.#at('looked at');
    return settlement;
  }

  /** What goes on with a held one is held too, and nobody could decide about what an erased organization left behind. */
  async #asItIsNow(send: Send, planned: Settlement): Promise<Settlement> {
    if (planned.kind === 'keep' && (await this.#isBehindHeld(send))) return { kind: 'hold' };
    if (planned.kind !== 'hold') return planned;
    const organization = await this.#storage.read(OrganizationReader).find(send.organizationId);
    return organization?.deletedAtMs === undefined ? planned : { kind: 'keep' };
  }

  async #isBehindHeld({ organizationId, afterId }: Send): Promise<boolean> {
    const before = afterId && (await this.#storage.read(SendReader).find(organizationId, afterId));
    return before ? isHeld(before) : false;
  }

  /** What waits for a send of another lane that was held after it, also where somebody decided to send it. Answers with the ids. */
  async holdFollowers(organizationId: string | undefined): Promise<ReadonlySet<SendId>> {
    const held = new Set<SendId>();
    for (;;) {
      let isChanged = false;
      for (const send of await this.#storage.read(SettlementReader).behindHeld()) {
        if (!(await isOf(this.#storage, send, organizationId))) continue;
        const settlement: Settlement = { kind: 'hold' };
        const progress = progressAfter(send, settlement);
        if (progress === undefined) continue;
        await this.#write(send, settlement, progress);
        await this.#at('held behind');
        held.add(send.id);
        isChanged = true;
      }
      if (!isChanged) return held;
    }
  }

  async #write(send: Send, settlement: Settlement, progress: SendProgress): Promise<SendLane> {
    return await writeBeside(this.#storage, async (store) => {
      const nowMs = systemClock();
      const lane = await store(SettlementStore).seize(send);
      const isAskedAnew = settlement.kind === 'again' || settlement.kind === 'anew';
      const createdAtMs = isAskedAnew ? nowMs : send.createdAtMs;
      if (!(await store(SettlementStore).settle(send, progress, createdAtMs, nowMs)))
        throw new StartError(`send ${send.id} was changed by a running service meanwhile: run the command again`);
      const after: Send = { ...send, ...progress, createdAtMs, updatedAtMs: nowMs };
      if (settlement.kind === 'anew') await this.#giveBack(store, send, nowMs);
      else if (settlement.kind !== 'hold') await recordProgress(store, this.#parts, send, after, true);
      return lane;
    });
  }

  /** What was reserved for the operator's costs of what can land no more. */
  async #giveBack(store: Stores, send: Send, nowMs: number): Promise<void> {
    const chain = this.#chains.chains.get(send.caip2);
    const payee = await store(OrganizationReader).find(send.organizationId);
    if (!isCharged(send) || chain === undefined || payee === undefined) return;
    const gone: Send = { ...send, state: 'FAILED', block: undefined, isOpen: false };
    await charge(store, { chain, payee, isPaid: true }, send, gone, nowMs);
  }

  /** One look of the kind that a service takes, which finds the block. What it does not find now, the service finds later. */
  async #look({ organizationId, id }: Send, lane: SendLane): Promise<void> {
    const send = await this.#storage.read(SendReader).find(organizationId, id);
    const chain = this.#chains.chains.get(lane.caip2);
    if (send === undefined || chain === undefined) return;
    const round: Round = {
      parts: this.#parts,
      chain,
      lane,
      memory: newMemory(),
      // Others in the lane may be held still: no gap is filled with what is theirs.
      isPartial: true,
      save: (before, progress) => saveProgress(this.#parts, lane, before, progress),
    };
    try {
      await serviceOf(lane.caip2).round(round, [send], false);
    } catch (error) {
      if (!isOfMoment(error)) throw error;
    }
  }
}

const OF_MOMENT = [LaneLost, SendGone, SendChanged];

/** A node that is away, or a service that has the lane by now. */
const isOfMoment = (error: unknown): boolean =>
  OF_MOMENT.some((kind) => error instanceof kind) || (error instanceof Error && error.name === 'NodeError');

/** Nothing is signed here. */
const NOBODY: SendSigner = {
  sign: () => Promise.reject(new SignerGone('nothing is signed while sends are settled')),
  signAsOperator: () => Promise.reject(new SignerGone('nothing is signed while sends are settled')),
};

const newMemory = (): LaneMemory => ({
  seenAtMs: performance.now(),
  broadcastAtMs: new Map(),
  lookedAtMs: new Map(),
  heldSince: new Map(),
  begunAtMs: new Map(),
  missingSince: new Map(),
  hasFinality: false,
});

const besideOf = (storage: Storage): Storage => ({
  kind: storage.kind,
  read: storage.read,
  load: storage.load,
  integrity: storage.integrity,
  fence: storage.fence,
  write: (unit) => writeBeside(storage, unit),
  close: () => storage.close(),
});
