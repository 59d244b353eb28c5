import Type from 'typebox';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { requestStatus, StatusShape } from './request-status.ts';

export const getClaimEarnFeesStatus = defineQuery({
  name: 'get_claim_earn_fees_status',
  summary: 'What became of a claim of fees: PENDING, COMPLETED or FAILED.',
  parameters: Type.Object({ organizationId: IdShape, claimRequestId: IdShape }),
  response: Type.Object({
    status: StatusShape,
    claimTxHash: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  }),
  async run(context, { claimRequestId }) {
    const { status, txHash, error } = await requestStatus(context, 'claim', claimRequestId);
    return { status, ...(txHash !== undefined && { claimTxHash: txHash }), ...(error !== undefined && { error }) };
  },
});
