import Type from 'typebox';
import { OrganizationReader } from '../../../core/store/organizations.ts';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';

export const whoami = defineQuery({
  name: 'whoami',
  summary:
    'The user and organization that the stamp belongs to; a parent id finds the one sub-organization that holds the credential.',
  parameters: Type.Object({ organizationId: IdShape }),
  response: Type.Object({
    organizationId: Type.String(),
    organizationName: Type.String(),
    userId: Type.String(),
    username: Type.String(),
  }),
  findsSubOrganization: true,
  async run({ actor, read }) {
    // The caller's own organization, also when a parent's user names a child.
    const home =
      actor.homeId === actor.organizationId ? actor.organization : await read(OrganizationReader).get(actor.homeId);
    return { organizationId: home.id, organizationName: home.name, userId: actor.userId, username: actor.user.name };
  },
});
