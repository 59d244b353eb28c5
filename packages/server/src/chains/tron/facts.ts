import type { TronTransactionFacts } from '../../policy/index.ts';
import type { TronContract, TronPermission } from './contract.ts';
import type { TronTransaction } from './tron.ts';

type ContractFacts = TronTransactionFacts['contract'][number];
type PermissionFacts = NonNullable<ContractFacts['owner']>;

/** `tron.tx`. */
export function tronFacts(tx: TronTransaction): TronTransactionFacts {
  return {
    ref_block_bytes: tx.refBlockBytes,
    ref_block_hash: tx.refBlockHash,
    expiration: tx.expiration,
    timestamp: tx.timestamp,
    data: tx.data,
    fee_limit: tx.feeLimit,
    contract: tx.contract.map((contract) => ({
      type: contract.type,
      permission_id: BigInt(contract.permissionId),
      owner_address: contract.ownerAddress,
      ...contractFields(contract),
    })),
  };
}

/** The fields of each type (protocol/policy-facts 4.6). */
function contractFields(contract: TronContract): Partial<ContractFacts> {
  switch (contract.type) {
    case 'TransferContract':
      return { to_address: contract.toAddress, amount: contract.amount };
    case 'TriggerSmartContract':
      return {
        contract_address: contract.contractAddress,
        call_value: contract.callValue,
        data: contract.data,
        call_token_value: contract.callTokenValue,
        token_id: contract.tokenId,
      };
    case 'FreezeBalanceV2Contract':
      return { frozen_balance: contract.frozenBalance, resource: contract.resource };
    case 'UnfreezeBalanceV2Contract':
      return { unfreeze_balance: contract.unfreezeBalance, resource: contract.resource };
    case 'DelegateResourceContract':
      return {
        resource: contract.resource,
        balance: contract.balance,
        receiver_address: contract.receiverAddress,
        lock: contract.lock,
        lock_period: contract.lockPeriod,
      };
    case 'UnDelegateResourceContract':
      return { resource: contract.resource, balance: contract.balance, receiver_address: contract.receiverAddress };
    case 'AccountPermissionUpdateContract':
      return {
        ...(contract.owner === undefined ? {} : { owner: permissionFacts(contract.owner) }),
        ...(contract.witness === undefined ? {} : { witness: permissionFacts(contract.witness) }),
        actives: contract.actives.map(permissionFacts),
      };
    case 'TransferAssetContract':
      // An amount of another token must not pass for one of TRX.
      return {};
  }
}

function permissionFacts(permission: TronPermission): PermissionFacts {
  return {
    type: permission.type,
    id: BigInt(permission.id),
    permission_name: permission.permissionName,
    threshold: permission.threshold,
    parent_id: BigInt(permission.parentId),
    operations: permission.operations,
    keys: permission.keys,
  };
}
