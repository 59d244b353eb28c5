import type { Network } from '../chain.ts';
import { ADDRESS_PATTERN, hasWrongChecksum, isEthereumAddress, toChecksum } from './address.ts';

const CHAIN_ID = '[1-9][0-9]{0,14}';

export const ethereumNetwork = {
  namespace: 'eip155',
  reference: { pattern: CHAIN_ID, shown: '<number>' },
  requestReference: { pattern: CHAIN_ID, shown: '<chain id>' },
  canonicalReference: (reference: string) => reference,
  coin: { type: '60', symbol: 'ETH', name: 'Ether', decimals: 18, smallestPerBillionth: 10n ** 9n },
  tokenStandard: 'erc20',
  address: {
    curve: 'CURVE_SECP256K1',
    format: 'ADDRESS_FORMAT_ETHEREUM',
    pattern: ADDRESS_PATTERN,
    isAddress: isEthereumAddress,
    expected: 'must be an address, 0x and 40 hex digits',
    isMistyped: hasWrongChecksum,
    canonical: (address: string) => address.toLowerCase(),
    shown: toChecksum,
  },
  operatorKeyText: { expected: '64 hex digits, with or without 0x', mayBeBase58: false },
  ownSettings: [
    'sponsoredGasMax',
    'maxFeePerGasGwei',
    'batchContract',
    'aavePoolAddressesProvider',
    'morphoFactories',
    'vaults',
  ],
  // The operator's transaction carries what the account has signed to this contract.
  sponsorSettings: ['batchContract'],
  hasVaults: true,
  hashFields: (txHash) => ({ eth: { ...(txHash !== undefined && { txHash }) } }),
} as const satisfies Network;
