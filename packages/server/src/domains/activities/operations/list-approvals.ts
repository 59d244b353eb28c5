import Type from 'typebox';
import type { ActivityStatus } from '../../../core/model.ts';
import { ActivityReader } from '../../../core/store/activity-reader.ts';
import { defineQuery, type QueryContext } from '../../../engine/define.ts';
import { chunks } from '../../../lib/collections.ts';
import { parseIdCursor, toPageOf } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { approvalOf } from '../approvals/approval.ts';
import { Inbox } from '../approvals/inbox.ts';
import { parseInboxCursor } from '../approvals/inbox-cursor.ts';
import { type Approval, DescribedApprovalShape } from '../approvals/shapes.ts';

const AT_A_TIME = 10;

const FILTERS = ['FOR_ME', 'FOR_OTHERS', 'DECIDED'] as const;

const DECIDED: readonly ActivityStatus[] = [
  'ACTIVITY_STATUS_COMPLETED',
  'ACTIVITY_STATUS_FAILED',
  'ACTIVITY_STATUS_REJECTED',
];

export const listApprovals = defineQuery({
  name: 'list_approvals',
  ours: true,
  summary:
    'Activities that wait for approvals, least time left first, with how far each is and whether it waits for the caller; or those that were decided by votes, newest first. At most 100 at once.',
  parameters: Type.Object({
    organizationId: IdShape,
    /** All that are open unless told. */
    filter: Type.Optional(Type.Enum([...FILTERS])),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({
    approvals: Type.Array(DescribedApprovalShape),
    counts: Type.Object({
      forMe: Type.Integer(),
      forOthers: Type.Integer(),
      /** False where more are open than one query judges: `forMe` then counts those with the least time left. */
      isComplete: Type.Boolean(),
    }),
    pageInfo: PageInfoShape,
  }),
  async run(context, { filter, paginationOptions }) {
    const { read, actor } = context;
    const inbox = new Inbox(context);
    if (filter === 'DECIDED') {
      const { organizationId } = actor;
      const request = { kind: 'page', ...toPageOf(paginationOptions, parseIdCursor) } as const;
      const wanted = { statuses: DECIDED, isVotedOn: true };
      const { items, pageInfo } = await read(ActivityReader).page(organizationId, wanted, request, 'shorten');
      const approvals: Approval[] = [];
      for (const found of items) approvals.push(await approvalOf(context, found));
      return { approvals: await described(context, approvals), counts: await inbox.counts(), pageInfo };
    }
    const isWanted = ({ progress }: Approval): boolean =>
      filter === undefined || progress.waitsForMe === (filter === 'FOR_ME');
    const { items, pageInfo } = await inbox.page(toPageOf(paginationOptions, parseInboxCursor), isWanted);
    return { approvals: await described(context, items), counts: await inbox.counts(), pageInfo };
  },
});

/** Their requests in words. Bodies may have megabytes, so only some are at hand at a time. */
async function described({ read, actor, describeRequests }: QueryContext, approvals: readonly Approval[]) {
  const told = [];
  for (const some of chunks(approvals, AT_A_TIME)) {
    const activities = await read(ActivityReader).ofIds(
      actor.organizationId,
      some.map(({ activity }) => activity.id),
    );
    const descriptions = await describeRequests(
      actor.organization,
      activities.map((activity) => ({ activity })),
      { isBrief: true },
    );
    const byId = new Map(descriptions.map((description) => [description.activityId, description]));
    told.push(
      ...some.flatMap((approval) => {
        const description = byId.get(approval.activity.id);
        return description === undefined ? [] : [{ ...approval, description }];
      }),
    );
  }
  return told;
}
