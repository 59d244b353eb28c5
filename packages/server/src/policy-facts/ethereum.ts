import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hashTypedDataJson, type TypedStruct, type TypedValue } from '../chains/ethereum/eip712.ts';
import { type HashBudget, newHashBudget } from '../chains/ethereum/eip712-types.ts';
import { hashAuthorizationJson } from '../chains/ethereum/eip7702.ts';
import type { EthereumTransaction } from '../chains/ethereum/transaction.ts';
import type { TempoTransaction } from '../chains/tempo/transaction.ts';
import { toHex } from '../lib/encoding.ts';
import {
  type DynamicValue,
  type Eip712Facts,
  type Eip7702AuthorizationFacts,
  type EthereumTransactionFacts,
  hexText,
  intValue,
  type TempoTransactionFacts,
  uintValue,
} from '../policy/index.ts';
import { decodeCall } from './abi/interface.ts';
import type { EthereumInterface } from './contract-interface.ts';

/** What a policy sees of a transaction; a send that is not yet a transaction has the same members. */
export type EthereumCall = Omit<EthereumTransaction, 'accessList' | 'blobVersionedHashes' | 'authorizationList'>;

/** The address of a key, in lower case: whose transaction it is, whatever address the request names the key by. */
export function ethereumAddress(publicKey: Uint8Array): string {
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  return `0x${toHex(keccak_256(point.subarray(1)).subarray(12))}`;
}

/** `eth.tx`. The interface counts only when it is the one of the contract that is called. */
export function ethereumFacts(tx: EthereumCall, from: string, abi?: EthereumInterface): EthereumTransactionFacts {
  const called = abi !== undefined && tx.to === abi.address ? abi.functions.get(tx.selector) : undefined;
  const args = called && decodeCall(called, tx.data);
  return {
    from: from.toLowerCase(),
    to: tx.to,
    data: tx.data,
    value: tx.value,
    gas: tx.gas,
    gas_price: tx.gasPrice,
    chain_id: tx.chainId,
    nonce: tx.nonce,
    max_fee_per_gas: tx.maxFeePerGas,
    max_priority_fee_per_gas: tx.maxPriorityFeePerGas,
    max_fee_per_blob_gas: tx.maxFeePerBlobGas,
    type: tx.type,
    function_name: called?.name ?? '',
    function_signature: called === undefined ? '' : tx.selector,
    ...(args === undefined ? {} : { contract_call_args: args }),
  };
}

/** `eth.eip_712` of the JSON text that is signed. Throws what the signer would: INVALID_PAYLOAD_ENCODING. */
export function eip712Facts(json: string, budget: HashBudget = newHashBudget()): Eip712Facts {
  const { primaryType, domain, message } = hashTypedDataJson(json, budget);
  return {
    primary_type: primaryType,
    domain: {
      ...(domain.name === undefined ? {} : { name: domain.name }),
      ...(domain.version === undefined ? {} : { version: domain.version }),
      ...(domain.chainId === undefined ? {} : { chain_id: domain.chainId }),
      ...(domain.verifyingContract === undefined ? {} : { verifying_contract: domain.verifyingContract }),
    },
    message: structValue(message),
  };
}

const structValue = (struct: TypedStruct): ReadonlyMap<string, DynamicValue> =>
  new Map([...struct].map(([name, value]) => [name, dynamicValue(value)]));

function dynamicValue(typed: TypedValue): DynamicValue {
  switch (typed.kind) {
    case 'uint':
      return uintValue(typed.value);
    case 'int':
      return intValue(typed.value);
    case 'hex':
      return hexText(typed.value);
    case 'string':
    case 'bool':
      return typed.value;
    case 'list':
      return typed.value.map(dynamicValue);
    case 'struct':
      return structValue(typed.value);
  }
}

/** `eth.eip_7702_authorization` of the JSON text that is signed. */
export function eip7702Facts(json: string): Eip7702AuthorizationFacts {
  const { address, chainId, nonce } = hashAuthorizationJson(json);
  return { address, chain_id: chainId, nonce };
}

/** `tempo.tx`. */
export function tempoFacts(tx: TempoTransaction, from: string): TempoTransactionFacts {
  return {
    chain_id: tx.chainId,
    from: from.toLowerCase(),
    nonce: tx.nonce,
    gas_limit: tx.gasLimit,
    max_fee_per_gas: tx.maxFeePerGas,
    max_priority_fee_per_gas: tx.maxPriorityFeePerGas,
    fee_token: tx.feeToken,
    valid_before: tx.validBefore,
    valid_after: tx.validAfter,
    calls: tx.calls.map(({ to, input, selector }) => ({ to, input, function_signature: selector })),
  };
}
