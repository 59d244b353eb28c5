import type { Domain } from '../../engine/domain.ts';
import { provide } from '../../storage/stores.ts';
import { FeeWrappers } from '../signing/fee-wrappers.ts';
import { names } from './names.ts';
import { claimEarnFees } from './operations/claim-earn-fees.ts';
import { earnDeployWrapper } from './operations/earn-deploy-wrapper.ts';
import { earnDeposit } from './operations/earn-deposit.ts';
import { earnSetWrapperState } from './operations/earn-set-wrapper-state.ts';
import { earnWithdraw } from './operations/earn-withdraw.ts';
import { getClaimEarnFeesStatus } from './operations/get-claim-earn-fees-status.ts';
import { getEarnDeployStatus } from './operations/get-earn-deploy-status.ts';
import { getEarnDepositStatus } from './operations/get-earn-deposit-status.ts';
import { getEarnWithdrawStatus } from './operations/get-earn-withdraw-status.ts';
import { listEarnEnabledVaults } from './operations/list-earn-enabled-vaults.ts';
import { listEarnPositionHistory } from './operations/list-earn-position-history.ts';
import { listEarnPositions } from './operations/list-earn-positions.ts';
import { listEarnVaults } from './operations/list-earn-vaults.ts';
import { listSupportedAssets } from './operations/list-supported-assets.ts';
import { EarnReader } from './store.ts';
import { tables } from './tables.ts';

export const earn: Domain = {
  name: 'earn',
  operations: [
    claimEarnFees,
    earnDeployWrapper,
    earnDeposit,
    earnSetWrapperState,
    earnWithdraw,
    getClaimEarnFeesStatus,
    getEarnDeployStatus,
    getEarnDepositStatus,
    getEarnWithdrawStatus,
    listEarnEnabledVaults,
    listEarnPositionHistory,
    listEarnPositions,
    listEarnVaults,
    listSupportedAssets,
  ],
  tables,
  names,
  provides: [provide(FeeWrappers, EarnReader)],
};
