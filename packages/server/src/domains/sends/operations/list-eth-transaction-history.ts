import Type from 'typebox';
import { ethereumNetwork } from '../../../chains/ethereum/network.ts';
import { configuredChain } from '../../../chains/networks.ts';
import type { EvmNode, Hex } from '../../../chains/nodes/node.ts';
import { NodeError } from '../../../chains/nodes/node-error.ts';
import { EthereumAddressShape, EthereumChainShape } from '../../../chains/shapes.ts';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { type HistoryPlace, toCursor, toHistoryPage } from '../history-cursor.ts';
import { HistoryItemShape, type HistoryView, toHistoryItem } from '../history-item.ts';
import { scanHistory } from '../history-scan.ts';

/** How deep a block must be where nodes do not say which one is final. */
const FINAL_DEPTH = 64n;

export const listEthTransactionHistory = defineQuery({
  name: 'list_eth_transaction_history',
  summary:
    'Transactions of an address on an EVM chain, the newest first: what this organization sent from it, and transfers of configured tokens from and to it. A page may be short or empty while more follow.',
  waitsOutside: true,
  parameters: Type.Object({
    organizationId: IdShape,
    address: EthereumAddressShape,
    caip2: EthereumChainShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ transactions: Type.Array(HistoryItemShape), pageInfo: PageInfoShape }),
  async run(context, { organizationId, address, caip2, paginationOptions }) {
    const chain = configuredChain(context.config.chains, caip2, ethereumNetwork);
    const account = address.toLowerCase() as Hex;
    const history = { organizationId, caip2: chain.caip2, address: account };
    const page = toHistoryPage(history, paginationOptions);
    const node = context.nodes.evm(chain.caip2);
    const [head, finalized] = await heights(node);
    const { entries, rest } = await scanHistory(context, node, account, page, head);
    const view: HistoryView = { node, address: account, finalized };
    const isForward = page.before !== undefined;
    const cursorOf = (place: HistoryPlace | undefined): string => (place === undefined ? '' : toCursor(history, place));
    return {
      transactions: await Promise.all(entries.map((entry) => toHistoryItem(context, view, entry))),
      pageInfo: {
        hasNextPage: isForward || rest !== undefined,
        hasPreviousPage: isForward ? rest !== undefined : page.after !== undefined,
        startCursor: cursorOf((isForward ? rest : undefined) ?? entries[0]?.place ?? page.before),
        endCursor: cursorOf((isForward ? undefined : rest) ?? entries.at(-1)?.place ?? page.before),
      },
    };
  },
});

async function heights(node: EvmNode): Promise<readonly [head: bigint, finalized: bigint]> {
  const [latest, finalized] = await Promise.all([node.block('latest'), node.block('finalized')]);
  if (latest === undefined) throw new NodeError('ill-shaped', 'there is no latest block');
  return [latest.number, finalized?.number ?? latest.number - FINAL_DEPTH];
}
