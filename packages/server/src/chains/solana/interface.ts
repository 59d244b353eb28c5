import type { InterfaceFormat } from '../interface-format.ts';
import { isSolanaKey } from './address.ts';
import { type IdlInstructions, readIdl } from './idl/interface.ts';

export interface SolanaInterface {
  readonly type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA';
  readonly address: string;
  readonly instructions: IdlInstructions;
}

export const solanaInterfaces = {
  type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA',
  canonicalAddress: (text) => (isSolanaKey(text) ? text : undefined),
  expectedAddress: 'a Solana address: base58 of 32 bytes',
  read: (address, json) => ({ type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', address, instructions: readIdl(json) }),
} as const satisfies InterfaceFormat<SolanaInterface>;
