import Type from 'typebox';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { requestStatus, StatusShape } from './request-status.ts';

export const getEarnDepositStatus = defineQuery({
  name: 'get_earn_deposit_status',
  summary: 'What became of a deposit into a fee wrapper: PENDING, COMPLETED or FAILED.',
  parameters: Type.Object({ organizationId: IdShape, depositRequestId: IdShape }),
  response: Type.Object({
    status: StatusShape,
    depositTxHash: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  }),
  async run(context, { depositRequestId }) {
    const { status, txHash, error } = await requestStatus(context, 'deposit', depositRequestId);
    return { status, ...(txHash !== undefined && { depositTxHash: txHash }), ...(error !== undefined && { error }) };
  },
});
