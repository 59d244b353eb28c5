import Type from 'typebox';
import { checkChecksum, EthereumAddressShape, EthereumChainShape } from '../../../chains/shapes.ts';
import { defineActivity } from '../../../engine/define.ts';
import { both, INNER_CALLS, SIGNERS } from '../../../policy/index.ts';
import { withNeededReset } from '../allowance.ts';
import { AmountShape, checkAmount } from '../parameters.ts';
import { earnSentence } from '../sentences.ts';
import { describeUse, insertRequest, planFacts, planMovements, type WalletPlan } from '../wallet-calls.ts';
import { approveCall, depositCall } from '../wrapper-calls.ts';
import { heldWrapper, requireDeployed, requireDeposits, requireOnChain } from '../wrappers.ts';

export const earnDeposit = defineActivity({
  name: 'earn_deposit',
  type: 'ACTIVITY_TYPE_EARN_DEPOSIT',
  summary:
    'Put some of an asset into the vault behind a fee wrapper. Completed means accepted; get_earn_deposit_status tells the rest.',
  waitsOutside: true,
  policy: {
    governedBy: 'policy',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    params: ['wrapper_address', 'sign_with', 'assets', 'chain_caip2', 'sponsor'],
    namespaces: both(SIGNERS, INNER_CALLS),
  },
  credentials: 'none',
  lock: 'shared',
  sendsTransactions: true,
  parameters: Type.Object({
    wrapperAddress: EthereumAddressShape,
    signWith: EthereumAddressShape,
    assets: AmountShape,
    chainCaip2: EthereumChainShape,
    sponsor: Type.Optional(Type.Boolean()),
  }),
  sentence: ({ wrapperAddress, signWith, assets, chainCaip2 }, context) =>
    earnSentence(context, 'deposit', { wrapperAddress, signWith, amount: assets, chainCaip2 }),
  result: Type.Object({ depositRequestId: Type.String() }),
  check({ wrapperAddress, signWith, assets }) {
    checkChecksum('parameters.wrapperAddress', wrapperAddress);
    checkChecksum('parameters.signWith', signWith);
    checkAmount('parameters.assets', assets);
  },
  async describe(context, { assets, ...asked }): Promise<WalletPlan> {
    const use = await describeUse(context, asked);
    const { wrapper, wallet } = use;
    await requireDeployed(context.read, wrapper);
    requireDeposits(wrapper);
    const amount = BigInt(assets);
    return {
      ...use,
      reset: { purpose: 'earn-approve', call: approveCall(wrapper, 0n) },
      steps: [
        { purpose: 'earn-approve', call: approveCall(wrapper, amount) },
        { purpose: 'earn-deposit', call: depositCall(wrapper, amount, wallet) },
      ],
    };
  },
  exposes: ({ wrapperAddress, signWith, assets, chainCaip2, sponsor = false }) => ({
    wrapper_address: wrapperAddress,
    sign_with: signWith,
    assets: BigInt(assets),
    chain_caip2: chainCaip2,
    sponsor,
  }),
  facts: (context, _parameters, plan) => planFacts(context, plan),
  movements: (context, _parameters, plan) => planMovements(context, plan),
  async prepare(context, _parameters, plan) {
    await requireOnChain(context, plan.wrapper);
    return await withNeededReset(context, plan);
  },
  async execute(context, { assets }, plan) {
    // A switch that was thrown meanwhile counts, and so does a block with the deployment that is gone.
    const wrapper = await heldWrapper(context.store, plan.wrapper);
    await requireDeployed(context.store, wrapper);
    requireDeposits(wrapper);
    return { depositRequestId: await insertRequest(context, plan, { kind: 'deposit', amount: assets }) };
  },
});
