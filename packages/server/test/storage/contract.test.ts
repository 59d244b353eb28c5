import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Activity, ApiKey, Vote } from '../../src/core/model.ts';
import { ActivityReader, ActivityStore } from '../../src/core/store/activities.ts';
import { DeploymentReader } from '../../src/core/store/deployment.ts';
import { OrganizationReader, OrganizationStore } from '../../src/core/store/organizations.ts';
import type { Tag } from '../../src/domains/users/model.ts';
import { CredentialReader, CredentialStore } from '../../src/domains/users/store/credentials.ts';
import { PrincipalReader } from '../../src/domains/users/store/principals.ts';
import { TagReader, TagStore } from '../../src/domains/users/store/tags.ts';
import { UserReader, UserStore } from '../../src/domains/users/store/users.ts';
import { ApiError } from '../../src/lib/errors.ts';
import { type OrganizationId, randomId, type UserId } from '../../src/lib/ids.ts';
import { StartError } from '../../src/lib/start-error.ts';
import { compareSchema, MIGRATION_NAMES } from '../../src/storage/migrate.ts';
import { openStorage } from '../../src/storage/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { UNIQUE_RULES } from '../../src/storage/unique.ts';
import { DATABASES } from '../harness/databases.ts';
import {
  builderOf,
  codeOf,
  insertRows,
  NOW,
  organization,
  Place,
  type Row,
  rowMaker,
  times,
  withOrganization,
} from './place.ts';

// One suite for both databases: whatever it says of one must be true of the other.

/** A promise that something else fulfils. */
function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const apiKey = (userId: UserId, extra: Partial<ApiKey> = {}): ApiKey => ({
  id: randomId(),
  userId,
  name: randomId(),
  type: 'CREDENTIAL_TYPE_API_KEY_P256',
  publicKey: randomId(),
  sessionProfileId: undefined,
  expirationSeconds: undefined,
  expiresAtMs: undefined,
  firstUsedAtMs: undefined,
  createdAtMs: NOW,
  updatedAtMs: NOW,
  ...extra,
});
const activity = (organizationId: OrganizationId, extra: Partial<Activity> = {}): Activity => ({
  id: randomId(),
  organizationId,
  fingerprint: `sha256:${randomId()}`,
  operation: 'update_user_name',
  type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
  status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  proposerId: undefined,
  authorityId: undefined,
  parameters: { text: 'é😀', nested: [1, { a: null }] },
  body: undefined,
  sealedBody: undefined,
  sealedParameters: undefined,
  result: undefined,
  failure: undefined,
  denial: undefined,
  wantsProofs: false,
  openTo: undefined,
  hasMfa: false,
  roundStartedAtMs: NOW,
  createdAtMs: NOW,
  updatedAtMs: NOW,
  ...extra,
});
const vote = (of: Activity, extra: Partial<Vote> = {}): Vote => ({
  id: randomId(),
  activityId: of.id,
  userId: randomId(),
  selection: 'VOTE_SELECTION_APPROVED',
  messageDigest: `sha256:${randomId()}`,
  message: '{"a":1}',
  sealedMessage: undefined,
  publicKey: '02',
  signature: '30',
  scheme: 'SIGNATURE_SCHEME_TK_API_P256',
  credentialId: randomId(),
  webauthn: undefined,
  userSnapshot: {},
  homeId: undefined,
  credentialKind: 'api-key',
  credentialType: 'CREDENTIAL_TYPE_API_KEY_P256',
  sessionProfileId: undefined,
  revoked: false,
  counts: true,
  roundStartedAtMs: NOW,
  createdAtMs: NOW,
  ...extra,
});
/**
 * A second one of these has a code of its own by the wire contract (protocol/policies 1.2, protocol/policy-facts 5.1,
 * protocol/http 4.4); every other is ALREADY_EXISTS.
 */
const OTHER_CODES: ReadonlyMap<string, string> = new Map([
  ['ux_policy_name', 'POLICY_LABEL_NOT_UNIQUE'],
  ['ux_contract_interface', 'REQUEST_INVALID'],
  ['ux_oauth_provider', 'OAUTH_PROVIDER_ALREADY_EXISTS'],
]);

const newUser = (extra: { email?: string; phone?: string } = {}) => ({
  id: randomId<'user'>(),
  name: 'User',
  email: extra.email,
  phone: extra.phone,
});

const newTag = (): Tag => ({
  id: randomId(),
  type: 'TAG_TYPE_USER',
  name: randomId(),
  createdAtMs: NOW,
  updatedAtMs: NOW,
});

describe.each(DATABASES)('storage on %s', (kind) => {
  describe('units', () => {
    test('answer their value after the commit', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const made = organization();
      const value = await storage.write(async (store) => {
        await store(OrganizationStore).insert(made);
        return { any: 'value' };
      });
      expect(value).toEqual({ any: 'value' });
      const found = await storage.read(OrganizationReader).get(made.id);
      expect({ ...found, wrappedKey: [...found.wrappedKey] }).toEqual({ ...made, wrappedKey: [...made.wrappedKey] });
    });

    test('an error rolls everything back and reaches the caller as it is', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const made = organization();
      const thrown = new Error('mine');
      const failing = storage.write(async (store) => {
        await store(OrganizationStore).insert(made);
        await store(UserStore).insert(made.id, [newUser()], NOW);
        throw thrown;
      });
      await expect(failing).rejects.toBe(thrown);
      expect(await storage.read(OrganizationReader).find(made.id)).toBeUndefined();
      expect(await storage.read(UserReader).count(made.id)).toBe(0);
      const refusal = new ApiError('INVALID_QUORUM', 'mine too');
      await expect(storage.write(() => Promise.reject(refusal))).rejects.toBe(refusal);
      // A synchronous throw is no different.
      await expect(
        storage.write(() => {
          throw thrown;
        }),
      ).rejects.toBe(thrown);
      // And the storage is as good as before.
      await storage.write((store) => store(OrganizationStore).insert(made));
      expect(await storage.read(OrganizationReader).find(made.id)).toBeDefined();
    });

    test('a unit sees its own writes, others see them after the commit', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const made = organization();
      const seen = await storage.write(async (store) => {
        await store(OrganizationStore).insert(made);
        const inside = await store(OrganizationStore).find(made.id);
        const outside = await storage.read(OrganizationReader).find(made.id);
        return { inside: inside?.id, outside: outside?.id };
      });
      expect(seen).toEqual({ inside: made.id, outside: undefined });
      expect((await storage.read(OrganizationReader).find(made.id))?.id).toBe(made.id);
    });

    test('of a failed statement nothing is left, and the unit may not go on as if nothing had happened', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const [first, second] = [newUser({ email: 'a@example.com' }), newUser({ email: 'a@example.com' })];
      await storage.write((store) => store(UserStore).insert(id, [first], NOW));
      expect(await codeOf(storage.write((store) => store(UserStore).insert(id, [newUser(), second], NOW)))).toBe(
        'ALREADY_EXISTS',
      );
      expect(await storage.read(UserReader).count(id)).toBe(1);
    });
  });

  describe('many at once', () => {
    test('all are durable and none is lost', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      // Tags, because nothing that decisions read is written by many at once in one organization.
      const tags = times(300, () => newTag());
      const answers = await Promise.all(
        tags.map((tag) =>
          storage.write(async (store) => {
            await store(TagStore).insert(id, tag);
            return tag.id;
          }),
        ),
      );
      expect(answers).toEqual(tags.map((tag) => tag.id));
      await place.close(storage);
      const again = await place.open();
      expect(await again.read(TagReader).count(id)).toBe(300);
    });

    test('one that fails does not hurt its neighbours, and leaves nothing with them', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const users = times(150, () => newUser());
      const results = await Promise.allSettled(
        users.map((user, index) =>
          storage.write(async (store) => {
            await store(UserStore).insert(id, [user], NOW);
            if (index % 3 === 0) throw new Error(`unit ${index}`);
            // A failing statement, not only a failing function.
            if (index % 3 === 1) await store(UserStore).insert(id, [user], NOW);
            return index;
          }),
        ),
      );
      for (const [index, result] of results.entries()) {
        expect(result.status, String(index)).toBe(index % 3 === 2 ? 'fulfilled' : 'rejected');
      }
      const existing = await storage.read(UserReader).existing(
        id,
        users.map((user) => user.id),
      );
      expect([...existing].sort()).toEqual(
        users
          .filter((_user, index) => index % 3 === 2)
          .map((user) => user.id)
          .sort(),
      );
    });

    test('increments under an exclusive lock are never lost', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const seen = await Promise.all(
        times(60, () =>
          storage.write(async (store) => {
            const { authorityVersion } = await store(OrganizationStore).lock(id, 'exclusive');
            // Read and written separately: only the lock keeps two units from reading the same number.
            await builderOf(store)
              .updateTable('organization')
              .set({ authority_version: authorityVersion + 1 })
              .where('id', '=', id)
              .execute();
            return authorityVersion;
          }),
        ),
      );
      expect(seen.sort((a, b) => a - b)).toEqual(times(60, (index) => index + 1));
      expect((await storage.read(OrganizationReader).get(id)).authorityVersion).toBe(61);
    });

    test('one fingerprint becomes one activity', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const fingerprint = `sha256:${randomId()}`;
      const inserted = await Promise.all(
        times(40, () => storage.write((store) => store(ActivityStore).insert(activity(id, { fingerprint }), []))),
      );
      expect(inserted.filter(Boolean)).toHaveLength(1);
      const all = await storage.read(ActivityReader).page(id, { statuses: [], types: [] }, { kind: 'all', max: 100 });
      expect(all.items).toHaveLength(1);
    });

    test('a unit’s failure is told only once what it failed on is durable', async () => {
      // Two units that want the same email: when the second is refused, whoever asks must find the first.
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const insert = (user: ReturnType<typeof newUser>) =>
        storage.write((store) => store(UserStore).insert(id, [user], NOW));
      const winner = newUser({ email: 'one@example.com' });
      const first = insert(winner);
      const second = insert(newUser({ email: 'one@example.com' })).then(
        () => 'both',
        async () =>
          (await storage.read(UserReader).find(id, winner.id)) === undefined ? 'refused too early' : 'refused',
      );
      // Others that share the commit, if commits are shared.
      const others = times(20, () => insert(newUser()));
      expect(await second).toBe('refused');
      await Promise.all([first, ...others]);
    });
  });

  describe('savepoints', () => {
    test('undo only what is inside them', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const [before, inside, after] = [newUser({ email: 'before@example.com' }), newUser(), newUser()];
      const message = await storage.write(async (store) => {
        await store(UserStore).insert(id, [before], NOW);
        const caught = await store
          .savepoint(async () => {
            await store(UserStore).insert(id, [inside], NOW);
            await store(UserStore).insert(id, [newUser({ email: 'BEFORE@example.com' })], NOW);
          })
          .catch((error: unknown) => error);
        await store(UserStore).insert(id, [after], NOW);
        return (caught as ApiError).code;
      });
      expect(message).toBe('ALREADY_EXISTS');
      const existing = await storage.read(UserReader).existing(id, [before.id, inside.id, after.id]);
      expect([...existing].sort()).toEqual([before.id, after.id].sort());
    });

    test('keep what succeeds, unless the unit fails', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const [kept, lost] = [newUser(), newUser()];
      const value = await storage.write((store) =>
        store.savepoint(async () => {
          await store(UserStore).insert(id, [kept], NOW);
          return 'value';
        }),
      );
      expect(value).toBe('value');
      const failing = storage.write(async (store) => {
        await store.savepoint(() => store(UserStore).insert(id, [lost], NOW));
        throw new Error('later');
      });
      await expect(failing).rejects.toThrow('later');
      expect([...(await storage.read(UserReader).existing(id, [kept.id, lost.id]))]).toEqual([kept.id]);
    });

    test('several in one unit, failed and not', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const users = times(4, () => newUser());
      await storage.write(async (store) => {
        for (const [index, user] of users.entries()) {
          await store
            .savepoint(async () => {
              await store(UserStore).insert(id, [user], NOW);
              if (index % 2 === 1) throw new Error('odd');
            })
            .catch(() => {});
        }
      });
      const existing = await storage.read(UserReader).existing(
        id,
        users.map((user) => user.id),
      );
      expect([...existing].sort()).toEqual([users[0]!.id, users[2]!.id].sort());
    });
  });

  describe('locks', () => {
    /** Starts a unit that holds a lock until it is told to end, and answers once it has the lock. */
    function hold(storage: Storage, take: (store: Stores) => Promise<unknown>) {
      const locked = deferred();
      const release = deferred();
      const done = storage.write(async (store) => {
        await take(store);
        locked.resolve();
        await release.promise;
      });
      return { locked: locked.promise, release: () => release.resolve(), done };
    }

    test.each([
      ['exclusive', 'exclusive'],
      ['exclusive', 'shared'],
      ['shared', 'exclusive'],
    ] as const)('%s before %s: the second waits for the first', async (first, second) => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const events: string[] = [];
      const holder = hold(storage, (store) => store(OrganizationStore).lock(id, first));
      await holder.locked;
      const waiting = storage.write(async (store) => {
        const { authorityVersion } = await store(OrganizationStore).lock(id, second);
        events.push(`second sees ${authorityVersion}`);
      });
      // An independent unit of another organization is not held up on a database with many writers.
      if (kind === 'postgres') await withOrganization(storage);
      events.push('first ends');
      holder.release();
      await Promise.all([holder.done, waiting]);
      expect(events).toEqual(['first ends', 'second sees 1']);
    });

    test('what the first changed is what the second sees', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const holder = hold(storage, async (store) => {
        await store(OrganizationStore).lock(id, 'exclusive');
        await store(OrganizationStore).raiseAuthorityVersion(id);
      });
      await holder.locked;
      const waiting = storage.write(
        async (store) => (await store(OrganizationStore).lock(id, 'shared')).authorityVersion,
      );
      holder.release();
      await holder.done;
      expect(await waiting).toBe(2);
    });

    test('votes on one activity are taken one after the other', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const target = activity(id);
      await storage.write((store) => store(ActivityStore).insert(target, []));
      const counts = await Promise.all(
        times(30, () =>
          storage.write(async (store) => {
            await store(OrganizationStore).lock(id, 'shared');
            const locked = await store(ActivityStore).lock(id, target.id);
            await store(ActivityStore).insertVote(target, vote(target));
            return locked?.votes.length;
          }),
        ),
      );
      expect(counts.sort((a = 0, b = 0) => a - b)).toEqual(times(30, (index) => index));
    });

    test('an unknown organization or activity', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      for (const mode of ['shared', 'exclusive'] as const) {
        expect(await codeOf(storage.write((store) => store(OrganizationStore).lock(randomId(), mode)))).toBe(
          'ORGANIZATION_NOT_FOUND',
        );
      }
      expect(await storage.write((store) => store(ActivityStore).lock(randomId(), randomId()))).toBeUndefined();
    });

    if (kind === 'postgres') {
      test('two shared locks are held together', async () => {
        await using place = await Place.create(kind);
        const storage = await place.open();
        const { id } = await withOrganization(storage);
        const holders = times(2, () => hold(storage, (store) => store(OrganizationStore).lock(id, 'shared')));
        // Neither has ended when both have the lock.
        await Promise.all(holders.map((holder) => holder.locked));
        for (const holder of holders) holder.release();
        await Promise.all(holders.map((holder) => holder.done));
      });

      test('a deadlock runs one unit again, and both succeed', async () => {
        await using place = await Place.create(kind);
        const storage = await place.open();
        const { id } = await withOrganization(storage);
        const [a, b] = [newUser(), newUser()];
        await storage.write((store) => store(UserStore).insert(id, [a, b], NOW));
        const holding = [deferred(), deferred()] as const;
        let runs = 0;
        const cross = (mine: UserId, theirs: UserId, at: 0 | 1) =>
          storage.write(async (store) => {
            runs += 1;
            await store(UserStore).lock(id, mine, NOW);
            holding[at].resolve();
            await holding[1 - at]?.promise;
            await store(UserStore).lock(id, theirs, NOW);
          });
        await Promise.all([cross(a.id, b.id, 0), cross(b.id, a.id, 1)]);
        // The one that was rolled back ran again; it may have met the other once more.
        expect(runs).toBeGreaterThanOrEqual(3);
        for (const user of [a, b]) expect((await storage.read(UserReader).get(id, user.id)).revision).toBe(3);
      });
    }
  });

  describe('uniqueness', () => {
    test.each(Object.entries(UNIQUE_RULES))('%s', async (name, { table, columns, code, message }) => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const make = await rowMaker(storage, table, columns);
      const first = make();
      await insertRows(storage, table, first);
      const sameAs = (row: Row): Row => Object.fromEntries(columns.map((column) => [column, row[column]]));
      // The same in these columns and new in all others.
      const failure = await insertRows(storage, table, { ...make(), ...sameAs(first) }).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(ApiError);
      expect(failure).toMatchObject({ code, message });
      expect((failure as ApiError).code).toBe(OTHER_CODES.get(name) ?? 'ALREADY_EXISTS');
      // Both in one statement.
      const twin = make();
      expect(await codeOf(insertRows(storage, table, twin, { ...make(), ...sameAs(twin) }))).toBe(code);
      // Different in any one of them is another thing.
      for (const column of columns) {
        if (typeof first[column] === 'string') {
          await insertRows(storage, table, { ...make(), ...sameAs(first), [column]: randomId() });
        }
      }
    });

    test('nothing is compared with nothing', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const user = await rowMaker(storage, 'app_user', []);
      const organization_id = randomId();
      await insertRows(storage, 'app_user', { ...user(), organization_id }, { ...user(), organization_id });
      const entry = await rowMaker(storage, 'tree_entry', []);
      const shared = { root_id: randomId(), kind: 'EMAIL', value: 'same' };
      await insertRows(storage, 'tree_entry', { ...entry(), ...shared }, { ...entry(), ...shared });
      // Accounts and secrets need no name.
      for (const table of ['wallet_account', 'secret']) {
        const unnamed = await rowMaker(storage, table, []);
        await insertRows(storage, table, { ...unnamed(), organization_id }, { ...unnamed(), organization_id });
      }
    });

    test('names are compared byte by byte', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const make = await rowMaker(storage, 'tag', []);
      const shelf = { organization_id: randomId(), type: 'TAG_TYPE_USER' };
      const names = ['Straße', 'STRASSE', 'straße', 'e\u0301', '\u00e9', ' a', 'a'];
      await insertRows(storage, 'tag', ...names.map((name) => ({ ...make(), ...shelf, name })));
    });

    test('another constraint is not dressed up as one of ours', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const make = await rowMaker(storage, 'app_user', []);
      const row = make();
      await insertRows(storage, 'app_user', row);
      const failure = await insertRows(storage, 'app_user', row).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(ApiError);
      const missing = await insertRows(storage, 'tag', { organization_id: randomId() }).catch(
        (error: unknown) => error,
      );
      expect(missing).toBeInstanceOf(Error);
      expect(missing).not.toBeInstanceOf(ApiError);
    });
  });

  describe('values', () => {
    test('come back as they went in', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const owner = newUser({ email: 'Ü@example.com', phone: '+15550100' });
      const key = apiKey(owner.id, { expirationSeconds: 315_360_000, expiresAtMs: Number.MAX_SAFE_INTEGER });
      const sealed = Uint8Array.from({ length: 256 }, (_, index) => index);
      const done = activity(id, {
        status: 'ACTIVITY_STATUS_COMPLETED',
        proposerId: owner.id,
        sealedParameters: sealed,
        result: { a: ['\u2028', 1e21, -0.5] },
        failure: { errorCode: 'X', message: 'm' },
        denial: { errorCode: 'Y', message: 'n' },
      });
      const ballots = [
        vote(done, { sealedMessage: sealed, counts: false, message: '\u{10ffff}"\\' }),
        vote(done, { webauthn: { credentialId: 'c', authenticatorData: 'a', clientDataJson: 'j' } }),
      ];
      await storage.write(async (store) => {
        await store(UserStore).insert(id, [owner], NOW);
        await store(CredentialStore).insertApiKeys(id, [key]);
        await store(ActivityStore).insert(done, ballots);
      });
      expect(await storage.read(CredentialReader).getApiKey(id, key.id)).toEqual(key);
      expect(await storage.read(UserReader).get(id, owner.id)).toMatchObject({
        email: owner.email,
        phone: owner.phone,
      });
      const found = await storage.read(ActivityReader).find(id, done.id);
      expect({ ...found?.activity, sealedParameters: [...(found?.activity.sealedParameters ?? [])] }).toEqual({
        ...done,
        sealedParameters: [...sealed],
      });
      const plain = (ballot: Vote) => ({ ...ballot, sealedMessage: ballot.sealedMessage && [...ballot.sealedMessage] });
      const byId = [...ballots].sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(found?.votes.map(plain)).toEqual(byId.map(plain));
    });

    test('another organization’s rows are not there', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [mine, theirs] = [await withOrganization(storage), await withOrganization(storage)];
      const user = newUser();
      const key = apiKey(user.id);
      const stored = activity(theirs.id);
      await storage.write(async (store) => {
        await store(UserStore).insert(theirs.id, [user], NOW);
        await store(CredentialStore).insertApiKeys(theirs.id, [key]);
        await store(ActivityStore).insert(stored, [vote(stored)]);
      });
      const { read } = storage;
      expect(await read(UserReader).find(mine.id, user.id)).toBeUndefined();
      expect(await codeOf(read(UserReader).record(mine.id, user.id))).toBe('RESOURCE_NOT_FOUND');
      expect(await codeOf(read(CredentialReader).getApiKey(mine.id, key.id))).toBe('RESOURCE_NOT_FOUND');
      expect(await read(ActivityReader).find(mine.id, stored.id)).toBeUndefined();
      expect(await read(ActivityReader).idByFingerprint(mine.id, stored.fingerprint)).toBeUndefined();
      expect((await read(PrincipalReader).byApiKey(mine.id, key.publicKey, ''))?.holder).toBeUndefined();
      expect((await read(PrincipalReader).byApiKey(theirs.id, key.publicKey, stored.fingerprint))?.activityId).toBe(
        stored.id,
      );
      const code = await codeOf(storage.write((store) => store(UserStore).lock(mine.id, user.id, NOW)));
      expect(code).toBe('RESOURCE_NOT_FOUND');
      await storage.write((store) => store(UserStore).delete(mine.id, [user.id]));
      await storage.write((store) =>
        store(CredentialStore).deleteCredentials('api_key', mine.id, [key.id], () => 'revoked'),
      );
      expect(await read(UserReader).find(theirs.id, user.id)).toBeDefined();
      expect(await read(CredentialReader).exists('api_key', theirs.id, key.id)).toBe(true);
    });
  });

  describe('opening', () => {
    test('again changes nothing', async () => {
      await using place = await Place.create(kind, { isEmpty: true });
      const first = await place.open();
      const made = await withOrganization(first);
      const applied = await first.read(DeploymentReader).appliedMigrations();
      expect(applied.map(({ name }) => name)).toEqual([...MIGRATION_NAMES].sort());
      expect(applied).toContainEqual({ name: '0017-compatible-migrations', compatibility: 'expand' });
      await place.close(first);
      const second = await place.open();
      expect(await second.read(DeploymentReader).appliedMigrations()).toEqual(applied);
      expect((await second.read(OrganizationReader).get(made.id)).name).toBe(made.name);
      expect(second.kind).toBe(kind);
    });

    test('a database that a newer program has changed is refused, and left alone', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const made = await withOrganization(storage);
      await place.close(storage);
      // Whoever leaves no mark, or one that this program has never heard of, is not known to be compatible.
      await place.run("INSERT INTO schema_migration (name, applied_at_ms) VALUES ('9999-future', 1)");
      const refused = await place.open().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StartError);
      expect((refused as Error).message).toContain('newer than this program');
      expect((refused as Error).message).toContain('9999-future');
      await place.run("DELETE FROM schema_migration WHERE name = '9999-future'");
      const again = await place.open();
      expect((await again.read(OrganizationReader).get(made.id)).id).toBe(made.id);
    });

    test('what a newer program marked compatible is worked beside, next to what it did not it is not', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const made = await withOrganization(storage);
      await place.close(storage);
      const add = (name: string, mark: string): Promise<void> =>
        place.run(`INSERT INTO schema_migration VALUES ('${name}', 1, '${mark}')`);
      await add('9998-wider', 'expand');
      const beside = await place.open();
      expect((await beside.read(OrganizationReader).get(made.id)).id).toBe(made.id);
      await place.close(beside);
      await add('9999-narrower', 'contract');
      const refused = await place.open().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StartError);
      expect((refused as Error).message).toContain('(it has 9999-narrower)');
    });

    test('a database from before the marks gets them', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const made = await withOrganization(storage);
      await place.close(storage);
      await place.run(`ALTER TABLE schema_migration DROP COLUMN compatibility;
        DELETE FROM schema_migration WHERE name = '0017-compatible-migrations'`);
      const again = await place.open();
      expect((await again.read(OrganizationReader).get(made.id)).id).toBe(made.id);
      expect(compareSchema(await again.read(DeploymentReader).appliedMigrations())).toEqual({
        missing: [],
        incompatible: [],
      });
    });

    if (kind === 'sqlite') {
      test('a data directory belongs to one at a time', async () => {
        await using place = await Place.create(kind);
        const storage = await place.open();
        const refused = await place.open().catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(StartError);
        expect((refused as Error).message).toContain('in use by another');
        // The one that has it is not disturbed.
        await withOrganization(storage);
        await place.close(storage);
        await place.open();
      });

      test('a folder that cannot be used and a file that is no database are said in one line', async () => {
        await using place = await Place.create(kind);
        const file = join(place.dataDir, 'file');
        writeFileSync(file, 'x');
        const options = { databaseUrl: undefined, databasePool: 2, nowMs: NOW, onIdleError: () => {} };
        const noFolder = await openStorage({ ...options, dataDir: file }).catch((error: unknown) => error);
        expect(noFolder).toBeInstanceOf(StartError);
        writeFileSync(join(place.dataDir, 'custos.db'), 'this is not a database '.repeat(200));
        const noDatabase = await place.open().catch((error: unknown) => error);
        expect(noDatabase).toBeInstanceOf(StartError);
        for (const error of [noFolder, noDatabase]) expect((error as Error).message).not.toContain('\n');
      });
    } else {
      test('several programs may open one database at the same time', async () => {
        await using place = await Place.create(kind, { isEmpty: true });
        const all = await Promise.all(times(4, () => place.open(2)));
        const made = await withOrganization(all[0] as Storage);
        for (const storage of all) expect((await storage.read(OrganizationReader).get(made.id)).id).toBe(made.id);
      });

      test('a database that is not there is said in one line', async () => {
        const dataDir = mkdtempSync(join(tmpdir(), 'custos-storage-'));
        const databaseUrl = 'postgres://nobody:secret-password@127.0.0.1:1/none';
        const refused = await openStorage({
          dataDir,
          databaseUrl,
          databasePool: 2,
          nowMs: NOW,
          onIdleError: () => {},
        }).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(StartError);
        expect((refused as Error).message).not.toContain('\n');
        expect((refused as Error).message).not.toContain('secret-password');
        rmSync(dataDir, { recursive: true });
      });
    }
  });

  describe('closing', () => {
    test('what was accepted is done, what comes later is refused', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const users = times(40, () => newUser());
      const writes = users.map((user) => storage.write((store) => store(UserStore).insert(id, [user], NOW)));
      await place.close(storage);
      const results = await Promise.allSettled(writes);
      expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
      expect(await codeOf(storage.write((store) => store(UserStore).insert(id, [newUser()], NOW)))).toBe('UNAVAILABLE');
      const again = await place.open();
      expect(await again.read(UserReader).count(id)).toBe(40);
    });
  });
});
