import Type from 'typebox';
import { toChecksum } from '../../../chains/ethereum/address.ts';
import { chainName } from '../../../chains/networks.ts';
import { checkChecksum, EthereumAddressShape, EthereumChainShape } from '../../../chains/shapes.ts';
import { chainPart, partyPart } from '../../../describe/chains/parties.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity, type ExecuteContext } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { EarnRequestId, SendId } from '../../../lib/ids.ts';
import type { Stores } from '../../../storage/stores.ts';
import { insertSend } from '../../sends/new-send.ts';
import type { EarnWrapper } from '../model.ts';
import { checkFeeBps, FeeBpsShape } from '../parameters.ts';
import { EarnStore } from '../store.ts';
import { planFor, type WrapperPlan, wishFor } from '../wrapper-plan.ts';
import { deploymentOf, type WrapperDeployment } from '../wrappers.ts';

export const earnDeployWrapper = defineActivity({
  name: 'earn_deploy_wrapper',
  type: 'ACTIVITY_TYPE_EARN_DEPLOY_WRAPPER',
  summary:
    'Put a fee wrapper with its splitter around a vault, at an address that follows from the terms. The same terms again answer the same wrapper.',
  waitsOutside: true,
  policy: {
    governedBy: 'policy',
    resource: 'CONFIG',
    action: 'CREATE',
    params: ['vault_address', 'chain_caip2', 'client_fee_bps', 'client_fee_wallet'],
  },
  credentials: 'none',
  // Of two requests with the same terms the second must find the wrapper of the first.
  lock: 'exclusive',
  scope: 'parent',
  sendsTransactions: true,
  parameters: Type.Object({
    vaultAddress: EthereumAddressShape,
    chainCaip2: EthereumChainShape,
    clientFeeBps: FeeBpsShape,
    clientFeeWallet: EthereumAddressShape,
  }),
  sentence: ({ vaultAddress, chainCaip2, clientFeeBps, clientFeeWallet }, context) =>
    lookClosely(
      say`Deploy a fee wrapper for vault ${partyPart(context, vaultAddress, chainName(chainCaip2))} on ${chainPart(chainName(chainCaip2))}: ${strong(`${Number(clientFeeBps) / 100} %`)} of what it earns go to ${partyPart(context, clientFeeWallet, chainName(chainCaip2))}.`,
      'fixes where fees go',
      'The fee and where it goes cannot be changed later. I want that.',
    ),
  result: Type.Object({
    wrapperAddress: Type.String(),
    splitterAddress: Type.String(),
    deployRequestId: Type.String(),
  }),
  check({ vaultAddress, clientFeeBps, clientFeeWallet }) {
    checkChecksum('parameters.vaultAddress', vaultAddress);
    checkFeeBps('parameters.clientFeeBps', clientFeeBps);
    checkChecksum('parameters.clientFeeWallet', clientFeeWallet);
  },
  describe: wishFor,
  exposes: ({ vaultAddress, chainCaip2, clientFeeBps, clientFeeWallet }) => ({
    vault_address: vaultAddress,
    chain_caip2: chainCaip2,
    client_fee_bps: BigInt(clientFeeBps),
    client_fee_wallet: clientFeeWallet,
  }),
  prepare: (context, _parameters, wish) => planFor(context, wish),
  async execute(context, _parameters, plan) {
    const { store, actor, nowMs, newId } = context;
    const id: EarnRequestId = newId();
    const known = await store(EarnStore).wrappers(actor.organizationId);
    const standing = await standingWrapper(store, known, plan);
    const { wrapperAddress, splitterAddress } = standing?.wrapper ?? plan;
    await store(EarnStore).insertRequest({
      organizationId: actor.organizationId,
      id,
      kind: 'deploy',
      caip2: plan.chain.caip2,
      wrapperAddress,
      walletAddress: '',
      amount: '',
      sendId: standing === undefined ? await deploy(context, plan, known, id) : standing.sendId,
      createdAtMs: nowMs,
    });
    return {
      wrapperAddress: toChecksum(wrapperAddress),
      splitterAddress: toChecksum(splitterAddress),
      deployRequestId: id as string,
    };
  },
});

/** A wrapper on the same terms whose deployment is under way or done, and the transaction that deploys it. */
async function standingWrapper(
  store: Stores,
  known: readonly EarnWrapper[],
  plan: WrapperPlan,
): Promise<{ readonly wrapper: EarnWrapper; readonly sendId: SendId | undefined } | undefined> {
  const { chain, terms } = plan;
  for (const wrapper of known) {
    const isOnTerms =
      wrapper.caip2 === chain.caip2 &&
      wrapper.vaultAddress === terms.vaultAddress &&
      wrapper.clientFeeBps === terms.clientFeeBps &&
      wrapper.clientFeeWallet === terms.clientFeeWallet &&
      wrapper.serviceFeeBps === terms.serviceFeeBps &&
      wrapper.serviceFeeWallet === terms.serviceFeeWallet;
    if (!isOnTerms) continue;
    const deployment = await deploymentOf(store, wrapper);
    if (!isLost(plan, wrapper, deployment)) return { wrapper, sendId: deployment.sendId };
  }
  return undefined;
}

/** It failed, or it was on the chain and is not any more, and no transaction is watched that could bring it back. */
function isLost(plan: WrapperPlan, { wrapperAddress }: EarnWrapper, { state, isOpen }: WrapperDeployment): boolean {
  const isGone = wrapperAddress === plan.wrapperAddress && !plan.isOnChain;
  return state === 'FAILED' || (state === 'INCLUDED' && isGone && !isOpen);
}

/** Writes the wrapper down, anew or over one that failed, and sends what puts it on the chain if it is not there. */
async function deploy(
  context: ExecuteContext,
  plan: WrapperPlan,
  known: readonly EarnWrapper[],
  id: EarnRequestId,
): Promise<SendId | undefined> {
  const { store, actor, nowMs, newId, config } = context;
  const { chain, operator, terms, vault, wrapperAddress, splitterAddress } = plan;
  const failed = known.find((wrapper) => wrapper.caip2 === chain.caip2 && wrapper.wrapperAddress === wrapperAddress);
  if (failed === undefined) {
    const most = config.limitEarnWrappers;
    if (most !== undefined && known.length >= most) {
      throw new ApiError('RESOURCE_LIMIT_EXCEEDED', `an organization can have at most ${most} fee wrappers`);
    }
    await store(EarnStore).insertWrapper({
      organizationId: actor.organizationId,
      caip2: chain.caip2,
      wrapperAddress,
      splitterAddress,
      vaultAddress: terms.vaultAddress,
      provider: terms.provider,
      assetAddress: vault.assetAddress,
      assetSymbol: vault.assetSymbol,
      assetDecimals: vault.assetDecimals,
      clientFeeBps: terms.clientFeeBps,
      clientFeeWallet: terms.clientFeeWallet,
      serviceFeeBps: terms.serviceFeeBps,
      serviceFeeWallet: terms.serviceFeeWallet,
      depositsDisabled: false,
      deployRequestId: id,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
  } else {
    await store(EarnStore).setDeployRequest(failed, id, nowMs);
  }
  if (plan.isOnChain) return undefined;
  const sendId: SendId = newId();
  const request = { kind: 'ethereum', calls: [plan.call] } as const;
  await insertSend(context, { id: sendId, chain, sender: operator, purpose: 'earn-deploy', request });
  return sendId;
}
