import type { Receipt } from './poster/posting.ts';

/**
 * What an attempt means for its delivery. `retry`: it is tried again, and the receiver is in trouble, as are its other
 * deliveries. `refused`: it is tried again, and nothing is said about others; a receiver that is being deployed answers
 * 404 for minutes. `gone`: the receiver wants nothing more. `unsendable`: trying again changes nothing.
 */
export type AttemptOutcome = 'delivered' | 'retry' | 'refused' | 'gone' | 'unsendable';

const GONE = 410;
const TOO_MANY = 429;

export function outcomeOf({ status, error }: Receipt): AttemptOutcome {
  // A name can lead to a wrong address for a moment, a URL is wrong for good.
  if (status === undefined) return error === 'bad-url' ? 'unsendable' : 'retry';
  if (status >= 200 && status < 300) return 'delivered';
  if (status === GONE) return 'gone';
  return status >= 500 || status === TOO_MANY ? 'retry' : 'refused';
}

export const isTriedAgain = (outcome: AttemptOutcome): boolean => outcome === 'retry' || outcome === 'refused';
