import Type from 'typebox';
import type { Vote } from '../../../core/model.ts';
import { ActivityReader } from '../../../core/store/activity-reader.ts';
import { defineQuery } from '../../../engine/define.ts';
import { DecisionExplanationShape, VoteEvaluationShape } from '../../../engine/shapes/rules.ts';
import { toTimestamp } from '../../../lib/clock.ts';
import { ApiError } from '../../../lib/errors.ts';
import { pageOfList } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape, TimestampShape } from '../../../lib/shapes.ts';
import { explainVote, type VoteEvaluation } from '../../../policy/index.ts';
import { PolicyReader } from '../store/policies.ts';
import { approversNamed, explainAll, namesFor, renderDecisionWords } from '../words/explanations.ts';

export const getPolicyEvaluations = defineQuery({
  name: 'get_policy_evaluations',
  summary:
    'What each policy said at each vote of an activity, and why. A vote that the root quorum decided has none; a rejection has the policies that still waited.',
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
        policyEvaluations: Type.Array(VoteEvaluationShape),
        /** Ours: why, in plain words. Absent where the policies are not told. */
        explanation: Type.Optional(DecisionExplanationShape),
        createdAt: TimestampShape,
      }),
    ),
    pageInfo: PageInfoShape,
  }),
  async run({ read, actor, config }, { activityId, paginationOptions }) {
    const { organizationId } = actor;
    const [found, kept] = await Promise.all([
      read(ActivityReader).find(organizationId, activityId),
      read(PolicyReader).evaluations(organizationId, activityId),
    ]);
    if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');
    // What a parent decided in its sub-organization it decided by policies that are nobody's business there.
    const { authorityId } = found.activity;
    const isTold = authorityId === undefined || authorityId === actor.homeId;
    const ofVote = new Map(kept.map(({ voteId, evaluations }) => [voteId, evaluations as VoteEvaluation[]]));
    const { items, pageInfo } = pageOfList(found.votes, paginationOptions, config.listMax, ({ id }) => id);
    const told = items.map((vote) => ({ vote, evaluations: isTold ? evaluationsAt(vote, found.votes, ofVote) : [] }));
    // Policies speak of what the organization has that decided.
    const deciderId = authorityId ?? organizationId;
    const [names, approvers] = await Promise.all([
      namesFor(
        read,
        deciderId,
        config.chains,
        told.flatMap(({ evaluations }) => evaluations),
      ),
      approversNamed(read, deciderId, isTold ? found.votes.map(({ userId }) => userId) : []),
    ]);
    return {
      policyEvaluations: told.map(({ vote, evaluations }) => {
        const earlier = new Set<string>(
          found.votes.slice(0, found.votes.indexOf(vote) + 1).map(({ userId }) => userId),
        );
        const { explained, rendered } = explainAll(evaluations, {
          names,
          atMs: vote.createdAtMs,
          approvers: approvers.filter(({ id }) => earlier.has(id)),
        });
        const isRejection = vote.selection === 'VOTE_SELECTION_REJECTED';
        return {
          id: vote.id,
          activityId,
          organizationId,
          voteId: vote.id,
          policyEvaluations: rendered,
          ...(isTold && { explanation: renderDecisionWords(explainVote(explained, isRejection)) }),
          createdAt: toTimestamp(vote.createdAtMs),
        };
      }),
      pageInfo,
    };
  },
});

const WAITING: ReadonlySet<string> = new Set(['OUTCOME_REQUIRES_CONSENSUS', 'OUTCOME_REQUIRES_AUTHENTICATORS']);

/** A rejection asks no policy: it ends those that the vote before it had left waiting. */
function evaluationsAt(
  vote: Vote,
  votes: readonly Vote[],
  ofVote: ReadonlyMap<string, readonly VoteEvaluation[]>,
): readonly VoteEvaluation[] {
  if (vote.selection !== 'VOTE_SELECTION_REJECTED') return ofVote.get(vote.id) ?? [];
  const before = votes.slice(0, votes.indexOf(vote)).findLast(({ id }) => ofVote.has(id));
  return (ofVote.get(before?.id ?? '') ?? [])
    .filter(({ outcome }) => WAITING.has(outcome))
    .map((evaluation) => ({ ...evaluation, outcome: 'OUTCOME_REJECTED' }));
}
