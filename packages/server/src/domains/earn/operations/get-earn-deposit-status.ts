import { defineQuery } from '../../../engine/define.ts';
import { statusOf } from '../request-status.ts';

export const getEarnDepositStatus = defineQuery({
  name: 'get_earn_deposit_status',
  summary: 'What became of a deposit into a fee wrapper: PENDING, COMPLETED or FAILED.',
  ...statusOf('deposit'),
});
