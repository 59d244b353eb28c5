import type { Actor } from '../core/actor.ts';
import type { Activity, VelocityControl } from '../core/model.ts';
import { VelocityControls, VelocityCounts, type VelocityGroup } from '../core/rules.ts';
import { ApiError } from '../lib/errors.ts';
import type { NewId, OrganizationId } from '../lib/ids.ts';
import type { ReadStores, Stores } from '../storage/stores.ts';
import type { Movements } from './define.ts';
import {
  amountAgainst,
  groupOf,
  isExhausted,
  type Motion,
  motionsFor,
  refusedUncounted,
  satisfies,
  windowMs,
} from './rules/velocity.ts';

interface Reservation {
  /** Whose controls they are. */
  readonly organizationId: OrganizationId;
  readonly activity: Activity;
  readonly proposer: Actor;
  readonly moved: Movements;
  readonly byRootQuorum: boolean;
  readonly newId: NewId;
  readonly nowMs: number;
  /** Of the last restore for which windows count as full. */
  readonly exhaustedAtMs: number;
}

/**
 * Counts the activity against every control that selects it, and refuses it when one would not be satisfied
 * (protocol/policies 11.2). Each control is held until the transaction ends, so that of requests that race only as many
 * get through as fit; in the order of their ids, so that nobody waits for each other in a circle.
 */
export async function reserve(
  stores: Stores,
  controls: readonly VelocityControl[],
  { organizationId, activity, proposer, moved, byRootQuorum, newId, nowMs, exhaustedAtMs }: Reservation,
): Promise<void> {
  const motion: Motion = { activityType: activity.type, userId: proposer.userId, ...moved, walletId: moved.walletId };
  for (const control of controls) {
    const uncounted = byRootQuorum ? undefined : refusedUncounted(control, controls, motion);
    if (uncounted !== undefined) throw notCounted(control, uncounted);
    const counts = countsAgainst(control, motion);
    if (counts.length > 0 && !byRootQuorum && isExhausted(control, exhaustedAtMs, nowMs))
      throw exhausted(control, exhaustedAtMs);
    if (counts.length === 0 || !(await stores(VelocityCounts).lock(organizationId, control.id))) continue;
    for (const counted of counts) {
      const total = await totalWith(stores, organizationId, control, counted, nowMs);
      if (!byRootQuorum && !satisfies(control, total)) throw exceeded(control);
      await stores(VelocityCounts).add(organizationId, counted.group, {
        id: newId(),
        activityId: activity.id,
        amount: counted.amount,
        atMs: nowMs,
      });
    }
  }
}

interface Counted {
  readonly group: VelocityGroup;
  readonly amount: bigint;
}

/** Once, or where wallets are looked at one by one, once for each that signs. */
export function countsAgainst(control: VelocityControl, motion: Motion): readonly Counted[] {
  return motionsFor(control, motion).flatMap((one) => {
    const amount = (one.phases ?? ['signature'])
      .map((phase) => amountAgainst(control, one, phase))
      .find((found) => found !== undefined);
    const groupKey = groupOf(control, one);
    if (amount === undefined || groupKey === undefined) return [];
    return [{ group: { controlId: control.id, groupKey }, amount }];
  });
}

/** What the control would hold with this activity included. */
export async function totalWith(
  read: ReadStores,
  organizationId: Activity['organizationId'],
  control: VelocityControl,
  { group, amount }: Counted,
  nowMs: number,
): Promise<bigint> {
  const length = windowMs(control.aggregation);
  const used = await read(VelocityControls).used(
    organizationId,
    group,
    length === undefined ? undefined : nowMs - length,
  );
  return used + amount;
}

const exceeded = ({ id, name }: VelocityControl): ApiError =>
  new ApiError('VELOCITY_EXCEEDED', `the velocity control ${name} (${id}) does not let this activity through`);

const exhausted = ({ id, name, aggregation }: VelocityControl, exhaustedAtMs: number): ApiError => {
  const length = windowMs(aggregation);
  const restored = new Date(exhaustedAtMs).toISOString();
  const until =
    length === undefined
      ? 'it has no window that would pass; create the control anew'
      : `until ${new Date(exhaustedAtMs + length).toISOString()}`;
  return new ApiError(
    'VELOCITY_EXCEEDED',
    `the velocity control ${name} (${id}) counts as full: the database was restored at ${restored}, and what was used after the backup is not known (${until}); the root quorum can approve the activity`,
  );
};

const notCounted = ({ id, name, refuseUncounted }: VelocityControl, uncounted: string): ApiError => {
  const why = refuseUncounted
    ? 'refuseUncounted is set, and no control can count it'
    : 'it can move the asset, or hand over what holds it, without being counted';
  return new ApiError(
    'VELOCITY_UNCOUNTED',
    `the velocity control ${name} (${id}) refuses ${uncounted}: ${why}; leave it out, or let the root quorum approve the activity`,
  );
};
