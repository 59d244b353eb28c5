import Type from 'typebox';
import type { ActivityStatus } from '../../../core/model.ts';
import { ActivityReader } from '../../../core/store/activities.ts';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { approvalOf } from '../approvals/approval.ts';
import { Inbox } from '../approvals/inbox.ts';
import { type Approval, ApprovalShape } from '../approvals/shapes.ts';

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
    'Activities that wait for approvals, newest first, with how far each is and whether it waits for the caller; or those that were decided by votes.',
  parameters: Type.Object({
    organizationId: IdShape,
    /** All that are open unless told. */
    filter: Type.Optional(Type.Enum([...FILTERS])),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({
    approvals: Type.Array(ApprovalShape),
    counts: Type.Object({
      forMe: Type.Integer(),
      forOthers: Type.Integer(),
      /** False where more are open than one query judges: `forMe` then counts the newest of them. */
      isComplete: Type.Boolean(),
    }),
    pageInfo: PageInfoShape,
  }),
  async run(context, { filter, paginationOptions }) {
    const { read, actor, config } = context;
    const request = toPageRequest(paginationOptions, config.listMax);
    const inbox = new Inbox(context);
    if (filter === 'DECIDED') {
      const { organizationId } = actor;
      const wanted = { statuses: DECIDED, isVotedOn: true };
      const { items, pageInfo } = await read(ActivityReader).page(organizationId, wanted, request, 'shorten');
      const approvals: Approval[] = [];
      for (const found of items) approvals.push(await approvalOf(context, found));
      return { approvals, counts: await inbox.counts(), pageInfo };
    }
    const isWanted = ({ progress }: Approval): boolean =>
      filter === undefined || progress.waitsForMe === (filter === 'FOR_ME');
    const { items, pageInfo } = await inbox.page(request, isWanted);
    return { approvals: items, counts: await inbox.counts(), pageInfo };
  },
});
