import Type from 'typebox';
import { renderSessionProfile } from '../../domains/login/render/session-profile.ts';
import { SessionProfileShape } from '../../domains/login/shapes/session-profiles.ts';
import { treeRoot } from '../../lib/model.ts';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';

/** spec 4.3. */
export const getSessionProfile = defineQuery({
  name: 'get_session_profile',
  summary: 'One session profile of the organization or of its parent.',
  parameters: Type.Object({ organizationId: IdShape, sessionProfileId: IdShape }),
  response: Type.Object({ sessionProfile: SessionProfileShape }),
  async run({ read, actor }, { sessionProfileId }) {
    const profile = await read.sessionProfiles.get(treeRoot(actor.organization), sessionProfileId);
    return { sessionProfile: renderSessionProfile(profile) };
  },
});
