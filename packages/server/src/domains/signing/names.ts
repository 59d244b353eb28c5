import { type NameContext, type NameSource, nameSource, type PaymentRecord } from '../../describe/names.ts';
import { looksOf } from '../../describe/values.ts';
import { chunks } from '../../lib/collections.ts';
import { LookAlikes } from '../wallets/look-alikes.ts';
import { PaymentReader } from './payments.ts';

/** Each takes a few look-ups. */
const AT_ONCE = 50;

async function recordOf(
  { read, organizationId }: NameContext,
  key: string,
  countedSinceMs: number | undefined,
): Promise<PaymentRecord> {
  const [chain = '', recipient = ''] = key.split(' ');
  const looks = looksOf(recipient);
  if (looks === undefined) return { count: 0 };
  const [{ count, sinceMs }, paid, owned] = await Promise.all([
    read(PaymentReader).paid(organizationId, { recipient, looks, chain }),
    read(PaymentReader).alike(organizationId, { recipient, looks }),
    read(LookAlikes).find(organizationId, recipient),
  ]);
  const alike = owned ?? (paid === undefined ? undefined : { address: paid });
  return {
    count,
    ...(sinceMs !== undefined && { sinceMs }),
    ...(countedSinceMs !== undefined && { countedSinceMs }),
    ...(alike !== undefined && { alike }),
  };
}

export const names: readonly NameSource[] = [
  nameSource('payment', async (context, keys) => {
    const countedSinceMs = await context.read(PaymentReader).countedSince(context.organizationId);
    const found = new Map<string, PaymentRecord>();
    for (const some of chunks(keys, AT_ONCE)) {
      const records = await Promise.all(some.map((key) => recordOf(context, key, countedSinceMs)));
      for (const [index, record] of records.entries()) found.set(some[index] as string, record);
    }
    return found;
  }),
];
