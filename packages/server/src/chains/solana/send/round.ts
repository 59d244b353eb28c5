import type { Send } from '../../send/model.ts';
import { isPassedOver, type Round, unlessGone } from '../../send/parts.ts';
import type { SolanaParts } from './parts.ts';
import { solanaStep } from './step.ts';

/** One look at the sends of an address on Solana: what is out is followed, what waits is begun in its order. */
export async function solanaRound(round: Round, open: readonly Send[], isPoked = false): Promise<void> {
  const out = open.filter(({ attempts }) => attempts.length > 0);
  // Side by side, so that what they ask of a node leaves in one request.
  const followed = await Promise.allSettled(isPoked ? [] : out.map((send) => take(round, send)));
  for (const outcome of followed) if (outcome.status === 'rejected') throw outcome.reason;
  for (const send of open) if (send.attempts.length === 0) await take(round, send);
}

async function take(round: Round, send: Send): Promise<void> {
  try {
    await unlessGone(() => stepOf(round, send));
  } catch (error) {
    if (!isPassedOver(round, error)) throw error;
  }
}

async function stepOf(round: Round, send: Send): Promise<void> {
  let current = send;
  const parts: SolanaParts = {
    node: round.parts.nodes.solana(round.chain.caip2),
    read: round.parts.storage.read,
    sign: (_send, address, payload) => sign(round, send, address, payload),
    nowMs: round.parts.clock(),
    elapsedMs: round.parts.elapsed(),
    missingSince: round.memory.missingSince,
    save: async (progress) => {
      current = await round.save(current, progress);
      return true;
    },
  };
  const progress = await solanaStep(parts, send);
  if (progress !== undefined) await round.save(current, progress);
}

async function sign({ parts, chain }: Round, send: Send, address: string, payload: Uint8Array): Promise<Uint8Array> {
  const isOperator = send.request.kind === 'solana' && send.request.isSponsored && address === chain.operatorAddress;
  const [signature] = isOperator
    ? await parts.signer.signAsOperator(chain.caip2, address, 'eddsa', [payload])
    : await parts.signer.sign(send.organizationId, address, 'eddsa', [payload]);
  return Buffer.concat([signature?.r ?? new Uint8Array(), signature?.s ?? new Uint8Array()]);
}
