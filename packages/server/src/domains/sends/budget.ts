import { costOf, type SponsoredCost, USD_DIGITS } from '../../chains/send/cost.ts';
import { OverBudget } from '../../chains/send/errors.ts';
import type { Send } from '../../chains/send/model.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import { NATIVE_DIGITS } from '../../chains/settings.ts';
import type { Organization } from '../../core/model.ts';
import { formatUnits, toUnits } from '../../lib/amount.ts';
import type { Stores } from '../../storage/stores.ts';
import { DAY_MINUTES, firstMinute, minuteOf } from './sponsorship-model.ts';
import { SponsorshipStore } from './store/sponsorship.ts';

/** Whether what becomes of a send changes what the operator has paid. */
export const isCharged = ({ attempts }: Pick<Send, 'attempts'>): boolean => attempts[0]?.maxCost !== undefined;

type Payee = Pick<Organization, 'id' | 'parentId' | 'deletedAtMs'>;

interface Account {
  readonly chain: ChainSettings;
  readonly payee: Payee;
  /** Whether it was paid already, so that no limit can keep it from being. */
  readonly isPaid?: boolean;
}

/**
 * Counts what a step of a send costs the operator, in the transaction that writes the step down. The first one, before
 * which no node has seen the send, is compared with every limit: throws OverBudget, and nothing is written. Sends of
 * one tree go through here one at a time then, as their lanes and chains may be other processes' business.
 */
export async function charge(
  store: Stores,
  { chain, payee, isPaid = false }: Account,
  before: Send,
  after: Send,
  nowMs: number,
): Promise<void> {
  const [first] = after.attempts;
  if (first === undefined) return;
  const treeId = payee.parentId ?? payee.id;
  const [old, cost] = [costOf(before), costOf(after)];
  if (before.attempts.length === 0) {
    await store(SponsorshipStore).lock(treeId);
    if (!isPaid) await requireBudget(store, chain, payee, cost, first.usdPrice !== undefined, nowMs);
    await store(SponsorshipStore).sweep(nowMs);
  }
  const change = { native: cost.native - old.native, usdMicros: cost.usdMicros - old.usdMicros };
  if (change.native === 0n && change.usdMicros === 0n) return;
  const minute = minuteOf(first.signedAtMs);
  // Of one that is erased nothing is kept, but its tree goes on.
  const counted = payee.deletedAtMs === undefined ? new Set([payee.id, treeId]) : [treeId];
  for (const id of counted) {
    const bySubOrganizations = id === treeId && payee.parentId !== undefined;
    await store(SponsorshipStore).add(id, chain.caip2, minute, change, bySubOrganizations);
  }
}

async function requireBudget(
  store: Stores,
  { caip2, sponsoredPerDay }: ChainSettings,
  { id, parentId }: Payee,
  cost: SponsoredCost,
  hasPrice: boolean,
  nowMs: number,
): Promise<void> {
  const sponsorship = store(SponsorshipStore);
  const treeId = parentId ?? id;
  // What others in the tree have used is not told.
  const isOwn = (limited: typeof id): boolean => limited === id;
  if (sponsoredPerDay?.of === 'tree' || (sponsoredPerDay !== undefined && parentId !== undefined)) {
    const { most, of } = sponsoredPerDay;
    const used = await sponsorship.nativeUsage(treeId, caip2, firstMinute(nowMs, DAY_MINUTES), of);
    refuseAbove(most, used, cost.native, NATIVE_DIGITS, isOwn(treeId), (limit) => {
      const whose =
        of === 'tree' ? 'an organization with its sub-organizations' : 'the sub-organizations of an organization';
      return `the operator pays at most ${limit} of the native asset of ${caip2} for ${whose} in 24 hours (sponsoredPerDay in CUSTOS_CHAINS)`;
    });
  }
  const config = await sponsorship.config(treeId);
  if (config === undefined || !config.isEnabled) return;
  const { treeLimitUsd, subOrganizationLimitUsd, windowMinutes } = config;
  if (!hasPrice) {
    throw new OverBudget(
      `not sent: sponsored sends of the organization have a limit in US dollars, and the native asset of ${caip2} has no price: prices in CUSTOS_CHAINS`,
    );
  }
  const since = firstMinute(nowMs, windowMinutes);
  const check = async (limited: typeof id, limitUsd: string, whose: string): Promise<void> => {
    const used = await sponsorship.usdUsage(limited, since);
    refuseAbove(
      toUnits(limitUsd, USD_DIGITS),
      used,
      cost.usdMicros,
      USD_DIGITS,
      isOwn(limited),
      (limit) => `sponsored sends of ${whose} may cost ${limit} US dollars in ${windowMinutes} minutes`,
    );
  };
  await check(treeId, treeLimitUsd, 'the organization with its sub-organizations (orgWindowLimitUsd)');
  if (parentId !== undefined) {
    await check(id, subOrganizationLimitUsd, 'the sub-organization (subOrgWindowLimitUsd)');
  }
}

function refuseAbove(
  limit: bigint,
  used: bigint,
  cost: bigint,
  digits: number,
  isUsageTold: boolean,
  describe: (limit: string) => string,
): void {
  // With a limit of 0 nothing is sponsored, not even what costs nothing.
  if (limit > 0n && used + cost <= limit) return;
  const [most, before, now] = [limit, used, cost].map((amount) => formatUnits(amount, digits));
  const rest = isUsageTold
    ? `${before} is used, and it may cost ${now}`
    : `less is left than the ${now} that it may cost`;
  throw new OverBudget(`not sent: ${describe(most ?? '')}; ${rest}`);
}
