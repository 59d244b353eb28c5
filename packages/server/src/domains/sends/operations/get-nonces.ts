import Type from 'typebox';
import { encodeFunctionData } from 'viem';
import { custosBatchAbi } from '../../../chains/ethereum/contract-artifacts.ts';
import { isDelegatedTo } from '../../../chains/ethereum/delegation.ts';
import { ethereumNetwork } from '../../../chains/ethereum/network.ts';
import { configuredChain } from '../../../chains/networks.ts';
import type { EvmNode, Hex } from '../../../chains/nodes/node.ts';
import { nextNonce } from '../../../chains/send/model.ts';
import type { ChainSettings } from '../../../chains/settings.ts';
import { EthereumAddressShape, EthereumChainShape } from '../../../chains/shapes.ts';
import { defineQuery, type QueryContext } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { randomId } from '../../../lib/ids.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { findSigner } from '../../signing/signer.ts';
import { batchNonceOf } from '../ethereum-request.ts';
import { SendReader } from '../store/sends.ts';

const TRIES_MAX = 5;

export const getNonces = defineQuery({
  name: 'get_nonces',
  summary:
    'The next nonce of an address on an EVM chain, what is under way here included, and an unused nonce for its sponsored sends.',
  waitsOutside: true,
  parameters: Type.Object({
    organizationId: IdShape,
    address: EthereumAddressShape,
    caip2: EthereumChainShape,
    nonce: Type.Optional(Type.Boolean()),
    gasStationNonce: Type.Optional(Type.Boolean()),
  }),
  response: Type.Object({ nonce: Type.Optional(Type.String()), gasStationNonce: Type.Optional(Type.String()) }),
  async run(context, { address, caip2, nonce, gasStationNonce = false }) {
    const chain = configuredChain(context.config.chains, caip2, ethereumNetwork);
    const node = context.nodes.evm(chain.caip2);
    const account = address.toLowerCase() as Hex;
    // Who asks for neither wants to know the one that every transaction has.
    const isAsked = nonce ?? !gasStationNonce;
    const [next, unused] = await Promise.all([
      isAsked ? nonceOf(context, node, account) : undefined,
      gasStationNonce ? unusedNonce(chain, node, account) : undefined,
    ]);
    return {
      ...(next !== undefined && { nonce: String(next) }),
      ...(unused !== undefined && { gasStationNonce: String(unused) }),
    };
  },
});

async function nonceOf(context: QueryContext, node: EvmNode, account: Hex): Promise<number> {
  const pending = await node.transactionCount(account, 'pending');
  // What another organization has under way is not for this one to know.
  if ((await findSigner(context, account)) === undefined) return pending;
  return nextNonce(pending, await context.read(SendReader).takenNonces(node.chain.caip2, account, pending));
}

async function unusedNonce({ caip2, batchContract }: ChainSettings, node: EvmNode, account: Hex): Promise<bigint> {
  if (batchContract === undefined) {
    throw new ApiError('SPONSORSHIP_NOT_CONFIGURED', `sponsored sends on ${caip2} need batchContract in CUSTOS_CHAINS`);
  }
  const isDelegated = isDelegatedTo(await node.code(account), batchContract);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const nonce = batchNonceOf(randomId());
    // An account that has not borrowed the contract's code yet has used none.
    if (!isDelegated || !(await isUsed(node, account, nonce))) return nonce;
  }
  throw new ApiError('RPC_CALL_ERROR', `the nodes of ${caip2} say that every nonce is used`);
}

async function isUsed(node: EvmNode, account: Hex, nonce: bigint): Promise<boolean> {
  const data = encodeFunctionData({ abi: custosBatchAbi, functionName: 'isNonceUsed', args: [nonce] });
  const answer = await node.call({ to: account, data });
  return !answer.ok || BigInt(answer.data === '0x' ? 1 : answer.data) !== 0n;
}
