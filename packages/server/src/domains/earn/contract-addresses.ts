// Where the contracts of contracts/src lie on any chain, computed before they are there (contracts/README.md).
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  getContractAddress,
  type Hex,
  keccak256,
  zeroAddress,
  zeroHash,
} from 'viem';
import {
  custosBatchBytecode,
  earnAaveWrapperBytecode,
  earnWrapperBytecode,
} from '../../chains/ethereum/contract-artifacts.ts';
import { assert } from '../../lib/assert.ts';
import { once } from '../../lib/once.ts';
import type { EarnProvider } from './model.ts';

/** The deployment proxy that is found under this address on every chain: salt and init code are its calldata. */
export const CREATE2_PROXY: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

const SALT_PARAMETERS = [
  { type: 'string' },
  { type: 'uint256' },
  { type: 'address' },
  { type: 'uint256' },
  { type: 'address' },
  { type: 'uint256' },
  { type: 'address' },
] as const;

const CONSTRUCTOR_PARAMETERS = [
  { type: 'address' },
  { type: 'uint256' },
  { type: 'address[]' },
  { type: 'uint256[]' },
] as const;

/** The same on every chain. */
export const batchAddress = once((): Address => create2Address(zeroHash, custosBatchBytecode));
export const BATCH_DEPLOYMENT_DATA: Hex = concatHex([zeroHash, custosBatchBytecode]);

/** Each of them is part of the address, so that other terms are another wrapper. */
export interface WrapperTerms {
  readonly organizationId: string;
  readonly chainId: bigint;
  readonly provider: EarnProvider | undefined;
  /** The ERC-4626 vault; for Aave the aToken. */
  readonly vaultAddress: string;
  readonly clientFeeBps: number;
  readonly clientFeeWallet: string;
  readonly serviceFeeBps: number;
  /** Needed where the service takes a fee, and without meaning elsewhere. */
  readonly serviceFeeWallet: string | undefined;
}

export interface Deployment {
  readonly wrapperAddress: Address;
  readonly splitterAddress: Address;
  /** The transaction that deploys both, whoever sends it. */
  readonly to: Address;
  readonly data: Hex;
}

export function wrapperDeployment(terms: WrapperTerms): Deployment {
  const vault = terms.vaultAddress as Address;
  const client = terms.clientFeeWallet as Address;
  const service = serviceOf(terms);
  const salt = keccak256(
    encodeAbiParameters(SALT_PARAMETERS, [
      terms.organizationId,
      terms.chainId,
      vault,
      BigInt(terms.clientFeeBps),
      client,
      BigInt(terms.serviceFeeBps),
      service ?? zeroAddress,
    ]),
  );
  const payees = service ? [client, service] : [client];
  const shares = [terms.clientFeeBps, ...(service ? [terms.serviceFeeBps] : [])].map(BigInt);
  const initCode = concatHex([
    terms.provider === 'EARN_PROVIDER_AAVE' ? earnAaveWrapperBytecode : earnWrapperBytecode,
    encodeAbiParameters(CONSTRUCTOR_PARAMETERS, [
      vault,
      BigInt(terms.clientFeeBps + terms.serviceFeeBps),
      payees,
      shares,
    ]),
  ]);
  const wrapperAddress = create2Address(salt, initCode);
  return {
    wrapperAddress,
    // The first contract that a contract creates has nonce 1 (EIP-161).
    splitterAddress: getContractAddress({ from: wrapperAddress, nonce: 1n }),
    to: CREATE2_PROXY,
    data: concatHex([salt, initCode]),
  };
}

function serviceOf(terms: WrapperTerms): Address | undefined {
  if (terms.serviceFeeBps === 0) return undefined;
  assert(terms.serviceFeeWallet !== undefined, 'a service fee has a wallet');
  return terms.serviceFeeWallet as Address;
}

function create2Address(salt: Hex, initCode: Hex): Address {
  return getContractAddress({ opcode: 'CREATE2', from: CREATE2_PROXY, salt, bytecode: initCode });
}
