import type { Domain } from '../../engine/domain.ts';
import { approveActivity } from './operations/approve-activity.ts';
import { describeActivities } from './operations/describe-activities.ts';
import { describeActivity } from './operations/describe-activity.ts';
import { getActivity } from './operations/get-activity.ts';
import { getActivityVotes } from './operations/get-activity-votes.ts';
import { getApproval } from './operations/get-approval.ts';
import { listActivities } from './operations/list-activities.ts';
import { listAppProofs } from './operations/list-app-proofs.ts';
import { listApprovals } from './operations/list-approvals.ts';
import { rejectActivity } from './operations/reject-activity.ts';

export const activities: Domain = {
  name: 'activities',
  operations: [
    approveActivity,
    describeActivities,
    describeActivity,
    getActivity,
    getActivityVotes,
    getApproval,
    listActivities,
    listAppProofs,
    listApprovals,
    rejectActivity,
  ],
};
