import Type from 'typebox';
import { OrganizationStore } from '../../../core/store/organizations.ts';
import { defineActivity } from '../../../engine/define.ts';
import { firstDuplicate } from '../../../lib/collections.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { UserId } from '../../../lib/ids.ts';
import { IdListShape, integerShape } from '../../../lib/shapes.ts';
import { UserStore } from '../../users/store/users.ts';
import { rootQuorumSentence } from '../root-quorum-sentence.ts';

export const updateRootQuorum = defineActivity({
  name: 'update_root_quorum',
  type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
  summary: 'Set the members and the threshold of the root quorum. Needs the current root quorum.',
  policy: { governedBy: 'root-quorum' },
  credentials: 'none',
  parameters: Type.Object({ threshold: integerShape(0), userIds: IdListShape }),
  sentence: (quorum, context) => rootQuorumSentence(quorum, context),
  result: Type.Object({}),
  check({ threshold, userIds }) {
    if (threshold < 1) throw new ApiError('INVALID_QUORUM', 'threshold must be at least 1');
    if (threshold > userIds.length)
      throw new ApiError('INVALID_QUORUM', 'threshold is larger than the number of userIds');
    if (firstDuplicate(userIds) !== undefined) throw new ApiError('INVALID_QUORUM', 'userIds names a user twice');
  },
  async execute({ store, actor, nowMs }, { threshold, userIds }) {
    const existing = await store(UserStore).existing(actor.organizationId, userIds);
    if (userIds.some((userId) => !existing.has(userId))) {
      throw new ApiError('INVALID_QUORUM', 'userIds names a user that is not in this organization');
    }
    await store(OrganizationStore).setRootQuorum(actor.organizationId, threshold, userIds as UserId[], nowMs);
    return {};
  },
});
