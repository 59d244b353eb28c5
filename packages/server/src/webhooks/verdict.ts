import type { Receipt } from './courier/courier.ts';

/** `gone`: the receiver wants nothing more. `refused`: trying again changes nothing. */
export type DeliveryVerdict = 'delivered' | 'retry' | 'refused' | 'gone';

const RETRIED: ReadonlySet<number> = new Set([408, 425, 429]);

/** What an attempt means for its delivery (decision 42). */
export function verdictOf({ status, error }: Receipt): DeliveryVerdict {
  // A name can lead to a wrong address for a moment, a URL is wrong for good.
  if (status === undefined) return error === 'bad-url' ? 'refused' : 'retry';
  if (status >= 200 && status < 300) return 'delivered';
  if (status === 410) return 'gone';
  return status >= 500 || RETRIED.has(status) ? 'retry' : 'refused';
}
