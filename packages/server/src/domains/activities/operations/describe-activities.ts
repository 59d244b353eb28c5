import Type from 'typebox';
import { ActivityReader } from '../../../core/store/activity-reader.ts';
import { defineQuery } from '../../../engine/define.ts';
import { chunks } from '../../../lib/collections.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { DescriptionShape } from '../description-shapes.ts';

const ACTIVITIES_MAX = 100;
/** A body may have megabytes, so only a few are at hand at a time. */
const AT_A_TIME = 10;

export const describeActivities = defineQuery({
  name: 'describe_activities',
  ours: true,
  summary:
    'Activities of the organization in words, as describe_activity has them but without the bytes that are signed. Ids that it does not know are left out.',
  parameters: Type.Object({
    organizationId: IdShape,
    activityIds: Type.Array(IdShape, { minItems: 1, maxItems: ACTIVITIES_MAX }),
  }),
  response: Type.Object({ descriptions: Type.Array(DescriptionShape) }),
  async run({ read, actor, describeRequests }, { activityIds }) {
    const descriptions = [];
    for (const some of chunks([...new Set(activityIds)], AT_A_TIME)) {
      const activities = await read(ActivityReader).ofIds(actor.organizationId, some);
      const requests = activities.map((activity) => ({ activity }));
      descriptions.push(...(await describeRequests(actor.organization, requests, { isBrief: true })));
    }
    return { descriptions };
  },
});
