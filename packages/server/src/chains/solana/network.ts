import type { Network } from '../chain.ts';
import { ADDRESS_PATTERN, isSolanaKey } from './address.ts';

/** CAIP-2 allows no more of a genesis hash. */
const REFERENCE_LENGTH = 32;
const BASE58 = '[1-9A-HJ-NP-Za-km-z]';

/** What clients also call the two networks that have names. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['mainnet', '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
  ['devnet', 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
]);

export const solanaNetwork = {
  namespace: 'solana',
  reference: { pattern: `${BASE58}{${REFERENCE_LENGTH}}`, shown: '<genesis hash>' },
  requestReference: { pattern: `${BASE58}{1,64}`, shown: '<genesis hash>' },
  canonicalReference: (reference: string) => ALIASES.get(reference) ?? reference.slice(0, REFERENCE_LENGTH),
  coin: { type: '501', symbol: 'SOL', name: 'Solana', decimals: 9, smallestPerBillionth: 1n },
  tokenStandard: 'token',
  address: {
    curve: 'CURVE_ED25519',
    format: 'ADDRESS_FORMAT_SOLANA',
    pattern: ADDRESS_PATTERN,
    isAddress: isSolanaKey,
    expected: 'must be an address of Solana, 32 bytes in base58',
    isMistyped: () => false,
    canonical: (address: string) => address,
    shown: (address: string) => address,
  },
  operatorKeyText: { expected: 'base58 of 64 or of 32 bytes, or 64 hex digits', mayBeBase58: true },
  ownSettings: [],
  sponsorSettings: [],
  hasVaults: false,
  hashFields: (txHash) => ({ solana: { ...(txHash !== undefined && { signature: txHash }) } }),
} as const satisfies Network;
