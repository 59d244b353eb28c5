import { assert } from '../lib/assert.ts';
import type { Chain, ChainService } from './chain.ts';
import { ethereum } from './ethereum/chain.ts';
import { FORMATS } from './formats.ts';
import { networkOf } from './networks.ts';
import { solana } from './solana/chain.ts';

/** Every family of chains. A family without nodes here, whose transactions are only signed, is its format. */
export const CHAINS: { readonly [Family in keyof typeof FORMATS]: Chain } = {
  ...FORMATS,
  ethereum,
  solana,
};

const chains: readonly Chain[] = Object.values(CHAINS);

/** What the family of a configured chain does with nodes. */
export function serviceOf(caip2: string): ChainService {
  const network = networkOf(caip2);
  const service = chains.find((chain) => chain.network === network)?.service;
  assert(service !== undefined, 'a family whose chains can be configured has nodes');
  return service;
}
