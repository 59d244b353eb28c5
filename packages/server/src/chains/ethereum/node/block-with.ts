import type { EvmBlock, EvmNode, EvmReceipt } from '../../nodes/node.ts';

/** The block of a receipt, if the chain as this node sees it still has it with the transaction in it. */
export async function blockWith(node: EvmNode, receipt: EvmReceipt): Promise<EvmBlock | undefined> {
  const block = await node.block(receipt.blockNumber);
  const isThere = block?.hash === receipt.blockHash && block.transactions.includes(receipt.transactionHash);
  return isThere ? block : undefined;
}
