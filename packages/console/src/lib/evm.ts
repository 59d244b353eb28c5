import { toHex } from './bytes.ts';
import { keccak256 } from './keccak.ts';

const WORD = 64;
const UINT256_MAX = 2n ** 256n - 1n;
const TRANSFER = 'a9059cbb';

/** EIP-55: a letter is a capital where the same digit of the hash is 8 or more. */
export function toChecksum(address: string): string {
  const lower = address.slice(2).toLowerCase();
  const mask = toHex(keccak256(new TextEncoder().encode(lower)));
  return `0x${Array.from(lower, (digit, index) => (mask.charAt(index) >= '8' ? digit.toUpperCase() : digit)).join('')}`;
}

/** The data of a call of ERC-20's `transfer(to, amount)`. */
export function transferData(to: string, amount: bigint): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(to)) throw new RangeError('the recipient is not an address');
  if (amount < 0n || amount > UINT256_MAX) throw new RangeError('the amount does not fit into 256 bits');
  return `0x${TRANSFER}${to.slice(2).toLowerCase().padStart(WORD, '0')}${amount.toString(16).padStart(WORD, '0')}`;
}

/** What `personal_sign` hashes (EIP-191, version 0x45): the prefix keeps a message from being a transaction. */
export const personalMessage = (message: string): string =>
  `\u0019Ethereum Signed Message:\n${new TextEncoder().encode(message).length}${message}`;

/** The signature as wallets show it: r, s, and 27 or 28. */
export const joinSignature = ({ r, s, v }: { readonly r: string; readonly s: string; readonly v: string }): string =>
  `0x${r}${s}${v === '01' ? '1c' : '1b'}`;
