import { base58 } from '@scure/base';
import { invalidField } from '../lib/errors.ts';
import { lruCache } from '../lib/lru.ts';
import { type AbiFunctions, readAbi } from './abi/interface.ts';
import { type IdlInstructions, readIdl } from './idl/interface.ts';
import { parseInterfaceJson, refuseInterface } from './interface-json.ts';

export const CONTRACT_INTERFACE_TYPES = [
  'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
  'SMART_CONTRACT_INTERFACE_TYPE_SOLANA',
] as const;
export type ContractInterfaceType = (typeof CONTRACT_INTERFACE_TYPES)[number];

export interface EthereumInterface {
  readonly type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM';
  /** In lower case. */
  readonly address: string;
  readonly functions: AbiFunctions;
}

export interface SolanaInterface {
  readonly type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA';
  readonly address: string;
  readonly instructions: IdlInstructions;
}

export type ContractInterface = EthereumInterface | SolanaInterface;

const TEXT_MAX = 400_000;

/**
 * Reads an uploaded interface; whatever could not be used later is refused now (REQUEST_INVALID), because an interface that
 * silently does not apply would let a policy silently not apply.
 */
export function checkContractInterface(type: ContractInterfaceType, address: string, text: string): ContractInterface {
  const key = interfaceAddress(type, address);
  if (text.length > TEXT_MAX) return refuseInterface(`longer than ${TEXT_MAX} characters`);
  const json = parseInterfaceJson(text);
  return type === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM'
    ? { type, address: key, functions: readAbi(json) }
    : { type, address: key, instructions: readIdl(json) };
}

/** An address as interfaces are looked up by: Ethereum's in lower case, Solana's as it is. */
export function interfaceAddress(type: ContractInterfaceType, address: string): string {
  if (type === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM') {
    if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw invalidAddress('an Ethereum address: 0x and 40 hex digits');
    return address.toLowerCase();
  }
  if (!isSolanaKey(address)) throw invalidAddress('a Solana address: base58 of 32 bytes');
  return address;
}

const invalidAddress = (expected: string) => invalidField('parameters.smartContractAddress', `must be ${expected}`);

export function isSolanaKey(text: string): boolean {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return false;
  return base58.decode(text).length === 32;
}

/** A stored interface, whose text has been checked. */
interface StoredInterface {
  readonly id: string;
  readonly type: ContractInterfaceType;
  readonly address: string;
  readonly text: string;
}

export interface InterfaceCache {
  read(stored: StoredInterface): ContractInterface;
}

/** Reads stored interfaces once. An interface never changes under its id. */
export function createInterfaceCache(entriesMax = 128): InterfaceCache {
  const cache = lruCache<ContractInterface>(entriesMax);
  return {
    read({ id, type, address, text }) {
      const known = cache.get(id);
      if (known !== undefined) return known;
      const parsed = checkContractInterface(type, address, text);
      cache.set(id, parsed);
      return parsed;
    },
  };
}
