import Type from 'typebox';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { requestStatus, StatusShape } from './request-status.ts';

export const getEarnDeployStatus = defineQuery({
  name: 'get_earn_deploy_status',
  summary: 'Whether a fee wrapper is on its chain: PENDING, COMPLETED or FAILED.',
  parameters: Type.Object({ organizationId: IdShape, deployRequestId: IdShape }),
  response: Type.Object({
    status: StatusShape,
    deployTxHash: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  }),
  async run(context, { deployRequestId }) {
    const { status, txHash, error } = await requestStatus(context, 'deploy', deployRequestId);
    return { status, ...(txHash !== undefined && { deployTxHash: txHash }), ...(error !== undefined && { error }) };
  },
});
