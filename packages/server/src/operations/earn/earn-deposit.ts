import Type from 'typebox';
import { approveCall, depositCall } from '../../earn/wrapper-calls.ts';
import { configuredChain } from '../../lib/chain.ts';
import { defineActivity } from '../define.ts';
import { resolveSender } from '../sends/calls.ts';
import { requireSponsor } from '../sends/new-send.ts';
import { checkChecksum, EthereumAddressShape, EthereumChainShape } from '../shapes/chain.ts';
import { AmountShape, checkAmount } from './parameters.ts';
import { insertRequest, planFacts, planMovements, type WalletPlan } from './wallet-calls.ts';
import { heldWrapper, requireDeployed, requireDeposits, requireOnChain, sharedWrapper } from './wrappers.ts';

export const earnDeposit = defineActivity({
  name: 'earn_deposit',
  type: 'ACTIVITY_TYPE_EARN_DEPOSIT',
  summary:
    'Put some of an asset into the vault behind a fee wrapper. Completed means accepted; get_earn_deposit_status tells the rest.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'SIGN' },
  lock: 'shared',
  broadcasts: true,
  parameters: Type.Object({
    wrapperAddress: EthereumAddressShape,
    signWith: EthereumAddressShape,
    assets: AmountShape,
    chainCaip2: EthereumChainShape,
    sponsor: Type.Optional(Type.Boolean()),
  }),
  result: Type.Object({ depositRequestId: Type.String() }),
  check({ wrapperAddress, signWith, assets }) {
    checkChecksum('parameters.wrapperAddress', wrapperAddress);
    checkChecksum('parameters.signWith', signWith);
    checkAmount('parameters.assets', assets);
  },
  async describe(context, { wrapperAddress, signWith, assets, chainCaip2, sponsor = false }): Promise<WalletPlan> {
    const { read, actor, config } = context;
    const chain = configuredChain(config.chains, chainCaip2, 'eip155');
    const wrapper = await sharedWrapper(read, actor.organization, chain, wrapperAddress);
    await requireDeployed(read, wrapper);
    requireDeposits(wrapper);
    const signer = await resolveSender(context, signWith, 'parameters.signWith');
    if (sponsor) await requireSponsor(context, chain);
    const wallet = signWith.toLowerCase();
    const amount = BigInt(assets);
    return {
      chain,
      wrapper,
      signer,
      wallet,
      steps: [
        { purpose: 'earn-approve', call: approveCall(wrapper, amount) },
        { purpose: 'earn-deposit', call: depositCall(wrapper, amount, wallet) },
      ],
      isSponsored: sponsor,
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
  // What the wrapper takes leaves the wallet, though no transfer is among the calls.
  movements: ({ assets }, plan) =>
    planMovements(plan, [
      {
        chain: 'eip155',
        chainReference: plan.chain.reference,
        kind: 'erc20',
        assetReference: plan.wrapper.assetAddress,
        amount: BigInt(assets),
      },
    ]),
  async prepare(context, _parameters, plan) {
    await requireOnChain(context, plan.wrapper);
    return plan;
  },
  async execute(context, { assets }, plan) {
    // A switch that was thrown meanwhile counts, and so does a block with the deployment that is gone.
    const wrapper = await heldWrapper(context.store, plan.wrapper);
    await requireDeployed(context.store, wrapper);
    requireDeposits(wrapper);
    return { depositRequestId: await insertRequest(context, plan, { kind: 'deposit', amount: assets }) };
  },
});
