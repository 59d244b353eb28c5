import type { Send, SendProgress } from '../chains/send/model.ts';
import { progressOf } from '../chains/send/parts.ts';
import type { SeenForm, Sighting } from '../chains/send/sighting.ts';
import { isUuid } from '../lib/ids.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';

/** What the operator says of a send: that a transaction was it, that it failed, or that it is to be sent once more. */
export type SendDecision =
  | { readonly kind: 'landed'; readonly hash: string }
  | { readonly kind: 'failed' }
  | { readonly kind: 'resend' };

/** By the ids of sends. */
export type SendDecisions = ReadonlyMap<string, SendDecision>;

/** `ID=landed:HASH`, `ID=failed` or `ID=resend`, each id once. */
export function parseSendDecisions(texts: readonly string[]): SendDecisions {
  const decisions = new Map<string, SendDecision>();
  for (const text of texts) {
    const [, id = '', verb, hash] = /^([^=]*)=(?:(landed):([0-9A-Za-z]{32,100})|failed|resend)$/.exec(text) ?? [];
    if (!isUuid(id)) {
      throw new StartError(
        `${printable(text)} is not a decision: write the id of a send and what became of it, as ID=landed:HASH, ID=failed or ID=resend`,
      );
    }
    if (decisions.has(id)) throw new StartError(`${id} is decided twice: name each send once`);
    if (verb === 'landed' && hash !== undefined) decisions.set(id, { kind: 'landed', hash });
    else decisions.set(id, { kind: text.endsWith('=failed') ? 'failed' : 'resend' });
  }
  return decisions;
}

/**
 * What is done with a send. `record`: a transaction is one of its forms, and it goes on from there. `keep`: it goes on as it
 * was. `again`: it waits as if it had been asked for now. `anew`: the same, and what was signed for it counts no more. `close`:
 * it landed, as the operator says. `hold`: nothing, until somebody decides.
 */
export type Settlement =
  | { readonly kind: 'record'; readonly form: SeenForm; readonly isLanded: boolean }
  | { readonly kind: 'close'; readonly hash: string }
  | { readonly kind: 'fail'; readonly because: string }
  | { readonly kind: 'keep' | 'again' | 'anew' | 'hold' };

/** What follows from what the chain says, without anybody. */
export function settlementOf(send: Send, sighting: Sighting): Settlement {
  switch (sighting.kind) {
    case 'landed':
    case 'pending':
      return { kind: 'record', form: sighting, isLanded: sighting.kind === 'landed' };
    case 'free':
      return { kind: 'keep' };
    case 'void':
      if (isOver(send)) return { kind: 'keep' };
      return send.attempts.length === 0 && sighting.canBeginAnew
        ? { kind: 'keep' }
        : { kind: 'fail', because: sighting.because };
    default:
      return { kind: isOver(send) ? 'keep' : 'hold' };
  }
}

/** In a block, or failed, before the backup already: such a send is only watched, and never handed over again. */
const isOver = ({ state }: Send): boolean => state === 'FAILED' || state === 'INCLUDED';

/**
 * What follows from a decision of the operator. `named` is what the chain says of the transaction that the decision names.
 * Throws where the chain says otherwise.
 */
export function decidedSettlement(
  send: Send,
  decision: SendDecision,
  sighting: Sighting,
  named: Sighting | undefined,
): Settlement {
  const refuse = (because: string): never => {
    throw new StartError(`${send.id} cannot be decided like this: ${because}`);
  };
  if (isOver(send)) return refuse(`it was ${send.state} before the backup, and goes on by itself`);
  if (decision.kind === 'landed') {
    if (named === undefined || named.kind === 'unknown') return { kind: 'close', hash: decision.hash };
    if (named.kind === 'landed' || named.kind === 'pending')
      return { kind: 'record', form: named, isLanded: named.kind === 'landed' };
    return refuse(named.because);
  }
  if (sighting.kind === 'landed' || sighting.kind === 'pending') {
    const where = sighting.kind === 'landed' ? 'it is in a block' : 'a node has it';
    return refuse(`${where} as ${sighting.attempt.hash}`);
  }
  if (decision.kind === 'failed') return { kind: 'fail', because: 'the operator decided so after a restore' };
  if (sighting.kind === 'unknown' && sighting.isAway)
    return refuse(`${sighting.because}; wait until the chain can be asked whether it landed`);
  if (sighting.kind === 'void')
    return sighting.canBeginAnew ? { kind: 'anew' } : refuse(`${sighting.because}, and it names no other way to leave`);
  // What is signed already is handed over again, byte for byte, or replaced at its nonce.
  return { kind: send.attempts.length > 0 ? 'keep' : 'again' };
}

/**
 * Whether a send is already what a decision makes of it: a command that was interrupted is run again with all its decisions, some of
 * which it had carried out.
 */
export function isDecidedSo({ state, txHash }: Pick<Send, 'state' | 'txHash'>, decision: SendDecision): boolean {
  if (decision.kind === 'landed') return state === 'INCLUDED' && txHash === decision.hash;
  return decision.kind === 'failed' && state === 'FAILED';
}

/** How far a send is after its settlement; undefined where nothing about it changes. */
export function progressAfter(send: Send, settlement: Settlement): SendProgress | undefined {
  const now = progressOf(send);
  switch (settlement.kind) {
    case 'record':
      return recorded(send, settlement.form);
    case 'close':
      return { ...now, state: 'INCLUDED', txHash: settlement.hash, error: undefined, isOpen: false };
    case 'fail': {
      const error = { message: settlement.because };
      // What was signed is watched for a while, and gives its nonce on, as when a node refuses it.
      return { ...now, state: 'FAILED', nonce: undefined, error, isOpen: send.attempts.length > 0 };
    }
    case 'anew': {
      const nothing = { nonce: undefined, attempts: [], txHash: undefined, block: undefined, error: undefined };
      return { ...nothing, state: 'INITIALIZED', isOpen: true };
    }
    case 'again':
      return { ...now, isOpen: true };
    case 'keep':
      return send.isOpen ? undefined : { ...now, isOpen: true };
    case 'hold':
      return send.isOpen ? { ...now, isOpen: false } : undefined;
  }
}

/** The transaction is one of its forms from now on, and what became of it is found out as of any other. */
function recorded(send: Send, { attempt, lastNonce }: SeenForm): SendProgress | undefined {
  const isKnown = send.attempts.some(({ hash }) => hash === attempt.hash);
  const isUnderWay = send.isOpen && send.state !== 'INITIALIZED';
  // Whether it is in a block, or failed and landed all the same, its lane finds out by the hash that it has.
  if (isKnown && isUnderWay) return undefined;
  return {
    ...progressOf(send),
    state: 'BROADCASTING',
    nonce: lastNonce,
    attempts: isKnown ? send.attempts : [...send.attempts, attempt],
    txHash: attempt.hash,
    error: undefined,
    isOpen: true,
  };
}
