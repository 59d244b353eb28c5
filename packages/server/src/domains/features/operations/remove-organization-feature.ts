import Type from 'typebox';
import { OrganizationStore } from '../../../core/store/organizations.ts';
import { toWords } from '../../../describe/fields.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { FeatureNameShape, FeatureShape } from '../../organizations/shapes.ts';
import { turnProxyOff } from '../../sign-up-proxy/switch.ts';
import { dropFeatureEndpoint } from '../../webhooks/feature-endpoint.ts';

export const removeOrganizationFeature = defineActivity({
  name: 'remove_organization_feature',
  type: 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
  summary: 'Remove a feature of the organization. Needs the root quorum.',
  policy: { governedBy: 'root-quorum' },
  // Features open logins by mail, text message and recovery, and name the origins of passkeys.
  credentials: 'redirects',
  parameters: Type.Object({ name: FeatureNameShape }),
  sentence: ({ name }) =>
    lookClosely(
      say`Turn off ${strong(toWords(name.replace(/^FEATURE_NAME_/, '')))}.`,
      'changes how this organization works',
      'Whoever relies on this feature loses it. I want that.',
    ),
  result: Type.Object({ features: Type.Array(FeatureShape) }),
  async execute(context, { name }) {
    const { store, actor } = context;
    if (name === 'FEATURE_NAME_AUTH_PROXY') await turnProxyOff(context);
    await store(OrganizationStore).removeFeature(actor.organizationId, name);
    if (name === 'FEATURE_NAME_WEBHOOK') await dropFeatureEndpoint(store, actor.organizationId);
    return { features: await store(OrganizationStore).features(actor.organizationId) };
  },
});
