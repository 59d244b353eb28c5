import type { ChainSettings, ConfiguredChains } from '../chains/settings.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { createEvmNode } from './evm-node.ts';
import type { EvmNode, Nodes, SolanaNode } from './node.ts';
import { createSolanaNode } from './solana-node.ts';

export interface NodesOptions {
  /** For one try at one URL. */
  readonly timeoutMs?: number;
  /** Whether calls of the same tick travel together. */
  readonly isBatching?: boolean;
  /** Before the one try more when every URL has failed. */
  readonly retryPauseMs?: number;
  readonly clock?: Clock;
  /** Told of each new reason why a node is not used; the host is all that is told of its URL. */
  readonly report?: (caip2: string, host: string, reason: string) => void;
}

/** The nodes of all configured chains. Nothing is asked of one before it is used. */
export function createNodes(chains: ConfiguredChains, options: NodesOptions = {}): Nodes {
  const { report, ...rest } = options;
  const stop = new AbortController();
  const evm = new Map<string, EvmNode>();
  const solana = new Map<string, SolanaNode>();
  const optionsOf = ({ caip2 }: ChainSettings) => ({
    ...rest,
    signal: stop.signal,
    ...(report === undefined ? {} : { report: report.bind(undefined, caip2) }),
  });
  for (const chain of chains.values()) {
    if (chain.namespace === 'eip155') evm.set(chain.caip2, createEvmNode(chain, optionsOf(chain)));
    else solana.set(chain.caip2, createSolanaNode(chain, optionsOf(chain)));
  }

  function notThere(caip2: string, kind: string): ApiError {
    const problem = chains.has(caip2)
      ? `the chain ${caip2} is not ${kind}, which this needs`
      : `the chain ${caip2} is not configured; CUSTOS_CHAINS sets the chains of this service`;
    return new ApiError('CHAIN_NOT_CONFIGURED', problem);
  }

  return {
    evm(caip2) {
      const node = evm.get(caip2);
      if (node === undefined) throw notThere(caip2, 'an EVM chain');
      return node;
    },
    solana(caip2) {
      const node = solana.get(caip2);
      if (node === undefined) throw notThere(caip2, 'a Solana chain');
      return node;
    },
    close: () => stop.abort(),
  };
}
