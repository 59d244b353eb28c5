import { expect } from 'vitest';
import { NEW_FEATURES } from '../../../test/fixtures/features.ts';
import type { TestClient } from '../../../test/harness/client.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { byRoot } from '../../../test/operations/hostile-case.ts';

const features = async (reader: TestClient): Promise<{ name: string; value: string }[]> =>
  (await reader.query('get_organization_configs')).body.configs.features;

export const cases: DomainCases = {
  remove_organization_feature: {
    activity: {
      intentKey: 'removeOrganizationFeatureIntent',
      resultKey: 'removeOrganizationFeatureResult',
      arrange: async () => ({
        parameters: { name: 'FEATURE_NAME_EMAIL_AUTH' },
        result: { features: NEW_FEATURES.slice(1) },
        holds: async (reader) => expect(await features(reader)).toEqual(NEW_FEATURES.slice(1)),
        absent: async (reader) => expect(await features(reader)).toEqual(NEW_FEATURES),
      }),
    },
    hostile: byRoot(async (tenant) => {
      const name = 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY';
      await tenant.root.run('set_organization_feature', { name, value: 'true' });
      return { name };
    }),
  },
  set_organization_feature: {
    activity: {
      intentKey: 'setOrganizationFeatureIntent',
      resultKey: 'setOrganizationFeatureResult',
      arrange: async () => {
        const feature = { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://app.example' };
        return {
          parameters: feature,
          result: { features: [...NEW_FEATURES, feature] },
          holds: async (reader) => expect(await features(reader)).toEqual([...NEW_FEATURES, feature]),
          absent: async (reader) => expect(await features(reader)).toEqual(NEW_FEATURES),
        };
      },
    },
    hostile: byRoot(() => ({ name: 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY', value: 'true' })),
  },
};
