import Type from 'typebox';
import { OrganizationReader } from '../../../core/store/organizations.ts';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { FeatureShape, QuorumShape } from '../shapes.ts';

export const getOrganizationConfigs = defineQuery({
  name: 'get_organization_configs',
  summary: 'Features and root quorum of the organization.',
  parameters: Type.Object({ organizationId: IdShape }),
  response: Type.Object({ configs: Type.Object({ features: Type.Array(FeatureShape), quorum: QuorumShape }) }),
  async run({ read, actor }) {
    const { rootThreshold, rootUserIds } = actor.organization;
    return {
      configs: {
        features: await read(OrganizationReader).features(actor.organizationId),
        quorum: { threshold: rootThreshold, userIds: [...rootUserIds] },
      },
    };
  },
});
