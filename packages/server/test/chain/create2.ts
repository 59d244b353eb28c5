import { getContractAddress, type Hex, slice } from 'viem';
import { CREATE2_PROXY } from '../../src/domains/earn/contract-addresses.ts';

const known = new Map<Hex, string>();

/** Where the CREATE2 proxy puts a contract that it is called with, in lower case. */
export function createdBy(calldata: Hex): string {
  const address =
    known.get(calldata) ??
    getContractAddress({
      opcode: 'CREATE2',
      from: CREATE2_PROXY,
      salt: slice(calldata, 0, 32),
      bytecode: slice(calldata, 32),
    }).toLowerCase();
  known.set(calldata, address);
  return address;
}
