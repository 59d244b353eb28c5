import {
  type DynamicValue,
  type Eip712Facts,
  type Eip7702AuthorizationFacts,
  type EthereumTransactionFacts,
  hexText,
  intValue,
  uintValue,
} from '../../policy/index.ts';
import { decodeCall } from './abi/interface.ts';
import { hashTypedDataJson, type TypedStruct, type TypedValue } from './eip712.ts';
import { type HashBudget, newHashBudget } from './eip712-types.ts';
import { hashAuthorizationJson } from './eip7702.ts';
import type { EthereumInterface } from './interface.ts';
import type { EthereumTransaction } from './transaction.ts';

/** What a policy sees of a transaction; a send that is not yet a transaction has the same members. */
export type EthereumCall = Omit<EthereumTransaction, 'accessList' | 'blobVersionedHashes' | 'authorizationList'>;

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
