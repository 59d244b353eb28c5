import type { InterfaceFormat } from '../interface-format.ts';
import { type AbiFunctions, readAbi } from './abi/interface.ts';
import { isEthereumAddress } from './address.ts';

export interface EthereumInterface {
  readonly type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM';
  /** In lower case. */
  readonly address: string;
  readonly functions: AbiFunctions;
}

export const ethereumInterfaces = {
  type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
  canonicalAddress: (text) => (isEthereumAddress(text) ? text.toLowerCase() : undefined),
  expectedAddress: 'an Ethereum address: 0x and 40 hex digits',
  read: (address, json) => ({
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    address,
    functions: readAbi(json),
  }),
} as const satisfies InterfaceFormat<EthereumInterface>;
