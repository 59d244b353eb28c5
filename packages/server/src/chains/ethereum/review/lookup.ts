import { systemClock } from '../../../lib/clock.ts';
import type { EvmNode, Hex } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { laneAddress, type Send } from '../../send/model.ts';
import type { SendLookup, Sighting } from '../../send/sighting.ts';
import { type EvmParts, sightingOf } from './attempt.ts';
import type { EvmHistory } from './history.ts';
import { ethereumSightings } from './sightings.ts';

/** Looks for sends on an EVM chain. */
export function createEthereumLookup(node: EvmNode, history: EvmHistory): SendLookup {
  const parts: EvmParts = { node, history, nowMs: systemClock };
  return {
    ofLane: (lane) => ethereumSightings(parts, lane),
    async named(send, hash) {
      try {
        return await named(parts, send, hash.toLowerCase());
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        return { kind: 'unknown', because: `the nodes give no usable answer (${error.message})`, isAway: true };
      }
    },
  };
}

const HASH = /^0x[0-9a-f]{64}$/;

async function named(parts: EvmParts, send: Send, hash: string): Promise<Sighting> {
  if (!HASH.test(hash)) return not(`${hash} is no hash of a transaction, 0x and 64 hex digits`);
  const transaction = await parts.history.transaction(hash as Hex);
  if (transaction === undefined) return { kind: 'unknown', because: `no node knows ${hash}`, isAway: false };
  const address = laneAddress(send.lane);
  if (transaction.from === address) return await sightingOf(parts, send, transaction);
  return not(`${hash} is of ${transaction.from}, and not of ${address}`);
}

const not = (because: string): Sighting => ({ kind: 'void', because, canBeginAnew: false });
