import { nativeCaip19, tokenAssets } from '../../../chains/assets.ts';
import { parseCaip19 } from '../../../chains/caip19.ts';
import type { ConfiguredChains } from '../../../chains/settings.ts';
import type { VelocityControl } from '../../../core/model.ts';
import { toDecimal, windowMs } from '../../../engine/rules/velocity.ts';
import { groupDigits, type Names } from '../../../policy/index.ts';

export interface GroupUse {
  readonly groupKey: string;
  readonly used: bigint;
}

/** The group that a key names, without its kind. */
const memberOf = (groupKey: string): string => groupKey.replace(/^(?:user|wallet) /, '');

export const memberIdsIn = (groups: readonly GroupUse[]): string[] =>
  groups.map(({ groupKey }) => memberOf(groupKey)).filter((id) => id !== 'organization');

const OPERATORS: Readonly<Record<string, string>> = {
  VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN: 'less than ',
  VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL: '',
  VELOCITY_CONTROL_AGGREGATION_OPERATOR_EQUAL: 'exactly ',
  VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN_OR_EQUAL: 'at least ',
  VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN: 'more than ',
};

/** What a control has counted so far; of a control for each user or wallet, the one that has used most stands for it. */
export function renderUsage(
  control: VelocityControl,
  groups: readonly GroupUse[],
  isCut: boolean,
  names: Names,
  chains: ConfiguredChains,
) {
  const { aggregation } = control;
  const isGrouped = aggregation.groupBy.organization === undefined;
  const sorted = groups.toSorted((one, other) => (one.used < other.used ? 1 : one.used > other.used ? -1 : 0));
  const aggregate = toDecimal(sorted[0]?.used ?? 0n);
  const lengthMs = windowMs(aggregation);
  return {
    velocityControlId: control.id,
    name: control.name,
    aggregate,
    threshold: aggregation.threshold,
    operator: aggregation.operator,
    ...(lengthMs !== undefined && { windowSeconds: lengthMs / 1000 }),
    ...(isGrouped && {
      groups: sorted.map(({ groupKey, used }) => ({
        key: memberOf(groupKey),
        ...nameOf(memberOf(groupKey), names),
        aggregate: toDecimal(used),
      })),
      ...(isCut && { groupsAreCut: true }),
    }),
    text: textFor(control, aggregate, isGrouped ? sorted[0] : undefined, names, chains),
  };
}

const nameOf = (id: string, names: Names): { readonly name?: string } => {
  const name = names.thing(id)?.name;
  return name === undefined ? {} : { name };
};

/** "3.2 of 10 USDC used in the last 24 hours, by Payroll". */
function textFor(
  control: VelocityControl,
  aggregate: string,
  fullest: GroupUse | undefined,
  names: Names,
  chains: ConfiguredChains,
): string {
  const { threshold, operator, groupBy } = control.aggregation;
  const unit = unitOf(control, chains);
  const lengthMs = windowMs(control.aggregation);
  const when = lengthMs === undefined ? 'in all' : `in the last ${durationWords(lengthMs)}`;
  const used = `${groupDigits(aggregate)} of ${OPERATORS[operator] ?? ''}${groupDigits(threshold)}${unit} used ${when}`;
  if (groupBy.organization !== undefined) return used;
  const kind = groupBy.user === undefined ? 'wallet' : 'user';
  if (fullest === undefined) return `${used}, by each ${kind}`;
  const id = memberOf(fullest.groupKey);
  return `${used} by ${names.thing(id)?.name ?? id}, the ${kind} that used most`;
}

function unitOf({ dataSource, aggregation }: VelocityControl, chains: ConfiguredChains): string {
  const definition = dataSource.chainAssetTransfer?.definition;
  if (definition === undefined) return ' activities';
  if (aggregation.method === 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT') return ' transfers';
  const symbols = new Set(definition.map(({ caip19 }) => symbolOf(caip19, chains)));
  const [only] = symbols;
  return symbols.size === 1 && only !== undefined ? `\u00a0${only}` : '';
}

function symbolOf(caip19: string, chains: ConfiguredChains): string | undefined {
  const { chain, chainReference, assetReference } = parseCaip19(caip19);
  const settings = chains.get(`${chain}:${chainReference}`);
  if (settings === undefined) return caip19 === 'eip155:1/slip44:60' ? 'ETH' : undefined;
  if (caip19.includes('/slip44:')) {
    const own = settings.assets.find((asset) => asset.caip19 === nativeCaip19(settings));
    return own?.symbol ?? (caip19 === 'eip155:1/slip44:60' ? 'ETH' : undefined);
  }
  return tokenAssets(settings).get(assetReference)?.symbol;
}

const UNITS: readonly (readonly [ms: number, word: string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
];

function durationWords(lengthMs: number): string {
  // A day as the operator wrote it is as often 24 hours: both are said in hours up to two days.
  const fitting = UNITS.find(([ms]) => lengthMs % ms === 0 && (ms < 86_400_000 || lengthMs >= 2 * ms));
  const [ms, word] = fitting ?? [1000, 'second'];
  const count = lengthMs / ms;
  return count === 1 ? word : `${count} ${word}s`;
}
