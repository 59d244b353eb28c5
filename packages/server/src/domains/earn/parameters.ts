import Type from 'typebox';
import { checkUint, UINT256_MAX } from '../../chains/shapes.ts';
import { invalidField } from '../../lib/errors.ts';

/** Of what a vault earns, in hundredths of a percent (protocol/earn 2.2). */
const CLIENT_FEE_BPS_MAX = 4000;
/** Takes out everything that is there when the transaction runs. */
export const MAX = 'MAX';

const FEE_RANGE = `must be a whole number from 0 to ${CLIENT_FEE_BPS_MAX}`;

export const FeeBpsShape = Type.String({
  pattern: '^(?:0|[1-9][0-9]{0,3})$',
  'x-decimal': true,
  'x-message': FEE_RANGE,
});

export const AmountShape = Type.String({
  pattern: '^[1-9][0-9]{0,77}$',
  'x-decimal': true,
  'x-message': 'must be a whole number above 0, in the smallest unit of the asset',
});

export const AmountOrMaxShape = Type.String({
  pattern: `^(?:[1-9][0-9]{0,77}|${MAX})$`,
  'x-decimal': true,
  'x-message': `must be a whole number above 0, in the smallest unit of the asset, or ${MAX}`,
});

export function checkFeeBps(field: string, text: string): void {
  if (Number(text) > CLIENT_FEE_BPS_MAX) throw invalidField(field, FEE_RANGE);
}

export function checkAmount(field: string, text: string): void {
  if (text !== MAX) checkUint(field, text, UINT256_MAX);
}
