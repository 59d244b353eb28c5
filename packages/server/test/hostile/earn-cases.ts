import { type Build, byRoot } from './case.ts';
import { depositParams, newWrapper, withdrawParams, wrapperParams } from './earn.ts';

export const EARN_CASES: Readonly<Record<string, Build>> = {
  earn_deploy_wrapper: byRoot(({ outside, ids }) => wrapperParams(outside, ids.address)),
  earn_deposit: byRoot(({ outside, ids }) => depositParams(outside, ids.earnWrapper, ids.address)),
  earn_withdraw: byRoot(({ outside, ids }) => withdrawParams(outside, ids.earnWrapper, ids.address)),
  // One that may be spoiled; only parents have any.
  earn_set_wrapper_state: byRoot(async ({ outside, scope, root, ids }) => ({
    wrapperAddress: scope === 'parent' ? (await newWrapper(outside, root)).wrapperAddress : ids.earnWrapper,
    depositsDisabled: true,
  })),
  claim_earn_fees: byRoot(({ ids }) => ({ wrapperAddress: ids.earnWrapper })),
  get_earn_deploy_status: byRoot(({ ids }) => ({ deployRequestId: ids.earnDeployment })),
  get_earn_deposit_status: byRoot(({ ids }) => ({ depositRequestId: ids.earnDeposit })),
  get_earn_withdraw_status: byRoot(({ ids }) => ({ withdrawRequestId: ids.earnWithdrawal })),
  get_claim_earn_fees_status: byRoot(({ ids }) => ({ claimRequestId: ids.earnClaim })),
};
