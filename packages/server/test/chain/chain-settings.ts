import type { ChainSettings } from '../../src/chains/settings.ts';
import { chains } from '../../src/config/chains.ts';

/** A chain as CUSTOS_CHAINS makes it of nothing but a name and a node, and what a test wants otherwise. */
export function chainSettings(changes: Partial<ChainSettings> = {}): ChainSettings {
  const { caip2 = 'eip155:31337' } = changes;
  const [settings] = chains(JSON.stringify({ [caip2]: { rpcUrls: ['http://127.0.0.1:1'] } })).values();
  return { ...(settings as ChainSettings), ...changes };
}
