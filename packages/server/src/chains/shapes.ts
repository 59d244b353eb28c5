import Type from 'typebox';
import { getAddress } from 'viem';
import { invalidField } from '../lib/errors.ts';

const ADDRESS = '^0x[0-9a-fA-F]{40}$';

export const UINT64_MAX = 2n ** 64n - 1n;
export const UINT256_MAX = 2n ** 256n - 1n;

export const EthereumAddressShape = Type.String({
  pattern: ADDRESS,
  'x-message': 'must be an address, 0x and 40 hex digits',
});

export const EthereumChainShape = Type.String({
  pattern: '^eip155:[1-9][0-9]{0,14}$',
  'x-message': 'must be a chain of the form eip155:<chain id>',
});

export const SolanaChainShape = Type.String({
  pattern: '^solana:[1-9A-HJ-NP-Za-km-z]{1,64}$',
  'x-message': 'must be a chain of the form solana:<genesis hash>, or solana:mainnet or solana:devnet',
});

/** Of Solana also under the names that clients use for its networks. */
export const ChainShape = Type.String({
  pattern: '^(?:eip155:[1-9][0-9]{0,14}|solana:[1-9A-HJ-NP-Za-km-z]{1,64})$',
  'x-message': 'must be a chain of the form eip155:<chain id> or solana:<genesis hash>',
});

/** A whole number in decimal digits; `checkUint` sees to its bound. */
export const UintShape = Type.String({
  pattern: '^(?:0|[1-9][0-9]{0,77})$',
  'x-decimal': true,
  'x-message': 'must be a whole number in decimal digits',
});

export const DisplayShape = Type.Object({ usd: Type.String(), crypto: Type.String() });

export function checkUint(field: string, value: string | undefined, max: bigint): void {
  if (value !== undefined && BigInt(value) > max) throw invalidField(field, `must be at most ${max}`);
}

/**
 * An address that is written with a checksum (EIP-55) must have the right one: a mistyped one would lose what is sent.
 */
export function checkChecksum(field: string, address: string): void {
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return;
  if (toChecksum(address) !== address) throw invalidField(field, 'has a wrong checksum (EIP-55)');
}

/** The spelling with the checksum of EIP-55, in which addresses are answered. */
export const toChecksum = (address: string): string => getAddress(address.toLowerCase());

export const isEthereumAddress = (text: string): boolean => new RegExp(ADDRESS).test(text);
