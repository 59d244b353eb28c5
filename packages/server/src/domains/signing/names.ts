import { type NameSource, nameSource, type PaymentRecord } from '../../describe/names.ts';
import { looksOf } from '../../describe/values.ts';
import { LookAlikes } from '../wallets/look-alikes.ts';
import { PaymentReader } from './payments.ts';

/** Each takes a few look-ups; a request that pays more shows the others without their history. */
const ADDRESSES_MAX = 200;

export const names: readonly NameSource[] = [
  nameSource('payment', async ({ read, organizationId }, keys) => {
    const countedSinceMs = await read(PaymentReader).countedSince(organizationId);
    const found = await Promise.all(
      keys.slice(0, ADDRESSES_MAX).map(async (recipient): Promise<readonly [string, PaymentRecord]> => {
        const looks = looksOf(recipient);
        if (looks === undefined) return [recipient, { count: 0 }];
        const [{ count, sinceMs }, paid, owned] = await Promise.all([
          read(PaymentReader).paid(organizationId, { recipient, looks }),
          read(PaymentReader).alike(organizationId, { recipient, looks }),
          read(LookAlikes).find(organizationId, recipient),
        ]);
        const alike = owned ?? (paid === undefined ? undefined : { address: paid });
        return [
          recipient,
          {
            count,
            ...(sinceMs !== undefined && { sinceMs }),
            ...(countedSinceMs !== undefined && { countedSinceMs }),
            ...(alike !== undefined && { alike }),
          },
        ];
      }),
    );
    return new Map(found);
  }),
];
