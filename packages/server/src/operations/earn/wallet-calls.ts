import type { ChainSettings } from '../../lib/chain.ts';
import type { EarnRequest, EarnWrapper } from '../../lib/earn.ts';
import type { EarnRequestId, SendId } from '../../lib/ids.ts';
import type { SendCall, SendPurpose } from '../../lib/send.ts';
import type { Namespaces } from '../../policy/index.ts';
import type { AssetTransfer } from '../../policy-facts/assets/caip19.ts';
import type { ExecuteContext, FactsContext, Movements } from '../define.ts';
import { transactionMovements, transactionsOf } from '../sends/calls.ts';
import { toRequest } from '../sends/ethereum-request.ts';
import { insertSend, sponsorOf } from '../sends/new-send.ts';
import { transactionFacts } from '../signing/facts.ts';
import type { Signer } from '../signing/signer.ts';

/** A call with what it is for, should it be a transaction of its own. */
interface Step {
  readonly purpose: SendPurpose;
  readonly call: SendCall;
}

/** What a wallet does with a wrapper. */
export interface WalletPlan {
  readonly chain: ChainSettings;
  readonly wrapper: EarnWrapper;
  readonly signer: Signer;
  /** In lower case. */
  readonly wallet: string;
  readonly steps: readonly Step[];
  readonly isSponsored: boolean;
}

const callsOf = ({ steps }: WalletPlan): SendCall[] => steps.map(({ call }) => call);

/** A transaction for each call (POL 11). */
export const planFacts = async (context: FactsContext, plan: WalletPlan): Promise<Namespaces[]> =>
  await transactionFacts(context, plan.signer, transactionsOf(plan.chain, plan.wallet, callsOf(plan)));

export function planMovements(plan: WalletPlan, taken: readonly AssetTransfer[] = []): Movements {
  const { transfers, ...rest } = transactionMovements(
    plan.signer,
    transactionsOf(plan.chain, plan.wallet, callsOf(plan)),
  );
  return { ...rest, transfers: [...transfers, ...taken] };
}

/** Makes the request and what it sends part of the activity's transaction. */
export async function insertRequest(
  context: ExecuteContext,
  plan: WalletPlan,
  asked: Pick<EarnRequest, 'kind' | 'amount'>,
): Promise<EarnRequestId> {
  const { store, actor, nowMs, newId } = context;
  const id: EarnRequestId = newId();
  await store.earn.insertRequest({
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
    return await insertOne(context, plan, last.purpose, callsOf(plan), undefined);
  }
  let before: SendId | undefined;
  for (const { purpose, call } of steps) before = await insertOne(context, plan, purpose, [call], before);
  return before;
}

async function insertOne(
  context: ExecuteContext,
  { chain, wallet, isSponsored }: WalletPlan,
  purpose: SendPurpose,
  calls: readonly SendCall[],
  afterId: SendId | undefined,
): Promise<SendId> {
  const id: SendId = context.newId();
  await insertSend(context, {
    id,
    chain,
    sender: wallet,
    ...(isSponsored && { payer: sponsorOf(chain) }),
    purpose,
    request: toRequest({ sponsor: isSponsored, calls }, id),
    ...(afterId !== undefined && { afterId }),
  });
  return id;
}
