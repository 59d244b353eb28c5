import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderSessionProfile } from '../render/session-profile.ts';
import { SessionProfileShape } from '../shapes/session-profiles.ts';
import { SessionProfileReader } from '../store/session-profiles.ts';

/** protocol/login 9.1. */
export const getSessionProfile = defineQuery({
  name: 'get_session_profile',
  summary: 'One session profile of the organization or of its parent.',
  parameters: Type.Object({ organizationId: IdShape, sessionProfileId: IdShape }),
  response: Type.Object({ sessionProfile: SessionProfileShape }),
  async run({ read, actor }, { sessionProfileId }) {
    const profile = await read(SessionProfileReader).get(treeRoot(actor.organization), sessionProfileId);
    return { sessionProfile: renderSessionProfile(profile) };
  },
});
