import { assert } from '../lib/assert.ts';
import { invalidField } from '../lib/errors.ts';
import { lruCache } from '../lib/lru.ts';
import type { ChainFormat } from './chain.ts';
import type { ContractInterface, ContractInterfaceType } from './contract-interface-types.ts';
import { FORMATS } from './formats.ts';
import type { InterfaceFormat } from './interface-format.ts';
import { parseInterfaceJson, refuseInterface } from './interface-json.ts';

const formats: readonly InterfaceFormat<ContractInterface>[] = Object.values<ChainFormat>(FORMATS).flatMap(
  ({ interfaces }) => interfaces ?? [],
);

export const CONTRACT_INTERFACE_TYPES: readonly ContractInterfaceType[] = formats.map(({ type }) => type);

function formatOf(type: ContractInterfaceType): InterfaceFormat<ContractInterface> {
  const format = formats.find((known) => known.type === type);
  assert(format !== undefined, 'every type of interface is that of a family');
  return format;
}

const TEXT_MAX = 400_000;

/**
 * Reads an uploaded interface; whatever could not be used later is refused now (REQUEST_INVALID), because an interface that
 * silently does not apply would let a policy silently not apply.
 */
export function checkContractInterface(type: ContractInterfaceType, address: string, text: string): ContractInterface {
  const key = interfaceAddress(type, address);
  if (text.length > TEXT_MAX) return refuseInterface(`longer than ${TEXT_MAX} characters`);
  return formatOf(type).read(key, parseInterfaceJson(text));
}

/** An address as interfaces are looked up by: Ethereum's in lower case, Solana's as it is. */
export function interfaceAddress(type: ContractInterfaceType, address: string): string {
  const { canonicalAddress, expectedAddress } = formatOf(type);
  const key = canonicalAddress(address);
  if (key === undefined) throw invalidField('parameters.smartContractAddress', `must be ${expectedAddress}`);
  return key;
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
