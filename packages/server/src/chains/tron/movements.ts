import type { AssetMovements, AssetTransfer } from '../asset-types.ts';
import { tokenMovements } from '../ethereum/call-movements.ts';
import { tronAccountHex } from './address.ts';
import type { TronTransaction } from './tron.ts';

export function tronMovements({ contract: [contract] }: TronTransaction): AssetMovements {
  const chain = { chain: 'tron', chainReference: undefined } as const;
  const moves = (...transfers: readonly AssetTransfer[]): AssetMovements => ({
    transfers: transfers.filter(({ amount }) => amount > 0n),
    uncounted: [],
  });
  const coin = (amount: bigint): AssetTransfer => ({ ...chain, kind: 'slip44', assetReference: '195', amount });
  const trc10 = (reference: string, amount: bigint): AssetTransfer => ({
    ...chain,
    kind: 'trc10',
    assetReference: reference,
    amount,
  });
  const { ownerAddress } = contract;
  switch (contract.type) {
    case 'TransferContract':
      return contract.toAddress === ownerAddress ? moves() : moves(coin(contract.amount));
    case 'TransferAssetContract':
      return contract.toAddress === ownerAddress ? moves() : moves(trc10(contract.assetName, contract.amount));
    case 'TriggerSmartContract': {
      const token = { ...chain, kind: 'trc20', assetReference: contract.contractAddress } as const;
      const name = `the call 0x${contract.data.slice(0, 8)} of ${contract.contractAddress}`;
      const taken = tokenMovements(token, name, tronAccountHex(ownerAddress) ?? '', contract.data);
      return {
        ...moves(
          coin(contract.callValue),
          trc10(String(contract.tokenId), contract.callTokenValue),
          ...taken.transfers,
        ),
        uncounted: contract.data === '' ? [] : taken.uncounted,
      };
    }
    case 'AccountPermissionUpdateContract':
      return {
        transfers: [],
        uncounted: [{ name: 'AccountPermissionUpdateContract', certainty: 'known', reach: [chain] }],
      };
    // What is frozen stays the account's own, and others are lent resources, not coins.
    case 'FreezeBalanceV2Contract':
    case 'UnfreezeBalanceV2Contract':
    case 'DelegateResourceContract':
    case 'UnDelegateResourceContract':
      return moves();
  }
}
