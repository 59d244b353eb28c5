import { expect, test } from 'vitest';
import type { EarnRequestId, OrganizationId } from '../../lib/ids.ts';
import type { EarnWrapper } from './model.ts';
import { approveCall, claimCall, depositCall, redeemAllCall, withdrawCall } from './wrapper-calls.ts';

const WALLET = '0d'.repeat(20);
const wrapper: EarnWrapper = {
  organizationId: 'organization' as OrganizationId,
  caip2: 'eip155:1',
  wrapperAddress: `0x${'0a'.repeat(20)}`,
  splitterAddress: `0x${'0b'.repeat(20)}`,
  vaultAddress: `0x${'0e'.repeat(20)}`,
  provider: 'EARN_PROVIDER_MORPHO',
  assetAddress: `0x${'0c'.repeat(20)}`,
  assetSymbol: 'USDC',
  assetDecimals: 6,
  clientFeeBps: 1,
  clientFeeWallet: `0x${WALLET}`,
  serviceFeeBps: 0,
  serviceFeeWallet: undefined,
  depositsDisabled: false,
  deployRequestId: 'request' as EarnRequestId,
  createdAtMs: 0,
  updatedAtMs: 0,
};
const MOST = 2n ** 256n - 1n;
const word = (hex: string): string => hex.padStart(64, '0');
const call = (to: string, selector: string, ...words: string[]) => ({
  to,
  value: '0',
  data: `0x${selector}${words.map(word).join('')}`,
});

test('what wallets call, with the selectors of the contracts', () => {
  const { wrapperAddress, splitterAddress, assetAddress } = wrapper;
  const own = WALLET;
  expect(approveCall(wrapper, 255n)).toEqual(call(assetAddress, '095ea7b3', wrapperAddress.slice(2), 'ff'));
  expect(depositCall(wrapper, MOST, `0x${own}`)).toEqual(call(wrapperAddress, '6e553f65', 'f'.repeat(64), own));
  expect(withdrawCall(wrapper, 16n, `0x${own}`)).toEqual(call(wrapperAddress, 'b460af94', '10', own, own));
  expect(redeemAllCall(wrapper, `0x${own}`)).toEqual(call(wrapperAddress, 'be399be5', own));
  expect(claimCall(wrapper)).toEqual(call(splitterAddress, '545d6d0f', own, own));
});
