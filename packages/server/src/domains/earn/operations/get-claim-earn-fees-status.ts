import { defineQuery } from '../../../engine/define.ts';
import { statusOf } from '../request-status.ts';

export const getClaimEarnFeesStatus = defineQuery({
  name: 'get_claim_earn_fees_status',
  summary: 'What became of a claim of fees: PENDING, COMPLETED or FAILED.',
  ...statusOf('claim'),
});
