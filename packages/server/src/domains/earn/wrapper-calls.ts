import { encodeFunctionData, parseAbi } from 'viem/utils';
import { earnSplitterAbi, earnWrapperAbi } from '../../chains/ethereum/contract-artifacts.ts';
import type { Hex } from '../../chains/nodes/node.ts';
import type { SendCall } from '../../chains/send/model.ts';
import type { EarnWrapper } from './model.ts';

const tokenAbi = parseAbi(['function approve(address spender, uint256 amount) returns (bool)']);

const call = (to: string, data: Hex): SendCall => ({ to, value: '0', data });

/** Lets the wrapper take exactly what is put in. */
export const approveCall = ({ assetAddress, wrapperAddress }: EarnWrapper, assets: bigint): SendCall =>
  call(
    assetAddress,
    encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [wrapperAddress as Hex, assets] }),
  );

export const depositCall = ({ wrapperAddress }: EarnWrapper, assets: bigint, wallet: string): SendCall =>
  call(
    wrapperAddress,
    encodeFunctionData({ abi: earnWrapperAbi, functionName: 'deposit', args: [assets, wallet as Hex] }),
  );

export const withdrawCall = ({ wrapperAddress }: EarnWrapper, assets: bigint, wallet: string): SendCall =>
  call(
    wrapperAddress,
    encodeFunctionData({
      abi: earnWrapperAbi,
      functionName: 'withdraw',
      args: [assets, wallet as Hex, wallet as Hex],
    }),
  );

/** All that the wallet holds when the transaction runs, so that nothing is left over. */
export const redeemAllCall = ({ wrapperAddress }: EarnWrapper, wallet: string): SendCall =>
  call(wrapperAddress, encodeFunctionData({ abi: earnWrapperAbi, functionName: 'redeemAll', args: [wallet as Hex] }));

/** Pays the client's part of the fees, in the asset, to the wallet that they are due to. */
export const claimCall = ({ splitterAddress, clientFeeWallet }: EarnWrapper): SendCall => {
  const wallet = clientFeeWallet as Hex;
  return call(
    splitterAddress,
    encodeFunctionData({ abi: earnSplitterAbi, functionName: 'releaseAssets', args: [wallet, wallet] }),
  );
};
