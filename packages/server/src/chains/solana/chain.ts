import type { Chain, ChainService } from '../chain.ts';
import { solanaBalances } from './balances/held.ts';
import { createSolanaReader } from './balances/solana-reader.ts';
import { solanaFormat } from './format.ts';
import { createSolanaNode } from './node/solana-node.ts';
import { createSolanaHistory } from './review/history.ts';
import { createSolanaLookup } from './review/lookup.ts';
import { solanaRound } from './send/round.ts';

const service: ChainService = {
  openNode: (chain, options) => ({ solana: createSolanaNode(chain, options) }),
  round: solanaRound,
  openLookup: (nodes, chain, options) =>
    createSolanaLookup(nodes.solana(chain.caip2), createSolanaHistory(chain, options)),
  reader: (nodes, caip2, level) => createSolanaReader(nodes.solana(caip2), level),
  balances: (nodes, caip2, address) => solanaBalances(nodes.solana(caip2), address),
};

export const solana: Chain = { ...solanaFormat, service };
