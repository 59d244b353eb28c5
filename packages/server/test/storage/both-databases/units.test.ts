import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { ActivityStore } from '../../../src/core/store/activities.ts';
import { ActivityReader } from '../../../src/core/store/activity-reader.ts';
import { OrganizationReader, OrganizationStore } from '../../../src/core/store/organizations.ts';
import type { Tag } from '../../../src/domains/users/model.ts';
import { TagReader, TagStore } from '../../../src/domains/users/store/tags.ts';
import { UserReader, UserStore } from '../../../src/domains/users/store/users.ts';
import { ApiError } from '../../../src/lib/errors.ts';
import { randomId, type UserId } from '../../../src/lib/ids.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { Stores } from '../../../src/storage/stores.ts';
import { DATABASES } from '../../harness/databases.ts';
import { builderOf, codeOf, NOW, organization, Place, times, withOrganization } from '../place.ts';
import { activity, newUser, vote } from './support.ts';

// One suite for both databases: whatever it says of one must be true of the other.

/** A promise that something else fulfils. */
function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

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
              .modifyEnd(sql`/* unmarked: a test without a key */`)
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
      const codes = await Promise.all(
        times(40, () =>
          codeOf(storage.write((store) => store(ActivityStore).insert(activity(id, { fingerprint }), []))),
        ),
      );
      expect(codes.filter((code) => code === 'ALREADY_EXISTS')).toHaveLength(39);
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
            // The lock travels with the next statement that is waited for.
            await store(UserStore).get(id, mine);
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
});
