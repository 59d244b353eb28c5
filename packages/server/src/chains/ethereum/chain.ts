import type { Chain, ChainService } from '../chain.ts';
import type { Hex } from '../nodes/node.ts';
import { createEvmReader } from './balances/evm-reader.ts';
import { ethereumBalances } from './balances/held.ts';
import { ethereumFormat } from './format.ts';
import { createEvmNode } from './node/evm-node.ts';
import { createEvmHistory } from './review/history.ts';
import { createEthereumLookup } from './review/lookup.ts';
import { ethereumRound } from './send/round.ts';

const service: ChainService = {
  openNode: (chain, options) => ({ evm: createEvmNode(chain, options) }),
  round: ethereumRound,
  openLookup: (nodes, chain, options) => createEthereumLookup(nodes.evm(chain.caip2), createEvmHistory(chain, options)),
  reader: (nodes, caip2, level, observe) => createEvmReader(nodes.evm(caip2), level, observe),
  balances: (nodes, caip2, address) => ethereumBalances(nodes.evm(caip2), address as Hex),
};

/** Ethereum, and every chain that is like it. */
export const ethereum: Chain = { ...ethereumFormat, service };
