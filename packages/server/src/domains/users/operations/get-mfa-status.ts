import Type from 'typebox';
import { ActivityReader } from '../../../core/store/activity-reader.ts';
import { defineQuery } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { pageOfList } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderSteps } from '../render/mfa.ts';
import { AuthenticationMethodShape, RequiredMethodShape } from '../shapes/mfa.ts';
import { MfaReader } from '../store/mfa.ts';
import { UserReader } from '../store/users.ts';

export const getMfaStatus = defineQuery({
  name: 'get_mfa_status',
  summary: 'Which proofs an activity needs of its voters, and which it has.',
  parameters: Type.Object({
    organizationId: IdShape,
    activityId: IdShape,
    userId: Type.Optional(IdShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({
    mfaStatuses: Type.Array(
      Type.Object({
        mfaPolicyId: Type.String(),
        userId: Type.String(),
        satisfied: Type.Boolean(),
        satisfiedMethods: Type.Array(AuthenticationMethodShape),
        requiredMethods: Type.Array(RequiredMethodShape),
      }),
    ),
    pageInfo: PageInfoShape,
  }),
  async run({ read, actor, config }, { activityId, userId, paginationOptions }) {
    const { organizationId } = actor;
    if ((await read(ActivityReader).find(organizationId, activityId)) === undefined) {
      throw new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');
    }
    const requirements = (await read(MfaReader).requirements(organizationId, activityId)).filter(
      (requirement) => userId === undefined || requirement.userId === userId,
    );
    // Nothing to prove must be said of a user, not of a slip in an id.
    if (userId !== undefined && requirements.length === 0) await read(UserReader).get(organizationId, userId);
    // An activity asks each user once.
    const asked = pageOfList(requirements, paginationOptions, config.listMax, (requirement) => requirement.userId);
    return {
      mfaStatuses: asked.items.map((requirement) => ({
        mfaPolicyId: requirement.mfaPolicyId,
        userId: requirement.userId,
        satisfied: requirement.satisfiedAtMs !== undefined,
        satisfiedMethods: requirement.proofs.map((proof) => ({ ...proof.method })),
        requiredMethods: renderSteps(requirement.steps),
      })),
      pageInfo: asked.pageInfo,
    };
  },
});
