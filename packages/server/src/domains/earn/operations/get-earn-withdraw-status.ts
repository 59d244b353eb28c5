import { defineQuery } from '../../../engine/define.ts';
import { statusOf } from '../request-status.ts';

export const getEarnWithdrawStatus = defineQuery({
  name: 'get_earn_withdraw_status',
  summary: 'What became of a withdrawal from a fee wrapper: PENDING, COMPLETED or FAILED.',
  ...statusOf('withdraw'),
});
