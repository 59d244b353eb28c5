import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Organization, Policy } from '../../src/core/model.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { PolicyReader, PolicyStore } from '../../src/domains/policies/store/policies.ts';
import { randomId } from '../../src/lib/ids.ts';
import { insertion } from '../../src/storage/statement.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { builderOf, NOW, organization, Place } from './place.ts';

const newPolicy = (name: string): Policy => ({
  id: randomId(),
  name,
  effect: 'EFFECT_ALLOW',
  condition: 'true',
  consensus: '',
  time: '',
  notes: '',
  createdAtMs: NOW,
  updatedAtMs: NOW,
});

describe.each(DATABASES)('sets of rows in a transaction, on %s', (database) => {
  let place: Place;
  let storage: Storage;
  let home: Organization;
  beforeEach(async () => {
    place = await Place.create(database);
    storage = await place.open();
    storage.integrity.load([{ generation: 1, bytes: randomBytes(32) }], { isRequired: true });
    home = organization();
    await storage.write((store) => store(OrganizationStore).insert(home));
  });
  afterEach(async () => {
    await place?.[Symbol.asyncDispose]();
  });

  const names = async () => (await storage.read(PolicyReader).all(home.id)).map(({ name }) => name).sort();
  const digest = () =>
    storage.write(async (store) => {
      const [row] = await builderOf(store).selectFrom('organization').selectAll().where('id', '=', home.id).execute();
      return row?.rules_digest;
    });

  test('what a savepoint undoes is not in the digest, and what was before it is', async () => {
    await storage.write(async (store) => {
      await store(OrganizationStore).lock(home.id, 'exclusive');
      await store(PolicyStore).insert(home.id, [newPolicy('kept')]);
      const undone = store.savepoint(async () => {
        await store(PolicyStore).insert(home.id, [newPolicy('undone')]);
        // Read in it, so that the owner's row has a digest of it.
        expect(await store(PolicyStore).all(home.id)).toHaveLength(2);
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      await store(PolicyStore).insert(home.id, [newPolicy('later')]);
    });
    expect(await names()).toEqual(['kept', 'later']);
  });

  test('a transaction that fails leaves the digest, and the set is read again', async () => {
    const [kept, removed] = [newPolicy('kept'), newPolicy('removed')];
    await storage.write((store) => store(PolicyStore).insert(home.id, [kept, removed]));
    const before = await digest();
    const failing = storage.write(async (store) => {
      await store(PolicyStore).delete(home.id, [removed.id]);
      expect(await store(PolicyStore).all(home.id)).toHaveLength(1);
      throw new Error('fails');
    });
    await expect(failing).rejects.toThrow('fails');
    expect(await digest()).toBe(before);
    expect(await names()).toEqual(['kept', 'removed']);
    await storage.write((store) => store(PolicyStore).delete(home.id, [removed.id]));
    expect(await names()).toEqual(['kept']);
  });

  test('a store that writes a row without following its set fails', async () => {
    const insertFeatures = insertion('forgetful', 'organization_feature', ['organization_id', 'name', 'value']);
    const row = { organization_id: home.id, name: 'FEATURE', value: '' };
    const written = storage.write((store) => insertFeatures(builderOf(store), [row]));
    await expect(written).rejects.toThrow('changed without having been verified: organization_feature');
  });

  test('what a transaction signs is what it wrote, not what is there by then', async () => {
    const [kept, deleted] = [newPolicy('kept'), newPolicy('deleted')];
    await storage.write((store) => store(PolicyStore).insert(home.id, [kept]));
    await storage.write(async (store) => {
      await store(PolicyStore).insert(home.id, [deleted]);
      await builderOf(store).deleteFrom('policy').where('id', '=', deleted.id).execute();
    });
    await expect(names()).rejects.toMatchObject({ code: 'INTEGRITY_VIOLATION' });
  });
});
