import { ethereumNetwork } from '../../chains/ethereum/network.ts';
import { configuredChain } from '../../chains/networks.ts';
import type { SendCall, SendPurpose } from '../../chains/send/model.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import type { DescribeContext, ExecuteContext, FactsContext, Movements } from '../../engine/define.ts';
import type { EarnRequestId, SendId } from '../../lib/ids.ts';
import type { Namespaces } from '../../policy/index.ts';
import { resolveSender, transactionMovements, transactionsOf } from '../sends/calls.ts';
import { toRequest } from '../sends/ethereum-request.ts';
import { insertSend, requireSponsor, sponsorOf } from '../sends/new-send.ts';
import { transactionFacts } from '../signing/facts.ts';
import type { Signer } from '../signing/signer.ts';
import type { EarnRequest, EarnWrapper } from './model.ts';
import { EarnStore } from './store.ts';
import { sharedWrapper } from './wrappers.ts';

/** A call with what it is for, should it be a transaction of its own. */
interface Step {
  readonly purpose: SendPurpose;
  readonly call: SendCall;
}

/** Which wallet uses which wrapper, and who pays for it. */
interface WalletUse {
  readonly chain: ChainSettings;
  readonly wrapper: EarnWrapper;
  readonly signer: Signer;
  /** In lower case. */
  readonly wallet: string;
  readonly isSponsored: boolean;
}

/** What a wallet does with a wrapper. */
export interface WalletPlan extends WalletUse {
  /** Goes before the steps where the chain wants it (`withNeededReset`), and is judged with them in any case. */
  readonly reset?: Step;
  readonly steps: readonly Step[];
}

interface Asked {
  readonly wrapperAddress: string;
  readonly signWith: string;
  readonly chainCaip2: string;
  readonly sponsor?: boolean;
}

export async function describeUse(
  context: DescribeContext,
  { wrapperAddress, signWith, chainCaip2, sponsor = false }: Asked,
): Promise<WalletUse> {
  const { read, actor, config } = context;
  const chain = configuredChain(config.chains, chainCaip2, ethereumNetwork);
  const wrapper = await sharedWrapper(read, actor.organization, chain, wrapperAddress);
  const signer = await resolveSender(context, signWith, 'parameters.signWith');
  if (sponsor) await requireSponsor(context, chain);
  return { chain, wrapper, signer, wallet: signWith.toLowerCase(), isSponsored: sponsor };
}

const stepsOf = ({ reset, steps }: WalletPlan): readonly Step[] => (reset === undefined ? steps : [reset, ...steps]);
const callsOf = (plan: WalletPlan): SendCall[] => stepsOf(plan).map(({ call }) => call);

/** A transaction for each call (protocol/policy-facts 3.2). */
export const planFacts = async (context: FactsContext, plan: WalletPlan): Promise<Namespaces[]> =>
  await transactionFacts(context, plan.signer, transactionsOf(plan.chain, plan.wallet, callsOf(plan)));

/**
 * What a deposit puts in counts, as in any call of a wrapper. The calls are of our own making: all of them are known.
 */
export async function planMovements(context: FactsContext, plan: WalletPlan): Promise<Movements> {
  const transactions = transactionsOf(plan.chain, plan.wallet, callsOf(plan));
  return { ...(await transactionMovements(context, plan.signer, transactions)), uncounted: [] };
}

/** Makes the request and what it sends part of the activity's transaction. */
export async function insertRequest(
  context: ExecuteContext,
  plan: WalletPlan,
  asked: Pick<EarnRequest, 'kind' | 'amount'>,
): Promise<EarnRequestId> {
  const { store, actor, nowMs, newId } = context;
  const id: EarnRequestId = newId();
  await store(EarnStore).insertRequest({
    ...asked,
    organizationId: actor.organizationId,
    id,
    caip2: plan.chain.caip2,
    wrapperAddress: plan.wrapper.wrapperAddress,
    walletAddress: plan.wallet,
    sendId: await insertSteps(context, plan),
    createdAtMs: nowMs,
  });
  return id;
}

/**
 * One transaction where the account can borrow the batch contract, so that all of it happens or nothing; else one after
 * the other. The last one tells whether it was done.
 */
async function insertSteps(context: ExecuteContext, plan: WalletPlan): Promise<SendId | undefined> {
  const { chain, steps } = plan;
  const last = steps.at(-1);
  if (last !== undefined && chain.batchContract !== undefined) {
    const id: SendId = context.newId();
    await insertOne(context, plan, id, last.purpose, callsOf(plan), undefined);
    return id;
  }
  // Lanes are looked at in the order of ids and a part at a time: made together, the steps are seen together.
  const sends = stepsOf(plan).map((step) => ({ ...step, id: context.newId<'send'>() }));
  for (const [index, { id, purpose, call }] of sends.entries()) {
    await insertOne(context, plan, id, purpose, [call], sends[index - 1]?.id);
  }
  return sends.at(-1)?.id;
}

async function insertOne(
  context: ExecuteContext,
  { chain, wallet, isSponsored }: WalletPlan,
  id: SendId,
  purpose: SendPurpose,
  calls: readonly SendCall[],
  afterId: SendId | undefined,
): Promise<void> {
  await insertSend(context, {
    id,
    chain,
    sender: wallet,
    ...(isSponsored && { payer: sponsorOf(chain) }),
    purpose,
    request: toRequest({ sponsor: isSponsored, calls }, id),
    ...(afterId !== undefined && { afterId }),
  });
}
