import { refused, unparsable } from '../input.ts';
import { tronAddress } from './address.ts';
import type { ProtoMessage } from './protobuf.ts';

export type TronResource = 'BANDWIDTH' | 'ENERGY' | 'TRON_POWER';

export interface TronKey {
  readonly address: string;
  readonly weight: bigint;
}

export interface TronPermission {
  readonly type: 'Owner' | 'Witness' | 'Active';
  readonly id: number;
  readonly permissionName: string;
  readonly threshold: bigint;
  readonly parentId: number;
  /** Hex without 0x: one bit per contract type. */
  readonly operations: string;
  readonly keys: readonly TronKey[];
}

/**
 * A contract beyond its owner: every field of each type that is signed. Addresses are base58check, bytes hex without
 * 0x.
 */
export type TronContractFields =
  | { readonly type: 'TransferContract'; readonly toAddress: string; readonly amount: bigint }
  | {
      readonly type: 'TransferAssetContract';
      readonly assetName: string;
      readonly toAddress: string;
      readonly amount: bigint;
    }
  | {
      readonly type: 'TriggerSmartContract';
      readonly contractAddress: string;
      readonly callValue: bigint;
      readonly data: string;
      readonly callTokenValue: bigint;
      readonly tokenId: bigint;
    }
  | { readonly type: 'FreezeBalanceV2Contract'; readonly frozenBalance: bigint; readonly resource: TronResource }
  | { readonly type: 'UnfreezeBalanceV2Contract'; readonly unfreezeBalance: bigint; readonly resource: TronResource }
  | {
      readonly type: 'DelegateResourceContract';
      readonly resource: TronResource;
      readonly balance: bigint;
      readonly receiverAddress: string;
      readonly lock: boolean;
      readonly lockPeriod: bigint;
    }
  | {
      readonly type: 'UnDelegateResourceContract';
      readonly resource: TronResource;
      readonly balance: bigint;
      readonly receiverAddress: string;
    }
  | {
      readonly type: 'AccountPermissionUpdateContract';
      readonly owner?: TronPermission;
      readonly witness?: TronPermission;
      readonly actives: readonly TronPermission[];
    };

export type TronContract = TronContractFields & { readonly ownerAddress: string; readonly permissionId: number };

// Transaction.Contract.ContractType (tronprotocol/protocol, core/Tron.proto). The messages are in
// core/contract/*.proto.
const READ_TYPES: Readonly<Record<number, TronContractFields['type']>> = {
  1: 'TransferContract',
  2: 'TransferAssetContract',
  31: 'TriggerSmartContract',
  46: 'AccountPermissionUpdateContract',
  54: 'FreezeBalanceV2Contract',
  55: 'UnfreezeBalanceV2Contract',
  57: 'DelegateResourceContract',
  58: 'UnDelegateResourceContract',
};

/** Names for the refusal: of these types nobody could judge what would be signed. */
const REFUSED_TYPES: Readonly<Record<number, string>> = {
  0: 'AccountCreateContract',
  3: 'VoteAssetContract',
  4: 'VoteWitnessContract',
  5: 'WitnessCreateContract',
  6: 'AssetIssueContract',
  8: 'WitnessUpdateContract',
  9: 'ParticipateAssetIssueContract',
  10: 'AccountUpdateContract',
  11: 'FreezeBalanceContract',
  12: 'UnfreezeBalanceContract',
  13: 'WithdrawBalanceContract',
  14: 'UnfreezeAssetContract',
  15: 'UpdateAssetContract',
  16: 'ProposalCreateContract',
  17: 'ProposalApproveContract',
  18: 'ProposalDeleteContract',
  19: 'SetAccountIdContract',
  20: 'CustomContract',
  30: 'CreateSmartContract',
  32: 'GetContract',
  33: 'UpdateSettingContract',
  41: 'ExchangeCreateContract',
  42: 'ExchangeInjectContract',
  43: 'ExchangeWithdrawContract',
  44: 'ExchangeTransactionContract',
  45: 'UpdateEnergyLimitContract',
  48: 'ClearABIContract',
  49: 'UpdateBrokerageContract',
  51: 'ShieldedTransferContract',
  52: 'MarketSellAssetContract',
  53: 'MarketCancelOrderContract',
  56: 'WithdrawExpireUnfreezeContract',
  59: 'CancelAllUnfreezeV2Contract',
};

const RESOURCES: readonly TronResource[] = ['BANDWIDTH', 'ENERGY', 'TRON_POWER'];
const PERMISSION_TYPES: readonly TronPermission['type'][] = ['Owner', 'Witness', 'Active'];

const ADDRESS_PREFIX = 0x41;
const ADDRESS_BYTES = 21;

/** A Transaction.Contract. Its Any must hold the message that its type announces, as the nodes require. */
export function parseContract(contract: ProtoMessage): TronContract {
  const number = contract.uint31(1, 'type');
  const type = READ_TYPES[number];
  if (type === undefined) {
    const name = REFUSED_TYPES[number] ?? number;
    throw refused(`Tron transactions of contract type ${name} are not signed, because their contents are not read`);
  }
  const any = contract.message(2, 'parameter');
  if (any === undefined) throw unparsable('the contract has no parameter');
  if (any.text(1, 'type_url') !== `type.googleapis.com/protocol.${type}`) {
    throw unparsable(`the parameter of the contract is not a ${type}`);
  }
  const value = any.message(2, 'value');
  if (value === undefined) throw unparsable('the parameter of the contract has no value');
  const parsed: TronContract = {
    ...readFields(type, value),
    ownerAddress: address(value, type === 'TransferAssetContract' ? 2 : 1, 'owner_address'),
    permissionId: contract.uint31(5, 'Permission_id'),
  };
  contract.refuseOthers();
  any.refuseOthers();
  value.refuseOthers();
  return parsed;
}

function readFields(type: TronContractFields['type'], value: ProtoMessage): TronContractFields {
  switch (type) {
    case 'TransferContract':
      return { type, toAddress: address(value, 2, 'to_address'), amount: value.uint63(3, 'amount') };
    case 'TransferAssetContract':
      return {
        type,
        assetName: value.text(1, 'asset_name'),
        toAddress: address(value, 3, 'to_address'),
        amount: value.uint63(4, 'amount'),
      };
    case 'TriggerSmartContract':
      return {
        type,
        contractAddress: address(value, 2, 'contract_address'),
        callValue: value.uint63(3, 'call_value'),
        data: value.hex(4, 'data'),
        callTokenValue: value.uint63(5, 'call_token_value'),
        tokenId: value.uint63(6, 'token_id'),
      };
    case 'FreezeBalanceV2Contract':
      return { type, frozenBalance: value.uint63(2, 'frozen_balance'), resource: resource(value, 3) };
    case 'UnfreezeBalanceV2Contract':
      return { type, unfreezeBalance: value.uint63(2, 'unfreeze_balance'), resource: resource(value, 3) };
    case 'DelegateResourceContract':
      return {
        type,
        ...delegation(value),
        lock: value.bool(5, 'lock'),
        lockPeriod: value.uint63(6, 'lock_period'),
      };
    case 'UnDelegateResourceContract':
      return { type, ...delegation(value) };
    case 'AccountPermissionUpdateContract': {
      const owner = value.message(2, 'owner');
      const witness = value.message(3, 'witness');
      return {
        type,
        ...(owner === undefined ? {} : { owner: permission(owner) }),
        ...(witness === undefined ? {} : { witness: permission(witness) }),
        actives: value.messages(4, 'actives').map(permission),
      };
    }
  }
}

function delegation(value: ProtoMessage) {
  return {
    resource: resource(value, 2),
    balance: value.uint63(3, 'balance'),
    receiverAddress: address(value, 4, 'receiver_address'),
  };
}

function permission(value: ProtoMessage): TronPermission {
  const parsed: TronPermission = {
    type: enumName(value, 1, 'type', PERMISSION_TYPES),
    id: value.uint31(2, 'id'),
    permissionName: value.text(3, 'permission_name'),
    threshold: value.uint63(4, 'threshold'),
    parentId: value.uint31(5, 'parent_id'),
    operations: value.hex(6, 'operations'),
    keys: value.messages(7, 'keys').map(permissionKey),
  };
  value.refuseOthers();
  return parsed;
}

function permissionKey(value: ProtoMessage): TronKey {
  const key: TronKey = { address: address(value, 1, 'address'), weight: value.uint63(2, 'weight') };
  value.refuseOthers();
  return key;
}

function resource(value: ProtoMessage, number: number): TronResource {
  return enumName(value, number, 'resource', RESOURCES);
}

function enumName<Name>(value: ProtoMessage, number: number, label: string, names: readonly Name[]): Name {
  const name = names[value.uint31(number, label)];
  if (name === undefined) throw unparsable(`the contract's ${label} is not a known one`);
  return name;
}

function address(value: ProtoMessage, number: number, label: string): string {
  const bytes = value.bytes(number, label);
  if (bytes.length !== ADDRESS_BYTES || bytes[0] !== ADDRESS_PREFIX) {
    throw unparsable(`the contract's ${label} is not a Tron address`);
  }
  return tronAddress(bytes);
}
