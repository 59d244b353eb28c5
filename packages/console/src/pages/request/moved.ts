import type { Description } from '../../api/types.ts';
import type { AnswerOf } from '../../api/use-api.ts';
import { formatUnits, parseUnits } from '../../lib/amounts.ts';

type Balance = AnswerOf<'getWalletAddressBalances'>['balances'][number];
type Control = AnswerOf<'listVelocityControls'>['velocityControls'][number];
type Usage = AnswerOf<'listVelocityUsage'>['usage'][number];

const AMOUNT = /^([0-9][0-9,]*)(?:\.([0-9]+))?[ \u00a0](.+)$/u;

/** "12,500 USDC" as a number of its smallest written part, and its unit; undefined for what is no plain amount. */
export function readAmount(
  text: string,
): { readonly units: bigint; readonly decimals: number; readonly unit: string } | undefined {
  const [, whole, fraction = '', unit] = AMOUNT.exec(text.trim()) ?? [];
  if (whole === undefined || unit === undefined) return undefined;
  return { units: BigInt(whole.replaceAll(',', '') + fraction), decimals: fraction.length, unit };
}

/** What a request moves: the strong words of its sentence that are amounts, or its fields of that kind. */
export function amountsOf({ sentence, fields }: Description): readonly string[] {
  const said = sentence.flatMap(({ text, strong }) => (strong && readAmount(text) !== undefined ? [text] : []));
  if (said.length > 0) return said;
  return fields.filter(({ kind }) => kind === 'AMOUNT').map(({ value }) => value.map(({ text }) => text).join(''));
}

/** One asset that leaves one account. */
export interface Moved {
  readonly caip19: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly units: bigint;
  readonly balance: bigint;
  /** The fee comes on top, out of the same balance. */
  readonly paysFee: boolean;
}

/**
 * What leaves the account, where it is one amount of one configured asset. A name alone is no proof: a token counts only
 * if the request calls its contract.
 */
export function movedBy(description: Description, balances: readonly Balance[]): Moved | undefined {
  const amounts = amountsOf(description);
  const amount = amounts.length === 1 ? readAmount(amounts[0] ?? '') : undefined;
  if (amount === undefined || description.recipients.length !== 1) return undefined;
  const called = new Set(
    description.fields.flatMap(({ value }) => value.flatMap(({ address }) => address?.toLowerCase() ?? [])),
  );
  const fitting = balances.filter(
    ({ caip19, symbol }) => symbol === amount.unit && (isNative(caip19) || called.has(referenceOf(caip19))),
  );
  const [found] = fitting;
  if (found === undefined || fitting.length > 1 || amount.decimals > found.decimals) return undefined;
  return {
    caip19: found.caip19,
    symbol: found.symbol,
    decimals: found.decimals,
    units: amount.units * 10n ** BigInt(found.decimals - amount.decimals),
    balance: BigInt(found.balance),
    paysFee: isNative(found.caip19),
  };
}

const isNative = (caip19: string): boolean => caip19.includes('/slip44:');
const referenceOf = (caip19: string): string => caip19.slice(caip19.lastIndexOf(':') + 1).toLowerCase();

/** A limit that counts this request, with what is used of it. */
export interface LimitUse {
  readonly id: string;
  readonly name: string;
  /** Parts of the limit. */
  readonly used: number;
  readonly request: number;
  readonly text: string;
  readonly usedText: string;
  readonly requestText: string;
  readonly isExceeded: boolean;
}

export interface LimitedRequest {
  readonly type: string;
  readonly walletId: string | undefined;
  /** Who asked. */
  readonly userId: string | undefined;
}

/** Decimals of limits are those that somebody typed. */
const SCALE = 30;
const AT_MOST = 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL';
const BELOW = 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN';

/** The limits on sums of this asset that count this request. */
export function limitsFor(
  moved: Moved,
  request: LimitedRequest,
  controls: readonly Control[],
  usage: readonly Usage[],
): readonly LimitUse[] {
  return controls.flatMap((control): LimitUse[] => {
    const { aggregation, velocityControlId } = control;
    const use = usage.find((one) => one.velocityControlId === velocityControlId);
    const decimals = decimalsFor(control, moved.caip19);
    const used = use === undefined ? undefined : usedBy(use, aggregation.groupBy, request);
    const threshold = parseUnits(aggregation.threshold, SCALE);
    if (decimals === undefined || used === undefined || !threshold || !counts(control, request.type)) return [];
    const asked = moved.units * 10n ** BigInt(SCALE - decimals);
    const sum = used + asked;
    const say = (value: bigint): string => formatUnits(value, SCALE);
    return [
      {
        id: velocityControlId,
        name: control.name,
        used: Number(used) / Number(threshold),
        request: Number(asked) / Number(threshold),
        text: `${say(sum)} of ${say(threshold)}\u00a0${moved.symbol}`,
        usedText: `used ${say(used)}`,
        requestText: `this request ${say(asked)}`,
        isExceeded: aggregation.operator === AT_MOST ? sum > threshold : sum >= threshold,
      },
    ];
  });
}

function decimalsFor({ dataSource }: Control, caip19: string): number | undefined {
  const { definition = [] } = dataSource.chainAssetTransfer ?? {};
  const found = definition.find((one) => one.caip19.toLowerCase() === caip19.toLowerCase());
  const decimals = Number(found?.decimals);
  return found === undefined || decimals > SCALE ? undefined : decimals;
}

const unversioned = (type: string): string => type.replace(/_V\d+$/, '');

/** Sums that must stay below something, of activities of this type, in the phase that it is in. */
function counts({ dataSource, aggregation }: Control, type: string): boolean {
  const { filter, phase } = dataSource.chainAssetTransfer ?? {};
  const isSum = aggregation.method === 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM';
  const isUpper = aggregation.operator === AT_MOST || aggregation.operator === BELOW;
  const types = filter?.activity?.map(({ activityType }) => unversioned(activityType)) ?? [];
  // What is signed counts in sends too; what is submitted counts in sends alone.
  const isInPhase = phase?.submission === undefined || /_SEND_/.test(type);
  return isSum && isUpper && isInPhase && (types.length === 0 || types.includes(unversioned(type)));
}

/** Undefined where the answer does not say it. */
function usedBy(use: Usage, groupBy: Control['aggregation']['groupBy'], request: LimitedRequest): bigint | undefined {
  if (groupBy.organization !== undefined) return parseUnits(use.aggregate, SCALE);
  const key = groupBy.wallet === undefined ? request.userId : request.walletId;
  if (key === undefined) return undefined;
  const own = use.groups?.find((group) => group.key === key)?.aggregate;
  if (own !== undefined) return parseUnits(own, SCALE);
  return use.groupsAreCut === true ? undefined : 0n;
}
