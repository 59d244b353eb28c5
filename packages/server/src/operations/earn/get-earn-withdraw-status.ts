import Type from 'typebox';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { requestStatus, StatusShape } from './request-status.ts';

export const getEarnWithdrawStatus = defineQuery({
  name: 'get_earn_withdraw_status',
  summary: 'What became of a withdrawal from a fee wrapper: PENDING, COMPLETED or FAILED.',
  parameters: Type.Object({ organizationId: IdShape, withdrawRequestId: IdShape }),
  response: Type.Object({
    status: StatusShape,
    withdrawTxHash: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  }),
  async run(context, { withdrawRequestId }) {
    const { status, txHash, error } = await requestStatus(context, 'withdraw', withdrawRequestId);
    return { status, ...(txHash !== undefined && { withdrawTxHash: txHash }), ...(error !== undefined && { error }) };
  },
});
