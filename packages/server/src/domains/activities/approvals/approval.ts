import type { ActivityWithVotes } from '../../../core/store/activity-reader.ts';
import type { WireActivity } from '../../../engine/render-activity.ts';
import { type ProgressInputs, progressOf } from './progress.ts';
import type { Approval } from './shapes.ts';

export interface ApprovalInputs extends ProgressInputs {
  readonly renderActivity: (found: ActivityWithVotes) => WireActivity;
}

/** An activity as whoever decides on it sees it. */
export async function approvalOf(inputs: ApprovalInputs, found: ActivityWithVotes): Promise<Approval> {
  return { activity: inputs.renderActivity(found), progress: await progressOf(inputs, found) };
}
