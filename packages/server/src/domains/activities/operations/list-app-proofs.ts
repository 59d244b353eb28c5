import Type from 'typebox';
import { ActivityReader } from '../../../core/store/activity-reader.ts';
import { defineQuery } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { pageOfList } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { AppProofShape } from '../shapes.ts';

export const listAppProofs = defineQuery({
  name: 'list_app_proofs',
  summary: 'The app proofs of an activity that asked for them.',
  parameters: Type.Object({
    organizationId: IdShape,
    activityId: IdShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ appProofs: Type.Array(AppProofShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { activityId, paginationOptions }) {
    const found = await read(ActivityReader).find(actor.organizationId, activityId);
    if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'activity not found in this organization');
    // They have no ids, and stay in the order in which they were made.
    const numbered = found.proofs.map((proof, index) => ({ proof, cursor: String(index + 1) }));
    const { items, pageInfo } = pageOfList(numbered, paginationOptions, config.listMax, ({ cursor }) => cursor);
    return { appProofs: items.map(({ proof }) => ({ ...proof })), pageInfo };
  },
});
