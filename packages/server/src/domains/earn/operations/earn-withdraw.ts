import Type from 'typebox';
import { checkChecksum, EthereumAddressShape, EthereumChainShape } from '../../../chains/shapes.ts';
import { defineActivity, type PrepareContext } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { both, INNER_CALLS, SIGNERS } from '../../../policy/index.ts';
import { createContractReader } from '../contract-reader.ts';
import { AmountOrMaxShape, checkAmount, MAX } from '../parameters.ts';
import { earnSentence } from '../sentences.ts';
import { token } from '../views.ts';
import { describeUse, insertRequest, planFacts, planMovements, type WalletPlan } from '../wallet-calls.ts';
import { redeemAllCall, withdrawCall } from '../wrapper-calls.ts';
import { heldWrapper, requireOnChain } from '../wrappers.ts';

export const earnWithdraw = defineActivity({
  name: 'earn_withdraw',
  type: 'ACTIVITY_TYPE_EARN_WITHDRAW',
  summary:
    'Take some of an asset, or with MAX all of it, out of a fee wrapper. Completed means accepted; get_earn_withdraw_status tells the rest.',
  waitsOutside: true,
  policy: {
    governedBy: 'policy',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    params: ['wrapper_address', 'sign_with', 'amount_value', 'chain_caip2', 'sponsor'],
    namespaces: both(SIGNERS, INNER_CALLS),
  },
  credentials: 'none',
  lock: 'shared',
  sendsTransactions: true,
  parameters: Type.Object({
    wrapperAddress: EthereumAddressShape,
    signWith: EthereumAddressShape,
    amountValue: AmountOrMaxShape,
    chainCaip2: EthereumChainShape,
    sponsor: Type.Optional(Type.Boolean()),
  }),
  sentence: ({ wrapperAddress, signWith, amountValue, chainCaip2 }, context) =>
    earnSentence(context, 'withdraw', { wrapperAddress, signWith, amount: amountValue, chainCaip2 }),
  result: Type.Object({ withdrawRequestId: Type.String() }),
  check({ wrapperAddress, signWith, amountValue }) {
    checkChecksum('parameters.wrapperAddress', wrapperAddress);
    checkChecksum('parameters.signWith', signWith);
    checkAmount('parameters.amountValue', amountValue);
  },
  // Whether deposits are disabled is no matter, nor what became of the deployment: what is inside always comes out.
  async describe(context, { amountValue, ...asked }): Promise<WalletPlan> {
    const use = await describeUse(context, asked);
    const { wrapper, wallet } = use;
    const call =
      amountValue === MAX ? redeemAllCall(wrapper, wallet) : withdrawCall(wrapper, BigInt(amountValue), wallet);
    return { ...use, steps: [{ purpose: 'earn-withdraw', call }] };
  },
  exposes: ({ wrapperAddress, signWith, amountValue, chainCaip2, sponsor = false }) => ({
    wrapper_address: wrapperAddress,
    sign_with: signWith,
    amount_value: amountValue,
    chain_caip2: chainCaip2,
    sponsor,
  }),
  facts: (context, _parameters, plan) => planFacts(context, plan),
  movements: (context, _parameters, plan) => planMovements(context, plan),
  async prepare(context, { amountValue }, plan) {
    await requireOnChain(context, plan.wrapper);
    if (amountValue === MAX) await requirePosition(context, plan);
    return plan;
  },
  async execute(context, { amountValue }, plan) {
    await heldWrapper(context.store, plan.wrapper);
    return { withdrawRequestId: await insertRequest(context, plan, { kind: 'withdraw', amount: amountValue }) };
  },
});

/**
 * Without shares the transaction would cost gas and take out nothing. A wrapper that does not tell decides by itself.
 */
async function requirePosition({ nodes }: PrepareContext, { wrapper, wallet }: WalletPlan): Promise<void> {
  const { caip2, wrapperAddress } = wrapper;
  const shares = await createContractReader(nodes.evm(caip2)).read(token.balanceOf, wrapperAddress, wallet);
  if (shares !== 0n) return;
  throw new ApiError(
    'EARN_NOTHING_TO_WITHDRAW',
    'signWith holds no shares of this wrapper; a deposit can be withdrawn once get_earn_deposit_status says COMPLETED',
  );
}
