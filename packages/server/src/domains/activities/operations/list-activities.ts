import Type from 'typebox';
import { ActivityReader } from '../../../core/store/activity-reader.ts';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, listShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { ActivityShape, ActivityStatusShape } from '../shapes.ts';

const ActivityTypeShape = Type.String({
  pattern: '^ACTIVITY_TYPE_[A-Z0-9_]{1,80}$',
  'x-message': 'must be an activity type',
});

const MomentShape = Type.String({
  pattern: '^[0-9]{1,14}$',
  'x-decimal': true,
  'x-message': 'must be milliseconds since 1970 as a decimal string',
});

const toMoment = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

export const listActivities = defineQuery({
  name: 'list_activities',
  summary: 'Activities of the organization, newest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    filterByStatus: Type.Optional(listShape(ActivityStatusShape)),
    filterByType: Type.Optional(listShape(ActivityTypeShape)),
    /** Who submitted it. */
    filterByUserId: Type.Optional(IdShape),
    /** Submitted at this moment or later: milliseconds since 1970. */
    createdAfterMs: Type.Optional(MomentShape),
    /** Submitted before this moment. */
    createdBeforeMs: Type.Optional(MomentShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ activities: Type.Array(ActivityShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config, renderActivity }, { paginationOptions, ...filter }) {
    const { items, pageInfo } = await read(ActivityReader).page(
      actor.organizationId,
      {
        statuses: filter.filterByStatus ?? [],
        types: filter.filterByType ?? [],
        proposerId: filter.filterByUserId,
        createdAfterMs: toMoment(filter.createdAfterMs),
        createdBeforeMs: toMoment(filter.createdBeforeMs),
      },
      toPageRequest(paginationOptions, config.listMax),
    );
    return { activities: items.map(renderActivity), pageInfo };
  },
});
