import type { TronTransactionFacts } from '../../policy/index.ts';
import type { FieldTable } from '../field-table.ts';
import type { TronContract } from './contract.ts';
import type { TronTransaction } from './tron.ts';

type ContractType = TronContract['type'];
type TransactionOf<Type extends ContractType> = Omit<TronTransaction, 'contract'> & {
  readonly contract: readonly [Extract<TronContract, { readonly type: Type }>];
};

const OWNER = {
  type: { policy: 'type' },
  ownerAddress: { policy: 'owner_address' },
  permissionId: { policy: 'permission_id' },
} as const;

const DELEGATION = {
  ...OWNER,
  resource: { policy: 'resource' },
  balance: { policy: 'balance' },
  receiverAddress: { policy: 'receiver_address' },
} as const;

const PERMISSION = {
  type: { policy: 'type' },
  id: { policy: 'id' },
  permissionName: { policy: 'permission_name' },
  threshold: { policy: 'threshold' },
  parentId: { policy: 'parent_id' },
  operations: { policy: 'operations' },
  keys: { policy: 'keys', each: { address: { policy: 'address' }, weight: { policy: 'weight' } } },
} as const;

const withContract = <const Each>(each: Each) =>
  ({
    refBlockBytes: { policy: 'ref_block_bytes' },
    refBlockHash: { policy: 'ref_block_hash' },
    expiration: { policy: 'expiration' },
    timestamp: { policy: 'timestamp' },
    data: { policy: 'data' },
    feeLimit: { policy: 'fee_limit' },
    contract: { policy: 'contract', each },
    txid: { derivedFrom: ['refBlockBytes', 'refBlockHash', 'expiration', 'timestamp', 'data', 'feeLimit', 'contract'] },
  }) as const;

/** By the type of the contract. */
export const TRON_FIELDS = {
  TransferContract: withContract({ ...OWNER, toAddress: { policy: 'to_address' }, amount: { policy: 'amount' } }),
  // Policies see its type. They are not shown the rest, because an amount of another token must not pass for one of
  // TRX.
  TransferAssetContract: withContract({
    ...OWNER,
    assetName: { velocity: 'the token of a transfer' },
    toAddress: { velocity: 'a transfer to the owner takes nothing' },
    amount: { velocity: 'the amount of a transfer' },
  }),
  TriggerSmartContract: withContract({
    ...OWNER,
    contractAddress: { policy: 'contract_address' },
    callValue: { policy: 'call_value' },
    data: { policy: 'data' },
    callTokenValue: { policy: 'call_token_value' },
    tokenId: { policy: 'token_id' },
  }),
  FreezeBalanceV2Contract: withContract({
    ...OWNER,
    frozenBalance: { policy: 'frozen_balance' },
    resource: { policy: 'resource' },
  }),
  UnfreezeBalanceV2Contract: withContract({
    ...OWNER,
    unfreezeBalance: { policy: 'unfreeze_balance' },
    resource: { policy: 'resource' },
  }),
  DelegateResourceContract: withContract({
    ...DELEGATION,
    lock: { policy: 'lock' },
    lockPeriod: { policy: 'lock_period' },
  }),
  UnDelegateResourceContract: withContract(DELEGATION),
  AccountPermissionUpdateContract: withContract({
    ...OWNER,
    owner: { policy: 'owner', each: PERMISSION },
    witness: { policy: 'witness', each: PERMISSION },
    actives: { policy: 'actives', each: PERMISSION },
  }),
} as const satisfies { readonly [Type in ContractType]: FieldTable<TransactionOf<Type>, TronTransactionFacts> };
