import Type from 'typebox';
import { treeRoot } from '../../lib/model.ts';
import { renderSessionProfile } from '../../wire/access.ts';
import { defineQuery } from '../define.ts';
import { SessionProfileShape } from '../shapes/access.ts';
import { IdShape } from '../shapes/basic.ts';

/** protocol/login 9.1. */
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
