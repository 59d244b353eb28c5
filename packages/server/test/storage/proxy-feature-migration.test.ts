import { expect, test } from 'vitest';
import { OrganizationReader, OrganizationStore } from '../../src/core/store/organizations.ts';
import { DEFAULT_PROXY_SETTINGS, SignUpProxyStore } from '../../src/domains/sign-up-proxy/store.ts';
import { DATABASES } from '../harness/databases.ts';
import { NOW, organization, Place } from './place.ts';

const NAME = 'FEATURE_NAME_AUTH_PROXY';

/** What a database from before the migration may have, and what is true of it. */
const CASES = [
  { proxy: undefined, before: undefined, after: undefined },
  { proxy: undefined, before: 'true', after: undefined },
  { proxy: false, before: undefined, after: undefined },
  { proxy: false, before: 'true', after: undefined },
  { proxy: true, before: undefined, after: 'true' },
  { proxy: true, before: 'true', after: 'true' },
  { proxy: true, before: 'mine', after: 'mine' },
  // It could be set, and turned nothing off.
  { proxy: true, before: 'false', after: 'true' },
];

test.each(DATABASES)('the feature of the sign-up proxy tells what is so after the update, on %s', async (kind) => {
  await using place = await Place.create(kind);
  const storage = await place.open();
  const known = CASES.map((each, index) => ({ ...each, made: organization({ name: `Organization ${index}` }) }));
  await storage.write(async (store) => {
    for (const { proxy, before, made } of known) {
      await store(OrganizationStore).insert(made);
      await store(OrganizationStore).setFeature(made.id, 'FEATURE_NAME_EMAIL_AUTH', 'true');
      if (before !== undefined) await store(OrganizationStore).setFeature(made.id, NAME, before);
      if (proxy === undefined) continue;
      await store(SignUpProxyStore).insert({
        id: made.id,
        organizationId: made.id,
        enabled: proxy,
        identity: undefined,
        settings: DEFAULT_PROXY_SETTINGS,
        createdAtMs: NOW,
        updatedAtMs: NOW,
      });
    }
  });
  await place.close(storage);
  await place.run("DELETE FROM schema_migration WHERE name = '0019-proxy-feature'");
  const { read } = await place.open();
  for (const { made, ...each } of known) {
    const features = await read(OrganizationReader).features(made.id);
    expect({ ...each, after: features.find(({ name }) => name === NAME)?.value }).toEqual(each);
    expect(features).toContainEqual({ name: 'FEATURE_NAME_EMAIL_AUTH', value: 'true' });
  }
});
