import { serviceOf } from '../chains/index.ts';
import type { Nodes } from '../chains/nodes/node.ts';
import { createNodes } from '../chains/nodes/nodes.ts';
import type { Send, SendLaneName } from '../chains/send/model.ts';
import type { LaneSightings, OtherTransaction, SendLookup, Sighting } from '../chains/send/sighting.ts';
import type { ConfiguredChains } from '../chains/settings.ts';
import { SendReader } from '../domains/sends/store/sends.ts';
import { SettlementReader } from '../domains/sends/store/settlement.ts';
import { isViolation } from '../storage/integrity/apart.ts';
import type { Storage } from '../storage/storage.ts';
import type { RestoreInQuestion } from './restore.ts';

/** The nodes of the configured chains, for looking at sends. */
export interface ReviewChains {
  readonly chains: ConfiguredChains;
  readonly nodes: Nodes;
  /** Undefined for a chain that is not configured. */
  lookup(caip2: string): SendLookup | undefined;
  close(): void;
}

/** For one try at one node: nobody waits long for one that hangs. */
const TIMEOUT_MS = 10_000;

export function openReviewChains(chains: ConfiguredChains): ReviewChains {
  const stop = new AbortController();
  const options = { timeoutMs: TIMEOUT_MS };
  const nodes = createNodes(chains, options);
  const lookups = new Map<string, SendLookup>();
  return {
    chains,
    nodes,
    lookup(caip2) {
      const chain = chains.get(caip2);
      if (chain === undefined) return undefined;
      const known = lookups.get(caip2);
      if (known !== undefined) return known;
      const made = serviceOf(caip2).openLookup(nodes, chain, { ...options, signal: stop.signal });
      lookups.set(caip2, made);
      return made;
    },
    close() {
      stop.abort();
      nodes.close();
    },
  };
}

export interface ReviewedSend {
  readonly send: Send;
  readonly sighting: Sighting;
}

/** The sends of a paying address, and what else it has sent since the backup. */
export interface ReviewedLane extends SendLaneName {
  readonly sends: readonly ReviewedSend[];
  readonly others: readonly OtherTransaction[];
  /** Ids of sends that somebody else wrote: nothing is done with them. */
  readonly altered: readonly string[];
}

/** Says of every send in question what its chain says, a paying address at a time. */
export async function* reviewSends(
  storage: Pick<Storage, 'read'>,
  chains: ReviewChains,
  restore: RestoreInQuestion,
): AsyncGenerator<ReviewedLane> {
  for (const name of await storage.read(SettlementReader).lanes()) {
    const { sends: all, altered } = await storage.read(SettlementReader).ofLane(name);
    const sends: Send[] = [];
    for (const send of all) if (await restore.isInQuestion(send)) sends.push(send);
    if (sends.length === 0 && altered.length === 0) continue;
    const { sightings, others } = await look(storage, chains, name, sends, restore);
    const reviewed = sends.map((send) => ({ send, sighting: sightings.get(send.id) ?? NOT_LOOKED_AT }));
    yield { ...name, sends: await withPredecessors(storage, reviewed), others, altered };
  }
}

const NOT_LOOKED_AT: Sighting = { kind: 'unknown', because: 'it was not looked for', isAway: false };

async function look(
  { read }: Pick<Storage, 'read'>,
  chains: ReviewChains,
  { caip2, lane }: SendLaneName,
  sends: readonly Send[],
  { snapshotAtMs, restoredAtMs }: RestoreInQuestion,
): Promise<LaneSightings> {
  if (sends.length === 0) return { sightings: new Map(), others: [] };
  const lookup = chains.lookup(caip2);
  if (lookup === undefined) {
    const because = `the chain ${caip2} is not configured: CUSTOS_CHAINS has to name a node of it`;
    return { sightings: new Map(sends.map(({ id }) => [id, { kind: 'unknown', because, isAway: true }])), others: [] };
  }
  return await lookup.ofLane({
    caip2,
    lane,
    sends,
    // None was sent before it was asked for.
    snapshotAtMs: Math.max(snapshotAtMs, Math.min(...sends.map(({ createdAtMs }) => createdAtMs))),
    restoredAtMs,
    knownCount: await knownCount(read, caip2, lane, sends),
    isKnown: (hash) => read(SendReader).hasHash(caip2, hash),
  });
}

/** The newest ones of an address are enough: nonces rise with the blocks. */
const NEWEST = 20;

/** One more than the highest nonce of the address that a block has, as far as the database knows. */
async function knownCount(
  read: Storage['read'],
  caip2: string,
  lane: string,
  sends: readonly Send[],
): Promise<number | undefined> {
  const own = sends.find(({ sender }) => sender === lane);
  if (own === undefined) return undefined;
  const blocks = { from: 0, to: Number.MAX_SAFE_INTEGER };
  const landed = await read(SendReader)
    .included(own.organizationId, caip2, lane, blocks, NEWEST)
    .catch((error: unknown) => {
      // Then the chain is asked for old states instead.
      if (isViolation(error)) return [];
      throw error;
    });
  const nonces = landed.filter((send) => send.lane === lane).flatMap(({ nonce }) => nonce ?? []);
  return nonces.length === 0 ? undefined : Math.max(...nonces) + 1;
}

/**
 * One that goes on with another was not begun before that was in a block: where that is not, nothing was signed for it, whatever
 * nobody can see.
 */
async function withPredecessors(
  { read }: Pick<Storage, 'read'>,
  reviewed: readonly ReviewedSend[],
): Promise<ReviewedSend[]> {
  const byId = new Map<string, Sighting>(reviewed.map(({ send, sighting }) => [send.id, sighting]));
  const isInNoBlock = async ({ organizationId, afterId }: Send): Promise<boolean> => {
    if (afterId === undefined) return false;
    const before = byId.get(afterId);
    // Of another address the chain is asked by itself.
    if (before === undefined) return (await read(SendReader).find(organizationId, afterId))?.state === 'FAILED';
    return before.kind !== 'landed' && before.kind !== 'unknown';
  };
  const results: ReviewedSend[] = [];
  for (const { send, sighting } of reviewed) {
    const isOpenQuestion = sighting.kind === 'unseen' || sighting.kind === 'unknown';
    const isUnbegun = isOpenQuestion && send.attempts.length === 0 && (await isInNoBlock(send));
    const because = 'the transaction before it is in no block, so that nothing was signed for it';
    results.push({ send, sighting: isUnbegun ? { kind: 'free', because } : sighting });
  }
  return results;
}
