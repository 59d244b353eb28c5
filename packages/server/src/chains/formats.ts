import { bitcoinChainFormat } from './bitcoin/format.ts';
import type { ChainFormat } from './chain.ts';
import { ethereumFormat } from './ethereum/format.ts';
import { solanaFormat } from './solana/format.ts';
import { tempoFormat } from './tempo/format.ts';
import { tronFormat } from './tron/format.ts';

/** Every family, as far as it needs no node: what `chains/index.ts` is made of, and all that the command line loads. */
export const FORMATS = {
  ethereum: ethereumFormat,
  solana: solanaFormat,
  tron: tronFormat,
  bitcoin: bitcoinChainFormat,
  tempo: tempoFormat,
} as const satisfies Record<string, ChainFormat>;
