import Type from 'typebox';
import { redeemAllCall, withdrawCall } from '../../earn/wrapper-calls.ts';
import { configuredChain } from '../../lib/chain.ts';
import { defineActivity } from '../define.ts';
import { resolveSender } from '../sends/calls.ts';
import { requireSponsor } from '../sends/new-send.ts';
import { checkChecksum, EthereumAddressShape, EthereumChainShape } from '../shapes/chain.ts';
import { AmountOrMaxShape, checkAmount, MAX } from './parameters.ts';
import { insertRequest, planFacts, planMovements, type WalletPlan } from './wallet-calls.ts';
import { heldWrapper, requireOnChain, sharedWrapper } from './wrappers.ts';

export const earnWithdraw = defineActivity({
  name: 'earn_withdraw',
  type: 'ACTIVITY_TYPE_EARN_WITHDRAW',
  summary:
    'Take some of an asset, or with MAX all of it, out of a fee wrapper. Completed means accepted; get_earn_withdraw_status tells the rest.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'SIGN' },
  lock: 'shared',
  broadcasts: true,
  parameters: Type.Object({
    wrapperAddress: EthereumAddressShape,
    signWith: EthereumAddressShape,
    amountValue: AmountOrMaxShape,
    chainCaip2: EthereumChainShape,
    sponsor: Type.Optional(Type.Boolean()),
  }),
  result: Type.Object({ withdrawRequestId: Type.String() }),
  check({ wrapperAddress, signWith, amountValue }) {
    checkChecksum('parameters.wrapperAddress', wrapperAddress);
    checkChecksum('parameters.signWith', signWith);
    checkAmount('parameters.amountValue', amountValue);
  },
  // Whether deposits are disabled is no matter, nor what became of the deployment: what is inside always comes out.
  async describe(context, { wrapperAddress, signWith, amountValue, chainCaip2, sponsor = false }): Promise<WalletPlan> {
    const { read, actor, config } = context;
    const chain = configuredChain(config.chains, chainCaip2, 'eip155');
    const wrapper = await sharedWrapper(read, actor.organization, chain, wrapperAddress);
    const signer = await resolveSender(context, signWith, 'parameters.signWith');
    if (sponsor) await requireSponsor(context, chain);
    const wallet = signWith.toLowerCase();
    const call =
      amountValue === MAX ? redeemAllCall(wrapper, wallet) : withdrawCall(wrapper, BigInt(amountValue), wallet);
    return { chain, wrapper, signer, wallet, steps: [{ purpose: 'earn-withdraw', call }], isSponsored: sponsor };
  },
  exposes: ({ wrapperAddress, signWith, amountValue, chainCaip2, sponsor = false }) => ({
    wrapper_address: wrapperAddress,
    sign_with: signWith,
    amount_value: amountValue,
    chain_caip2: chainCaip2,
    sponsor,
  }),
  facts: (context, _parameters, plan) => planFacts(context, plan),
  movements: (_parameters, plan) => planMovements(plan),
  async prepare(context, _parameters, plan) {
    await requireOnChain(context, plan.wrapper);
    return plan;
  },
  async execute(context, { amountValue }, plan) {
    await heldWrapper(context.store, plan.wrapper);
    return { withdrawRequestId: await insertRequest(context, plan, { kind: 'withdraw', amount: amountValue }) };
  },
});
