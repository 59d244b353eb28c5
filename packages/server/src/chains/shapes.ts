import Type from 'typebox';
import { invalidField } from '../lib/errors.ts';
import type { Network } from './chain.ts';
import { hasWrongChecksum } from './ethereum/address.ts';
import { ethereumNetwork } from './ethereum/network.ts';
import { NETWORKS, namePattern, shownNames } from './networks.ts';
import { solanaNetwork } from './solana/network.ts';

const inRequests = ({ requestReference }: Network) => requestReference;

export const UINT64_MAX = 2n ** 64n - 1n;
export const UINT256_MAX = 2n ** 256n - 1n;

export const EthereumAddressShape = Type.String({
  pattern: `^${ethereumNetwork.address.pattern}$`,
  'x-message': ethereumNetwork.address.expected,
});

export const EthereumChainShape = Type.String({
  pattern: `^${namePattern([ethereumNetwork], inRequests)}$`,
  'x-message': 'must be a chain of the form eip155:<chain id>',
});

export const SolanaChainShape = Type.String({
  pattern: `^${namePattern([solanaNetwork], inRequests)}$`,
  'x-message': 'must be a chain of the form solana:<genesis hash>, or solana:mainnet or solana:devnet',
});

/** Of Solana also under the names that clients use for its networks. */
export const ChainShape = Type.String({
  pattern: `^(?:${namePattern(NETWORKS, inRequests)})$`,
  'x-message': `must be a chain of the form ${shownNames(inRequests)}`,
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
  if (hasWrongChecksum(address)) throw invalidField(field, 'has a wrong checksum (EIP-55)');
}
