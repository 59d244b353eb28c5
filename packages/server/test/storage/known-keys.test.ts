import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ApiKey, User } from '../../src/core/model.ts';
import { CredentialStore } from '../../src/domains/users/store/credentials.ts';
import { UserReader, UserStore } from '../../src/domains/users/store/users.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { apiKey, newUser } from './both-databases/support.ts';
import { NOW, Place, withOrganization } from './place.ts';

// A login reads the keys of its user for its vote, and once more in its transaction (docs/decisions/0047). Each test reads them
// for a vote first, and then changes them.

async function open(kind: DatabaseKind, hasMarks = false) {
  const place = await Place.create(kind);
  const storage = await place.open();
  if (hasMarks) storage.integrity.load([{ generation: 1, bytes: randomBytes(32) }], { isRequired: true });
  const { id } = await withOrganization(storage);
  const user = newUser();
  const [one, two] = [apiKey(user.id, 'one'), apiKey(user.id, 'two')];
  await storage.write(async (store) => {
    await store(UserStore).insert(id, [user], NOW);
    for (const key of [one, two]) await store(CredentialStore).insertApiKeys(id, [key]);
  });
  const remember = () => storage.read(UserReader).record(id, user.id);
  const known = (found: User): string[] | undefined =>
    storage
      .read(UserReader)
      .knownRecord(id, found)
      ?.apiKeys.map(({ name, publicKey }) => `${name} ${publicKey}`);
  await remember();
  return {
    id,
    user,
    remember,
    known,
    find: () => storage.read(UserReader).get(id, user.id),
    shown: (...keys: ApiKey[]) => keys.map(({ name, publicKey }) => `${name} ${publicKey}`),
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

const WAYS = DATABASES.flatMap((kind) => [true, false].map((hasMarks) => [kind, hasMarks] as const));

describe.each(WAYS)(
  'the keys of a user that were read before a transaction, on %s, with marks: %s',
  (kind, hasMarks) => {
    test('are those that it holds while nothing changes', async () => {
      await using at = await open(kind, hasMarks);
      for (const _again of [1, 2]) expect(await at.storage.write(at.held)).toEqual(['one', 'two']);
    });

    test('are not, once others have committed a change', async () => {
      await using at = await open(kind, hasMarks);
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
      await using at = await open(kind, hasMarks);
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
      await using at = await open(kind, hasMarks);
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

    // With marks such a change is refused, or not read: see below.
    const unmarked = hasMarks ? undefined : test;
    unmarked?.('are not, once another program has changed them', async () => {
      await using at = await open(kind);
      await at.place.run(`DELETE FROM api_key WHERE id = '${at.one.id}'`);
      expect(await at.storage.write(at.held)).toEqual(['two']);
    });
  },
);

describe.each(DATABASES)('what a user has, as it is known by its digest, on %s', (kind) => {
  test('is what would be read, also after changes of it', async () => {
    await using at = await open(kind, true);
    const { mfaPolicies: _, isWhole: __, ...read } = await at.remember();
    expect(at.storage.read(UserReader).knownRecord(at.id, read.user)).toEqual(read);
    await at.storage.write((store) => at.add(store, at.three));
    expect(at.known(await at.find())).toEqual(at.shown(at.one, at.two, at.three));
    await at.storage.write((store) => at.markUsed(store, at.two));
    await at.storage.write((store) => at.remove(store, at.one));
    expect(at.known(await at.find())).toEqual(at.shown(at.two, at.three));
  });

  test('is not known of a user as it was, or of another one', async () => {
    await using at = await open(kind, true);
    const before = await at.find();
    expect(at.known({ ...before, id: newUser().id })).toBeUndefined();
    expect(at.known({ ...before, ownedDigest: undefined })).toBeUndefined();
    await at.storage.write((store) => at.remove(store, at.one));
    expect(at.known(before)).toBeUndefined();
  });

  test('does not have what was rolled back', async () => {
    await using at = await open(kind, true);
    const failing = at.storage.write(async (store) => {
      await at.add(store, at.three);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await at.remember();
    expect(at.known(await at.find())).toEqual(at.shown(at.one, at.two));
  });

  test('is not what somebody else wrote, who still gets no mark for it', async () => {
    await using at = await open(kind, true);
    await at.place.run(`UPDATE api_key SET public_key = '${at.three.publicKey}' WHERE id = '${at.one.id}'`);
    expect(at.known(await at.find())).toEqual(at.shown(at.one, at.two));
    if (kind === 'sqlite') await at.storage.write((store) => at.markUsed(store, at.one)).catch(() => undefined);
    await expect(at.remember()).rejects.toThrow(/was not written by this service/);
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
