import Type from 'typebox';
import { encodeErrorResult } from 'viem/utils';
import { earnSplitterAbi } from '../../../chains/ethereum/contract-artifacts.ts';
import { ethereumNetwork } from '../../../chains/ethereum/network.ts';
import { configuredChain } from '../../../chains/networks.ts';
import type { Hex } from '../../../chains/nodes/node.ts';
import { checkChecksum, EthereumAddressShape } from '../../../chains/shapes.ts';
import { partyPart } from '../../../describe/chains/parties.ts';
import { say } from '../../../describe/text.ts';
import { type DescribeContext, defineActivity, type PrepareContext } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { once } from '../../../lib/once.ts';
import { both, INNER_CALLS, SIGNERS } from '../../../policy/index.ts';
import { resolveSender } from '../../sends/calls.ts';
import type { Signer } from '../../signing/signer.ts';
import type { EarnWrapper } from '../model.ts';
import { insertRequest, planFacts, planMovements, type WalletPlan } from '../wallet-calls.ts';
import { claimCall } from '../wrapper-calls.ts';
import { heldWrapper, ownWrappers, requireOnChain } from '../wrappers.ts';

const nothingToRelease = once(() => encodeErrorResult({ abi: earnSplitterAbi, errorName: 'NothingToRelease' }));

export const claimEarnFees = defineActivity({
  name: 'claim_earn_fees',
  type: 'ACTIVITY_TYPE_CLAIM_EARN_FEES',
  summary:
    'Pay the fees that a wrapper has earned for the organization to their wallet. Completed means accepted; get_claim_earn_fees_status tells the rest.',
  waitsOutside: true,
  policy: {
    governedBy: 'policy',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    params: ['wrapper_address'],
    namespaces: both(SIGNERS, INNER_CALLS),
  },
  credentials: 'none',
  lock: 'shared',
  scope: 'parent',
  sendsTransactions: true,
  parameters: Type.Object({ wrapperAddress: EthereumAddressShape }),
  sentence: ({ wrapperAddress }, context) =>
    say`Pay out the fees that the wrapper ${partyPart(context, wrapperAddress)} has earned.`,
  result: Type.Object({ claimRequestId: Type.String() }),
  check: ({ wrapperAddress }) => checkChecksum('parameters.wrapperAddress', wrapperAddress),
  async describe(context, { wrapperAddress }): Promise<WalletPlan> {
    const { read, actor, config } = context;
    // The chain is part of what the address is made from, so that there is one.
    const [wrapper] = await ownWrappers(read, actor.organizationId, wrapperAddress);
    const chain = configuredChain(config.chains, wrapper.caip2, ethereumNetwork);
    if (wrapper.clientFeeBps === 0) throw nothingToClaim('this wrapper takes no fee for the organization');
    return {
      chain,
      wrapper,
      signer: await feeSigner(context, wrapper),
      wallet: wrapper.clientFeeWallet,
      steps: [{ purpose: 'earn-claim', call: claimCall(wrapper) }],
      isSponsored: false,
    };
  },
  exposes: ({ wrapperAddress }) => ({ wrapper_address: wrapperAddress }),
  facts: (context, _parameters, plan) => planFacts(context, plan),
  movements: (context, _parameters, plan) => planMovements(context, plan),
  async prepare(context, _parameters, plan) {
    await requireOnChain(context, plan.wrapper);
    await requireFees(context, plan);
    return plan;
  },
  async execute(context, _parameters, plan) {
    await heldWrapper(context.store, plan.wrapper);
    return { claimRequestId: await insertRequest(context, plan, { kind: 'claim', amount: '' }) };
  },
});

async function feeSigner(context: DescribeContext, { clientFeeWallet }: EarnWrapper): Promise<Signer> {
  try {
    return await resolveSender(context, clientFeeWallet, 'clientFeeWallet');
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'RESOURCE_NOT_FOUND') throw error;
    throw new ApiError(
      'FAILED_PRECONDITION',
      `the wallet that the fees are due to, ${clientFeeWallet}, is not in this organization any more`,
    );
  }
}

/**
 * By a trial of the very call: it also counts what was earned since the last accrual, and what is too little to be
 * paid.
 */
async function requireFees({ nodes }: PrepareContext, { chain, wallet, steps }: WalletPlan): Promise<void> {
  for (const { call } of steps) {
    const tried = await nodes
      .evm(chain.caip2)
      .call({ to: call.to as Hex, data: call.data as Hex, from: wallet as Hex });
    if (!tried.ok && tried.data === nothingToRelease())
      throw nothingToClaim('no fees have accrued since the last claim');
  }
}

const nothingToClaim = (message: string): ApiError => new ApiError('EARN_NOTHING_TO_CLAIM', message);
