import Type from 'typebox';
import { defineActivity } from '../define.ts';

export const deleteSubOrganization = defineActivity({
  name: 'delete_sub_organization',
  type: 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION',
  summary:
    'Delete this sub-organization; its own users decide, its parent cannot. Activities stay readable to the parent.',
  policy: { governedBy: 'policy', resource: 'ORGANIZATION', action: 'DELETE' },
  scope: 'sub-organization',
  parameters: Type.Object({ deleteWithoutExport: Type.Optional(Type.Boolean()) }),
  result: Type.Object({ subOrganizationUuid: Type.String() }),
  async execute({ store, actor, nowMs }) {
    await store.organizations.erase(actor.organizationId, nowMs);
    return { subOrganizationUuid: actor.organizationId };
  },
});
