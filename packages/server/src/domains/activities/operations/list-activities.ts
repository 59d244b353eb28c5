import Type from 'typebox';
import { ActivityReader } from '../../../core/store/activities.ts';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, listShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { ActivityShape, ActivityStatusShape } from '../shapes.ts';

const ActivityTypeShape = Type.String({
  pattern: '^ACTIVITY_TYPE_[A-Z0-9_]{1,80}$',
  'x-message': 'must be an activity type',
});

export const listActivities = defineQuery({
  name: 'list_activities',
  summary: 'Activities of the organization, newest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    filterByStatus: Type.Optional(listShape(ActivityStatusShape)),
    filterByType: Type.Optional(listShape(ActivityTypeShape)),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ activities: Type.Array(ActivityShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config, renderActivity }, { filterByStatus, filterByType, paginationOptions }) {
    const { items, pageInfo } = await read(ActivityReader).page(
      actor.organizationId,
      { statuses: filterByStatus ?? [], types: filterByType ?? [] },
      toPageRequest(paginationOptions, config.listMax),
    );
    return { activities: items.map(renderActivity), pageInfo };
  },
});
