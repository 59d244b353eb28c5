import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderSessionProfile } from '../render/session-profile.ts';
import { SessionProfileShape } from '../shapes/session-profiles.ts';
import { SessionProfileReader } from '../store/session-profiles.ts';

export const getSessionProfiles = defineQuery({
  name: 'get_session_profiles',
  summary: 'The session profiles of the organization, or of its parent, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ sessionProfiles: Type.Array(SessionProfileShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(SessionProfileReader).page(treeRoot(actor.organization), request);
    return { sessionProfiles: items.map(renderSessionProfile), pageInfo };
  },
});
