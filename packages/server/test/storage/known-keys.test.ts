import { describe, expect, test } from 'vitest';
import type { ApiKey } from '../../src/core/model.ts';
import { CredentialStore } from '../../src/domains/users/store/credentials.ts';
import { UserReader, UserStore } from '../../src/domains/users/store/users.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { apiKey, newUser } from './both-databases/support.ts';
import { NOW, Place, withOrganization } from './place.ts';

// A login reads the keys of its user for its vote, and once more in its transaction (docs/decisions/0047). Each test reads them
// for a vote first, and then changes them.

async function open(kind: DatabaseKind) {
  const place = await Place.create(kind);
  const storage = await place.open();
  const { id } = await withOrganization(storage);
  const user = newUser();
  const [one, two] = [apiKey(user.id, 'one'), apiKey(user.id, 'two')];
  await storage.write(async (store) => {
    await store(UserStore).insert(id, [user], NOW);
    for (const key of [one, two]) await store(CredentialStore).insertApiKeys(id, [key]);
  });
  const remember = () => storage.read(UserReader).record(id, user.id);
  await remember();
  return {
    remember,
    place,
    storage,
    one,
    two,
    three: apiKey(user.id, 'three'),
    add: (store: Stores, key: ApiKey) => store(CredentialStore).insertApiKeys(id, [key]),
    remove: (store: Stores, key: ApiKey) =>
      store(CredentialStore).deleteReplacedKeys(id, user.id, [key.id], () => 'replaced'),
    markUsed: (store: Stores, key: ApiKey) =>
      store(CredentialStore).markUsed('api_key', { organizationId: id, userId: user.id, id: key.id }, NOW + 1),
    held: async (store: Stores): Promise<string[]> => {
      await store(CredentialStore).readKeysAhead(id, user.id);
      const keys = await store(CredentialStore).keysOfHeldUser(id, user.id);
      return keys.map(({ name, firstUsedAtMs }) => `${name}${firstUsedAtMs === undefined ? '' : ' used'}`).sort();
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

describe.each(DATABASES)('the keys of a user that were read before a transaction, on %s', (kind) => {
  test('are those that it holds while nothing changes', async () => {
    await using at = await open(kind);
    for (const _again of [1, 2]) expect(await at.storage.write(at.held)).toEqual(['one', 'two']);
  });

  test('are not, once others have committed a change', async () => {
    await using at = await open(kind);
    await at.storage.write((store) => at.add(store, at.three));
    expect(await at.storage.write(at.held)).toEqual(['one', 'three', 'two']);
    await at.remember();
    await at.storage.write((store) => at.remove(store, at.one));
    expect(await at.storage.write(at.held)).toEqual(['three', 'two']);
    await at.remember();
    await at.storage.write((store) => at.markUsed(store, at.two));
    expect(await at.storage.write(at.held)).toEqual(['three', 'two used']);
  });

  test('are not, once the transaction itself has changed them', async () => {
    await using at = await open(kind);
    const seen = await at.storage.write(async (store) => {
      await at.markUsed(store, at.two);
      const first = await at.held(store);
      await at.add(store, at.three);
      const second = await at.held(store);
      await at.remove(store, at.one);
      return [first, second, await at.held(store)];
    });
    expect(seen).toEqual([
      ['one', 'two used'],
      ['one', 'three', 'two used'],
      ['three', 'two used'],
    ]);
    expect(await at.storage.write(at.held)).toEqual(['three', 'two used']);
  });

  test('are again, once a change was rolled back, wholly or to a savepoint', async () => {
    await using at = await open(kind);
    const failing = at.storage.write(async (store) => {
      await at.remove(store, at.one);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    const seen = await at.storage.write(async (store) => {
      const inner = store.savepoint(async () => {
        await at.remove(store, at.two);
        throw new Error('rolled back');
      });
      await expect(inner).rejects.toThrow('rolled back');
      return await at.held(store);
    });
    expect(seen).toEqual(['one', 'two']);
  });

  test('are not, once another program has changed them', async () => {
    await using at = await open(kind);
    await at.place.run(`DELETE FROM api_key WHERE id = '${at.one.id}'`);
    expect(await at.storage.write(at.held)).toEqual(['two']);
  });
});

test('the keys of a user that were read before a transaction are read again once a unit that shares its commit changed them', async () => {
  await using at = await open('sqlite');
  const [, seen] = await Promise.all([
    at.storage.write((store) => at.remove(store, at.one)),
    at.storage.write(at.held),
  ]);
  expect(seen).toEqual(['two']);
});
