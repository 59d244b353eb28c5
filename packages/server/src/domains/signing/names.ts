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
      keys.slice(0, ADDRESSES_MAX).map(async (key): Promise<readonly [string, PaymentRecord]> => {
        const [chain = '', recipient = ''] = key.split(' ');
        const looks = looksOf(recipient);
        if (looks === undefined) return [key, { count: 0 }];
        const [{ count, sinceMs }, paid, owned] = await Promise.all([
          read(PaymentReader).paid(organizationId, { recipient, looks, chain }),
          read(PaymentReader).alike(organizationId, { recipient, looks }),
          read(LookAlikes).find(organizationId, recipient),
        ]);
        const alike = owned ?? (paid === undefined ? undefined : { address: paid });
        return [
          key,
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
