import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { serviceOf } from '../index.ts';
import type { ChainSettings, ConfiguredChains } from '../settings.ts';
import type { ChainNode, Nodes } from './node.ts';

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
  const nodes = new Map<string, ChainNode>();
  const optionsOf = ({ caip2 }: ChainSettings) => ({
    ...rest,
    signal: stop.signal,
    ...(report === undefined ? {} : { report: report.bind(undefined, caip2) }),
  });
  for (const chain of chains.values()) {
    nodes.set(chain.caip2, serviceOf(chain.caip2).openNode(chain, optionsOf(chain)));
  }

  function notThere(caip2: string, kind: string): ApiError {
    const problem = chains.has(caip2)
      ? `the chain ${caip2} is not ${kind}, which this needs`
      : `the chain ${caip2} is not configured; CUSTOS_CHAINS sets the chains of this service`;
    return new ApiError('CHAIN_NOT_CONFIGURED', problem);
  }

  return {
    evm(caip2) {
      const node = nodes.get(caip2)?.evm;
      if (node === undefined) throw notThere(caip2, 'an EVM chain');
      return node;
    },
    solana(caip2) {
      const node = nodes.get(caip2)?.solana;
      if (node === undefined) throw notThere(caip2, 'a Solana chain');
      return node;
    },
    async heads(caip2) {
      const node = nodes.get(caip2);
      const family = node?.evm ?? node?.solana;
      if (family === undefined) throw notThere(caip2, 'configured');
      return await family.heads();
    },
    close: () => stop.abort(),
  };
}
