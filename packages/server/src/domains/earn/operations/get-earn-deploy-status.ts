import { defineQuery } from '../../../engine/define.ts';
import { statusOf } from '../request-status.ts';

export const getEarnDeployStatus = defineQuery({
  name: 'get_earn_deploy_status',
  summary: 'Whether a fee wrapper is on its chain: PENDING, COMPLETED or FAILED.',
  ...statusOf('deploy'),
});
