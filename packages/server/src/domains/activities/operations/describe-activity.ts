import Type from 'typebox';
import { ActivityReader } from '../../../core/store/activity-reader.ts';
import { defineQuery } from '../../../engine/define.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { IdShape, textShape } from '../../../lib/shapes.ts';
import { DescriptionShape } from '../description-shapes.ts';

export const describeActivity = defineQuery({
  name: 'describe_activity',
  ours: true,
  summary:
    'An activity in words: one sentence, how much care it asks for and why, every field, and the bytes that are signed. Also of a request that nobody has sent yet.',
  bodyLimit: LIMITS.bodyBytes,
  parameters: Type.Object({
    organizationId: IdShape,
    activityId: Type.Optional(IdShape),
    request: Type.Optional(Type.Object({ type: textShape(128), parameters: Type.Unknown() })),
  }),
  response: Type.Object({ description: DescriptionShape }),
  async run({ read, actor, describeRequests }, { activityId, request }) {
    if ((activityId === undefined) === (request === undefined)) {
      throw invalidField('activityId', 'give either this or request, and not both');
    }
    if (activityId === undefined) {
      const asked = request as NonNullable<typeof request>;
      const [description] = await describeRequests(actor.organization, [{ request: asked }]);
      return { description: description as NonNullable<typeof description> };
    }
    const found = await read(ActivityReader).find(actor.organizationId, activityId);
    if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'activity not found in this organization');
    const [description] = await describeRequests(actor.organization, [found]);
    return { description: description as NonNullable<typeof description> };
  },
});
