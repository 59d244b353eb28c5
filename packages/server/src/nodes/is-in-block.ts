import type { EvmNode, EvmReceipt } from './node.ts';

/** Whether the chain, as this node sees it, still has the transaction in the block of its receipt. */
export async function isInBlock(node: EvmNode, receipt: EvmReceipt): Promise<boolean> {
  const block = await node.block(receipt.blockNumber);
  return block?.hash === receipt.blockHash && block.transactions.includes(receipt.transactionHash);
}
