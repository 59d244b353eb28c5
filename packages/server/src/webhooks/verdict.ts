import type { Receipt } from './courier/courier.ts';

/** `gone`: the receiver wants nothing more. `refused`: trying again changes nothing. */
export type DeliveryVerdict = 'delivered' | 'retry' | 'refused' | 'gone';

const RETRIED: ReadonlySet<number> = new Set([408, 425, 429]);

/** What an attempt means for its delivery (decision 42). */
export function verdictOf({ status, error }: Receipt): DeliveryVerdict {
  if (status === undefined) return error === 'forbidden-address' || error === 'bad-url' ? 'refused' : 'retry';
  if (status >= 200 && status < 300) return 'delivered';
  if (status === 410) return 'gone';
  return status >= 500 || RETRIED.has(status) ? 'retry' : 'refused';
}
