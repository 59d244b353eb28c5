import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { OrganizationStore } from '../../../core/store/organizations.ts';
import { TreeStore } from '../../../core/store/tree.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { NameShape } from '../../../lib/shapes.ts';

export const updateOrganizationName = defineActivity({
  name: 'update_organization_name',
  type: 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME',
  summary: 'Change the name of the organization. Needs the root quorum.',
  policy: { governedBy: 'root-quorum' },
  credentials: 'none',
  parameters: Type.Object({ organizationName: NameShape }),
  sentence: ({ organizationName }, { organization, isDone }) =>
    isDone
      ? say`Rename this organization to ${named(organizationName)}.`
      : say`Rename organization ${named(organization.name)} to ${named(organizationName)}.`,
  result: Type.Object({ organizationId: Type.String(), organizationName: Type.String() }),
  async execute({ store, actor, nowMs }, { organizationName }) {
    const { organization, organizationId } = actor;
    await store(OrganizationStore).rename(organizationId, organizationName, nowMs);
    await store(TreeStore).replace(treeRoot(organization), organizationId, organizationId, 'NAME', organizationName);
    return { organizationId, organizationName };
  },
});
