import { systemClock } from '../../../lib/clock.ts';
import type { SolanaNode } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { costTerms } from '../../send/cost.ts';
import type { Send } from '../../send/model.ts';
import type { SendLookup, Sighting } from '../../send/sighting.ts';
import { highestFee } from '../fee.ts';
import { requiredSigners } from '../signatures.ts';
import type { SolanaHistory } from './history.ts';
import { type SolanaReviewParts, solanaSightings } from './sightings.ts';

/** Looks for sends on a Solana chain. */
export function createSolanaLookup(node: SolanaNode, history: SolanaHistory): SendLookup {
  const parts: SolanaReviewParts = { node, history, nowMs: systemClock };
  return {
    ofLane: (lane) => solanaSightings(parts, lane),
    async named(send, signature) {
      try {
        return await named(parts, send, signature);
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        return { kind: 'unknown', because: `the nodes give no usable answer (${error.message})`, isAway: true };
      }
    },
  };
}

async function named({ node, history, nowMs }: SolanaReviewParts, send: Send, signature: string): Promise<Sighting> {
  const wire = await history.transaction(signature);
  if (wire === undefined || !requiredSigners(wire).includes(send.lane))
    return { kind: 'void', because: `${send.lane} has not signed ${signature}`, canBeginAnew: false };
  const attempt = send.attempts.find(({ hash }) => hash === signature) ?? {
    hash: signature,
    raw: wire.raw.toString('base64'),
    signedAtMs: nowMs(),
    ...costTerms(node.chain, send, highestFee(wire.transaction)),
  };
  const [status] = await node.signatureStatuses([signature]);
  if (status === undefined || status.confirmationStatus === 'processed')
    return { kind: 'pending', attempt, lastNonce: undefined };
  return {
    kind: 'landed',
    attempt,
    block: { number: Number(status.slot), isSuccess: status.err === undefined },
    lastNonce: undefined,
  };
}
