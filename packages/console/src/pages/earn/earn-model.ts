import type {
  ListEarnEnabledVaultsResponse,
  ListEarnPositionHistoryResponse,
  ListEarnPositionsResponse,
} from '@custos/sdk';

export type EnabledVault = ListEarnEnabledVaultsResponse['enabledVaults'][number];
export type Position = ListEarnPositionsResponse['positions'][number];

/** A deposit, a withdrawal, or how a position stands now. */
export type HistoryPoint = ListEarnPositionHistoryResponse['points'][number];

export const chainOf = (caip19: string): string => caip19.slice(0, caip19.indexOf('/'));

const PERCENT_DECIMALS = 2;

/** Rates come as fractions, such as 0.0812; an empty one is not known. */
export function percent(fraction: string): string {
  const value = Number(fraction);
  return fraction === '' || !Number.isFinite(value) ? 'not known' : `${(value * 100).toFixed(PERCENT_DECIMALS)} %`;
}

/** Fees are hundredths of a percent. */
export const feePercent = (bps: string): string => `${(Number(bps) / 100).toFixed(PERCENT_DECIMALS)} %`;

export const providerName = (provider: string | undefined): string =>
  provider === 'EARN_PROVIDER_AAVE' ? 'Aave' : provider === 'EARN_PROVIDER_MORPHO' ? 'Morpho' : 'ERC-4626';

/** The points of each position that was ever held, those that are worth something first. */
export function byPosition(points: readonly HistoryPoint[]): readonly (readonly HistoryPoint[])[] {
  const groups = new Map<string, HistoryPoint[]>();
  for (const point of points) {
    const key = `${point.caip2} ${point.wrapperAddress.toLowerCase()}`;
    groups.set(key, [...(groups.get(key) ?? []), point]);
  }
  const worth = (group: readonly HistoryPoint[]): bigint => BigInt(nowOf(group)?.assets ?? '0');
  return [...groups.values()].sort((one, other) =>
    worth(one) < worth(other) ? 1 : worth(one) > worth(other) ? -1 : 0,
  );
}

export const nowOf = (points: readonly HistoryPoint[]): HistoryPoint | undefined =>
  points.find(({ kind }) => kind === 'NOW');

export interface PrincipalOverTime {
  readonly times: readonly number[];
  /** In the smallest unit; undefined where it is not known. */
  readonly values: readonly (bigint | undefined)[];
}

const SAMPLES = 61;

/**
 * What was put in and not taken out, at even times from the first deposit until now. It changes in steps: between two
 * movements nothing is put in, and what it was worth then is stored nowhere.
 */
export function principalOverTime(points: readonly HistoryPoint[]): PrincipalOverTime {
  const steps = points.map(({ at, principal }) => ({ ms: Date.parse(at), principal }));
  const [first] = steps;
  const last = steps.at(-1);
  if (first === undefined || last === undefined || last.ms <= first.ms) return { times: [], values: [] };
  const every = (last.ms - first.ms) / (SAMPLES - 1);
  // The last is named exactly, or rounding would lose what happened just now.
  const times = Array.from({ length: SAMPLES }, (_one, index) =>
    index === SAMPLES - 1 ? last.ms : Math.round(first.ms + index * every),
  );
  const values = times.map((time) => {
    const step = steps.findLast(({ ms }) => ms <= time);
    return step?.principal === undefined ? undefined : BigInt(step.principal);
  });
  return { times, values };
}

/** What a position gained: what it is worth less what is in it. Undefined where one of both is not known. */
export function gainOf(now: HistoryPoint | undefined): bigint | undefined {
  if (now?.assets === undefined || now.principal === undefined) return undefined;
  return BigInt(now.assets) - BigInt(now.principal);
}
