import type { Domain } from '../../engine/domain.ts';
import { removeOrganizationFeature } from './operations/remove-organization-feature.ts';
import { setOrganizationFeature } from './operations/set-organization-feature.ts';

export const features: Domain = {
  name: 'features',
  operations: [removeOrganizationFeature, setOrganizationFeature],
};
