import { getContractAddress, type Hex, keccak256, slice } from 'viem';
import { CREATE2_PROXY } from '../../src/earn/deployment.ts';

const known = new Map<Hex, string>();

/** Where the CREATE2 proxy puts a contract that it is called with, in lower case. */
export function createdBy(calldata: Hex): string {
  const key = keccak256(calldata);
  const address =
    known.get(key) ??
    getContractAddress({
      opcode: 'CREATE2',
      from: CREATE2_PROXY,
      salt: slice(calldata, 0, 32),
      bytecode: slice(calldata, 32),
    }).toLowerCase();
  known.set(key, address);
  return address;
}
