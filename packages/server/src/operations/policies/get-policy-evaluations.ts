import Type from 'typebox';
import { toTimestamp } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { pageOfList } from '../../lib/pagination.ts';
import type { PolicyEvaluation } from '../../policy/index.ts';
import { renderEvaluation } from '../../wire/access.ts';
import { defineQuery } from '../define.ts';
import { PolicyEvaluationShape } from '../shapes/access.ts';
import { IdShape, PageInfoShape, PaginationShape, TimestampShape } from '../shapes/basic.ts';

export const getPolicyEvaluations = defineQuery({
  name: 'get_policy_evaluations',
  summary: 'What each policy said at each vote of an activity, and why. A vote that the root quorum decided has none.',
  parameters: Type.Object({
    organizationId: IdShape,
    activityId: IdShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({
    policyEvaluations: Type.Array(
      Type.Object({
        id: Type.String(),
        activityId: Type.String(),
        organizationId: Type.String(),
        voteId: Type.String(),
        policyEvaluations: Type.Array(PolicyEvaluationShape),
        createdAt: TimestampShape,
      }),
    ),
    pageInfo: PageInfoShape,
  }),
  async run({ read, actor, config }, { activityId, paginationOptions }) {
    const { organizationId } = actor;
    const [found, kept] = await Promise.all([
      read.activities.find(organizationId, activityId),
      read.policies.evaluations(organizationId, activityId),
    ]);
    if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');
    // What a parent decided in its sub-organization it decided by policies that are nobody's business there.
    const { authorityId } = found.activity;
    const isTold = authorityId === undefined || authorityId === actor.homeId;
    const ofVote = new Map(kept.map(({ voteId, evaluations }) => [voteId, evaluations as PolicyEvaluation[]]));
    const { items, pageInfo } = pageOfList(found.votes, paginationOptions, config.listMax, ({ id }) => id);
    return {
      policyEvaluations: items.map(({ id, createdAtMs }) => ({
        id,
        activityId,
        organizationId,
        voteId: id,
        policyEvaluations: isTold ? (ofVote.get(id) ?? []).map(renderEvaluation) : [],
        createdAt: toTimestamp(createdAtMs),
      })),
      pageInfo,
    };
  },
});
