import Type from 'typebox';
import { ApiError } from '../../lib/errors.ts';
import { decoder } from '../../lib/shape.ts';

/** What an organization has set for Earn, it and its sub-organizations (protocol/earn 2.4). */
export interface EarnConfig {
  /** Of gross yield, in hundredths of a percent, for wrappers that are deployed from now on. */
  readonly serviceFeeBps: number;
  /** Lower-case hex; set where the fee is above 0. */
  readonly serviceFeeWallet: string | undefined;
  /** Vaults of a lower value are left out of the catalog; a decimal number. */
  readonly minTvlUsd: string | undefined;
}

const SERVICE_FEE_BPS_MAX = 1000;
const NOBODY = `0x${'0'.repeat(40)}`;

const decode = decoder(
  Type.Object({
    serviceFeeBps: Type.Optional(
      Type.String({
        pattern: '^(?:0|[1-9][0-9]{0,3})$',
        'x-decimal': true,
        'x-message': `must be a whole number from 0 to ${SERVICE_FEE_BPS_MAX}`,
      }),
    ),
    serviceFeeWallet: Type.Optional(
      Type.String({
        pattern: '^0x[0-9a-f]{40}$',
        'x-lower': true,
        'x-message': 'must be an address, 0x and 40 hex digits',
      }),
    ),
    minTvlUsd: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,15}(?:\\.[0-9]{1,18})?$',
        'x-decimal': true,
        'x-message': 'must be a decimal number as text, such as "100000"',
      }),
    ),
  }),
);
const FIELDS: ReadonlySet<string> = new Set(['serviceFeeBps', 'serviceFeeWallet', 'minTvlUsd']);

/**
 * The value of FEATURE_NAME_EARN_CONFIG. One that cannot be read is refused and not taken for the defaults: somebody
 * would pay or get another fee than was set.
 */
export function earnConfigOf(value: string | undefined): EarnConfig {
  if (value === undefined || value === '') {
    return { serviceFeeBps: 0, serviceFeeWallet: undefined, minTvlUsd: undefined };
  }
  const parsed = parseObject(value);
  const unknown = Object.keys(parsed).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) throw refused(`it has no field ${JSON.stringify(unknown.slice(0, 100))}`);
  const { serviceFeeBps: fee = '0', serviceFeeWallet, minTvlUsd } = decodeFields(parsed);
  const serviceFeeBps = Number(fee);
  if (serviceFeeBps > SERVICE_FEE_BPS_MAX) throw refused(`serviceFeeBps is at most ${SERVICE_FEE_BPS_MAX}`);
  if (serviceFeeWallet === NOBODY) throw refused('serviceFeeWallet is the zero address, and nobody has its key');
  if (serviceFeeBps > 0 && serviceFeeWallet === undefined) {
    throw refused('a serviceFeeBps above 0 needs a serviceFeeWallet');
  }
  return { serviceFeeBps, serviceFeeWallet, minTvlUsd };
}

function parseObject(value: string): object {
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  } catch {
    // Falls through to the one answer for both mistakes.
  }
  throw refused('it takes a JSON object as text');
}

function decodeFields(parsed: object): ReturnType<typeof decode> {
  try {
    return decode(parsed);
  } catch (error) {
    throw error instanceof ApiError ? refused(error.message) : error;
  }
}

const refused = (reason: string): ApiError =>
  new ApiError('INVALID_FEATURE_VALUE', `FEATURE_NAME_EARN_CONFIG: ${reason}`);
