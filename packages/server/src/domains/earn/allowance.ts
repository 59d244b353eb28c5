import type { Hex } from '../../chains/nodes/node.ts';
import type { PrepareContext } from '../../engine/define.ts';
import { createContractReader } from './contract-reader.ts';
import { token } from './views.ts';
import type { WalletPlan } from './wallet-calls.ts';

const FALSE = /^0x0{64}$/;

/**
 * Leaves out the call that takes back an allowance, unless one is left over that the token would not replace by another
 * one, as USDT would not. The approval itself is tried: most tokens replace any, and some do not take zero for an amount.
 */
export async function withNeededReset({ nodes }: PrepareContext, plan: WalletPlan): Promise<WalletPlan> {
  const { reset, ...without } = plan;
  const { wrapper, wallet, steps } = plan;
  const [approval] = steps;
  if (reset === undefined || approval === undefined) return without;
  const node = nodes.evm(wrapper.caip2);
  const { to, data } = approval.call;
  const tried = await node.call({ from: wallet as Hex, to: to as Hex, data: data as Hex });
  if (tried.ok && !FALSE.test(tried.data)) return without;
  const left = await createContractReader(node).read(token.allowance, to, wallet, wrapper.wrapperAddress);
  return left === undefined || left === 0n ? without : plan;
}
