import Type from 'typebox';
import { ActivityReader } from '../../../core/store/activity-reader.ts';
import { defineQuery } from '../../../engine/define.ts';
import { sha256Hex } from '../../../lib/encoding.ts';
import { ApiError } from '../../../lib/errors.ts';
import { pageOfList } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { StampedVoteShape } from '../shapes.ts';

export const getActivityVotes = defineQuery({
  name: 'get_activity_votes',
  ours: true,
  summary: 'The votes on an activity with the bytes that each voter signed, to be verified without the service.',
  parameters: Type.Object({
    organizationId: IdShape,
    activityId: IdShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ votes: Type.Array(StampedVoteShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config, renderActivity }, { activityId, paginationOptions }) {
    const found = await read(ActivityReader).find(actor.organizationId, activityId);
    if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'activity not found in this organization');
    const digests = new Map(found.votes.map(({ id, messageDigest }) => [id, messageDigest]));
    const { votes } = renderActivity(found);
    const { items, pageInfo } = pageOfList(votes, paginationOptions, config.listMax, ({ id }) => id);
    // Secrets are kept as digests, and of a large request that was denied only its digest is kept.
    const isRedacted = ({ id, message }: (typeof votes)[number]): boolean =>
      digests.get(id) !== `sha256:${sha256Hex(message)}`;
    return { votes: items.map((vote) => ({ ...vote, ...(isRedacted(vote) && { redacted: true }) })), pageInfo };
  },
});
