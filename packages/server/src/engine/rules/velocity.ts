import type { AssetFee, AssetId, AssetMovements, AssetReach, UncountedPart } from '../../chains/asset-types.ts';
import { assetName, mayBe, parseCaip19 } from '../../chains/caip19.ts';
import type { VelocityAggregation, VelocityControl, VelocityDataSource } from '../../core/model.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { activityType } from '../../policy/index.ts';

/** Amounts are kept as whole numbers of 10^-78 asset units, so that assets of any decimals add up exactly. */
const SCALE = 78;
const DECIMALS_MAX = 77;
const WINDOW_MS_MAX = 366 * DAY_MS;

/** What an activity has to do with velocity controls. */
export interface Motion extends AssetMovements {
  readonly activityType: string;
  readonly userId: string;
  readonly walletId: string | undefined;
  /** What each wallet loses, where several sign. */
  readonly wallets?: readonly (AssetMovements & { readonly walletId: string })[];
  /** What happens to what moves; it is signed, unless told otherwise. */
  readonly phases?: readonly ('signature' | 'submission')[];
}

/** The rules on a control that a schema cannot state; throws ApiError. */
export function checkControl(source: VelocityDataSource, aggregation: VelocityAggregation, field: string): void {
  const { chainAssetTransfer, activityExecution } = source;
  const at = `${field}.dataSource`;
  if ((chainAssetTransfer === undefined) === (activityExecution === undefined)) {
    throw invalidField(at, 'must have exactly one of chainAssetTransfer and activityExecution');
  }
  for (const [index, { caip19, decimals }] of (chainAssetTransfer?.definition ?? []).entries()) {
    requireAsset(caip19, `${at}.chainAssetTransfer.definition.${index}.caip19`);
    if (Number(decimals) > DECIMALS_MAX) {
      throw invalidField(`${at}.chainAssetTransfer.definition.${index}.decimals`, `must be at most ${DECIMALS_MAX}`);
    }
  }
  const filter = (chainAssetTransfer ?? activityExecution)?.filter?.activity ?? [];
  for (const [index, { activityType: type }] of filter.entries()) {
    if (activityType(type) === undefined) {
      const source = chainAssetTransfer === undefined ? 'activityExecution' : 'chainAssetTransfer';
      throw invalidField(`${at}.${source}.filter.activity.${index}.activityType`, 'is no type of an activity');
    }
  }
  const { phase } = chainAssetTransfer ?? {};
  if (phase !== undefined && (phase.signature === undefined) === (phase.submission === undefined)) {
    throw invalidField(`${at}.chainAssetTransfer.phase`, 'must have exactly one of signature and submission');
  }
  if (activityExecution !== undefined && aggregation.method !== 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT') {
    throw invalidField(`${field}.aggregation.method`, 'an activity has no amount to sum: count it');
  }
  const { window, groupBy } = aggregation;
  if ((window.rolling === undefined) === (window.infinite === undefined)) {
    throw invalidField(`${field}.aggregation.window`, 'must have exactly one of rolling and infinite');
  }
  if (window.rolling !== undefined && windowMs(aggregation) === undefined) {
    throw invalidField(
      `${field}.aggregation.window.rolling.duration`,
      'must be like 3600s, 90m, 24h or 7d, up to 366d',
    );
  }
  const groups = [groupBy.organization, groupBy.user, groupBy.wallet].filter((group) => group !== undefined);
  if (groups.length !== 1) {
    throw invalidField(`${field}.aggregation.groupBy`, 'must have exactly one of organization, user and wallet');
  }
}

function requireAsset(caip19: string, field: string): void {
  try {
    parseCaip19(caip19);
  } catch (error) {
    throw error instanceof ApiError ? invalidField(field, error.message) : error;
  }
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** The length of a rolling window; undefined for an infinite one. */
export function windowMs({ window }: VelocityAggregation): number | undefined {
  const [, count, unit = ''] = /^([1-9][0-9]{0,9})([smhd])$/.exec(window.rolling?.duration ?? '') ?? [];
  const length = Number(count) * (UNITS[unit] ?? Number.NaN);
  return length <= WINDOW_MS_MAX ? length : undefined;
}

/**
 * Whether a control counts as full because of a restore: what was used between the backup and the restore is not known, and may
 * lie in the window still. One that was created since has counted everything.
 */
export function isExhausted(
  { aggregation, createdAtMs }: Pick<VelocityControl, 'aggregation' | 'createdAtMs'>,
  exhaustedAtMs: number,
  nowMs: number,
): boolean {
  const length = windowMs(aggregation) ?? Number.POSITIVE_INFINITY;
  return createdAtMs <= exhaustedAtMs && nowMs - length < exhaustedAtMs;
}

/** The activity wallet by wallet, where the control looks at wallets and several sign. */
export function motionsFor({ aggregation }: VelocityControl, motion: Motion): readonly Motion[] {
  if (aggregation.groupBy.wallet === undefined || motion.wallets === undefined) return [motion];
  return motion.wallets.map((moved) => ({ ...motion, fees: [], ...moved }));
}

/** How much an activity counts against a control; undefined when it does not select the activity. Pure. */
export function amountAgainst(
  { dataSource, aggregation, refuseUncounted }: VelocityControl,
  motion: Motion,
  phase: 'signature' | 'submission',
): bigint | undefined {
  const { chainAssetTransfer, activityExecution } = dataSource;
  if (!selectsActivity(dataSource, motion)) return undefined;
  if (activityExecution !== undefined) return one;
  if (chainAssetTransfer === undefined || phaseOf(chainAssetTransfer) !== phase) return undefined;
  const assets = chainAssetTransfer.definition.map(({ caip19, decimals }) => ({
    asset: parseCaip19(caip19),
    unit: 10n ** BigInt(SCALE - Number(decimals)),
  }));
  const isSum = sums({ aggregation });
  // A fee is no transfer to count, but with `refuseUncounted` no amount may leave beside the sum.
  const fees = refuseUncounted && isSum ? (motion.fees ?? []) : [];
  let amount: bigint | undefined;
  for (const transfer of [...motion.transfers, ...fees]) {
    // One that fits several definitions counts once, by the one in which it is the most.
    let most: bigint | undefined;
    for (const { asset, unit } of assets) {
      if (mayBe(transfer, asset) && (most === undefined || unit > most)) most = unit;
    }
    if (most !== undefined) amount = (amount ?? 0n) + (isSum ? (transfer.amount ?? 0n) * most : one);
  }
  return amount;
}

const sums = ({ aggregation }: Pick<VelocityControl, 'aggregation'>): boolean =>
  aggregation.method === 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM';

function selectsActivity(source: VelocityDataSource, { activityType: given }: Motion): boolean {
  const filter = (source.chainAssetTransfer ?? source.activityExecution)?.filter?.activity;
  return filter === undefined || filter.some(({ activityType: type }) => familyOf(type) === familyOf(given));
}

/** The assets that a control counts in an activity; undefined when it looks at no assets, or not at this activity. */
function assetsWatched(control: VelocityControl, motion: Motion): readonly AssetId[] | undefined {
  const { chainAssetTransfer } = control.dataSource;
  if (chainAssetTransfer === undefined || !selectsActivity(control.dataSource, motion)) return undefined;
  if (!(motion.phases ?? ['signature']).includes(phaseOf(chainAssetTransfer))) return undefined;
  if (groupOf(control, motion) === undefined) return undefined;
  return chainAssetTransfer.definition.map(({ caip19 }) => parseCaip19(caip19));
}

/**
 * The first part of an activity that a control does not let through because it cannot be counted; undefined when there is
 * none. A part that is known to move an asset is refused by controls on that asset. One with `refuseUncounted` also refuses
 * what nobody can read, assets that no control counts, and open fees in the asset. Pure.
 */
export function refusedUncounted(
  control: VelocityControl,
  controls: readonly VelocityControl[],
  motion: Motion,
): string | undefined {
  return motionsFor(control, motion)
    .map((one) => refusedPart(control, controls, one))
    .find((name) => name !== undefined);
}

function refusedPart(
  control: VelocityControl,
  controls: readonly VelocityControl[],
  motion: Motion,
): string | undefined {
  const watched = assetsWatched(control, motion);
  if (watched === undefined) return undefined;
  if (!control.refuseUncounted) {
    const isRefused = ({ certainty, reach }: UncountedPart) =>
      certainty === 'known' && reach.some((moved) => watched.some((asset) => mayBe(moved, asset)));
    return motion.uncounted.find(isRefused)?.name;
  }
  const counted = controls.flatMap((one) => assetsWatched(one, motion) ?? []);
  const isCounted = (moved: AssetReach) => counted.some((asset) => mayBe(moved, asset));
  // A known call of a counted token that moves none of it passes.
  const part = motion.uncounted.find(
    ({ certainty, reach }) => certainty === 'known' || reach.length === 0 || !reach.every(isCounted),
  );
  if (part !== undefined) return part.name;
  const isOpen = (fee: AssetFee) => fee.amount === undefined && watched.some((asset) => mayBe(fee, asset));
  if (sums(control) && motion.fees?.some(isOpen)) return 'maxFeePerGas without gasLimit';
  const other = motion.transfers.find((transfer) => !isCounted(transfer));
  return other && `a transfer of ${assetName(other)}`;
}

/** All versions of an operation are one: a limit must not be passed by sending an older one. */
function familyOf(type: string): string {
  const known = activityType(type);
  return known?.governedBy === 'policy' ? known.kind : type;
}

const one = 10n ** BigInt(SCALE);

const phaseOf = ({ phase }: NonNullable<VelocityDataSource['chainAssetTransfer']>): 'signature' | 'submission' =>
  phase?.submission === undefined ? 'signature' : 'submission';

/** The group in which an activity counts; undefined when it is in none, as for a wallet that no wallet signs for. */
export function groupOf({ aggregation }: VelocityControl, { userId, walletId }: Motion): string | undefined {
  const { groupBy } = aggregation;
  if (groupBy.user !== undefined) return `user ${userId}`;
  if (groupBy.wallet !== undefined) return walletId === undefined ? undefined : `wallet ${walletId}`;
  return 'organization';
}

/** Whether the aggregate satisfies the control. */
export function satisfies({ aggregation }: VelocityControl, total: bigint): boolean {
  const [whole = '0', fraction = ''] = aggregation.threshold.split('.');
  const threshold = BigInt(whole) * one + BigInt(fraction.padEnd(SCALE, '0').slice(0, SCALE) || '0');
  switch (aggregation.operator) {
    case 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN':
      return total < threshold;
    case 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL':
      return total <= threshold;
    case 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_EQUAL':
      return total === threshold;
    case 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN_OR_EQUAL':
      return total >= threshold;
    case 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN':
      return total > threshold;
  }
}

/** A total as a decimal number of asset units or activities. */
export function toDecimal(total: bigint): string {
  const digits = total.toString().padStart(SCALE + 1, '0');
  return `${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`.replace(/\.?0+$/, '');
}
