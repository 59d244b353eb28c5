import type { Kysely } from 'kysely';
import { describe, expect, test } from 'vitest';
import { UserReader, UserStore } from '../../src/domains/users/store/users.ts';
import { randomId } from '../../src/lib/ids.ts';
import type { Schema } from '../../src/storage/schema.ts';
import { byIds, deferredInsertion, insertion } from '../../src/storage/statement.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { newUser } from './both-databases/support.ts';
import { builderOf, codeOf, NOW, Place, times, withOrganization } from './place.ts';

// Statements that are made once and bound to rows, and what they do with several rows.

const COLUMNS = ['organization_id', 'id', 'reason'] as const;
const insertRows = insertion('test-insert', 'tombstone', COLUMNS);
const insertNewRows = insertion('test-insert-new', 'tombstone', COLUMNS, (query) =>
  query.onConflict((conflict) => conflict.doNothing()),
);
const deferRows = deferredInsertion('test-insert-deferred', 'tombstone', COLUMNS);
const deleteRows = byIds('test-delete', (db, { organizationId }: { readonly organizationId: string }, ids) =>
  db.deleteFrom('tombstone').where('organization_id', '=', organizationId).where('id', 'in', ids),
);

const inTransaction = <T>(storage: Storage, work: (db: Kysely<Schema>) => Promise<T>): Promise<T> =>
  storage.write((store) => work(builderOf(store)));

const stored = (storage: Storage, organizationId: string) =>
  inTransaction(storage, (db) =>
    db.selectFrom('tombstone').select(['id', 'reason']).where('organization_id', '=', organizationId).execute(),
  );

const sortedIds = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id).sort();

describe.each(DATABASES)('statements on %s', (kind) => {
  const place = async () => {
    const made = await Place.create(kind);
    const storage = await made.open(2);
    const { id } = await withOrganization(storage);
    const row = (reason: string | null = null) => ({ organization_id: id as string, id: randomId() as string, reason });
    return { storage, id, row, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
  };

  test.each([0, 1, 2, 500, 501, 1203])('%i rows are stored, and counted', async (count) => {
    await using at = await place();
    const rows = times(count, (index) => at.row(index % 2 === 0 ? 'revoked' : null));
    expect(await inTransaction(at.storage, (db) => insertRows(db, rows))).toBe(count);
    const found = await stored(at.storage, at.id);
    const reasons = new Map(found.map(({ id, reason }) => [id, reason]));
    expect(found.length).toBe(count);
    expect(rows.every(({ id, reason }) => reasons.get(id) === reason)).toBe(true);
  });

  test.each([1, 3])('what a conflict does is kept, for %i rows', async (count) => {
    await using at = await place();
    const rows = times(count, () => at.row('replaced'));
    const [first] = rows;
    await inTransaction(at.storage, (db) => insertNewRows(db, rows.slice(0, 1)));
    expect(await inTransaction(at.storage, (db) => insertNewRows(db, rows))).toBe(count - 1);
    expect(sortedIds(await stored(at.storage, at.id))).toEqual(sortedIds(rows));
    const again = inTransaction(at.storage, (db) => insertRows(db, first === undefined ? [] : [first]));
    expect(await codeOf(again)).not.toBe('done');
  });

  test.each([1, 2])('%i deferred rows are stored with the commit, and seen before it', async (count) => {
    await using at = await place();
    const rows = times(count, () => at.row());
    const seen = await inTransaction(at.storage, async (db) => {
      await deferRows(db, rows);
      return await db.selectFrom('tombstone').select('id').where('organization_id', '=', at.id).execute();
    });
    expect(sortedIds(seen)).toEqual(sortedIds(rows));
    expect(sortedIds(await stored(at.storage, at.id))).toEqual(sortedIds(rows));
    const again = inTransaction(at.storage, async (db) => {
      await deferRows(db, [at.row()]);
      await deferRows(db, rows);
    });
    expect(await codeOf(again)).not.toBe('done');
    expect(sortedIds(await stored(at.storage, at.id))).toEqual(sortedIds(rows));
  });

  test('what a row has besides its columns is not stored', async () => {
    await using at = await place();
    const more = { ...at.row(), besides: 'nothing' };
    await inTransaction(at.storage, async (db) => {
      await insertRows(db, [more]);
      await insertRows(db, [{ ...more, id: randomId() }, at.row()]);
    });
    expect((await stored(at.storage, at.id)).length).toBe(3);
  });

  test('whole rows are read by one connection before and after a newer version adds a column', async () => {
    await using made = await Place.create(kind);
    const storage = await made.open(1);
    const { id } = await withOrganization(storage);
    const user = newUser();
    await storage.write((store) => store(UserStore).insert(id, [user], NOW));
    const namesAfter = async (name: string): Promise<string[]> => {
      await storage.write((store) => store(UserStore).rename(id, user.id, name, NOW));
      const { items } = await storage.read(UserReader).page(id, { kind: 'all', max: 10 });
      return items.map((item) => item.user.name);
    };
    expect(await namesAfter('one')).toEqual(['one']);
    await made.run('ALTER TABLE app_user ADD COLUMN later text');
    expect(await namesAfter('two')).toEqual(['two']);
    expect(await namesAfter('three')).toEqual(['three']);
  });

  test.each([0, 1, 2, 1000, 1001])('%i rows are found by their ids, and no others', async (count) => {
    await using at = await place();
    const { id: other } = await withOrganization(at.storage);
    const rows = times(count + 1, () => at.row());
    const elsewhere = rows.map((row) => ({ ...row, organization_id: other as string }));
    await inTransaction(at.storage, (db) => insertRows(db, [...rows, ...elsewhere]));
    const ids = rows.slice(0, count).map(({ id }) => id);
    await inTransaction(at.storage, (db) => deleteRows(db, { organizationId: at.id }, ids));
    expect(sortedIds(await stored(at.storage, at.id))).toEqual(sortedIds(rows.slice(count)));
    expect((await stored(at.storage, other)).length).toBe(count + 1);
  });
});

test('a list of columns with one missing, or one that the table does not have, does not compile', () => {
  // @ts-expect-error: no reason
  insertion('test', 'tombstone', ['organization_id', 'id']);
  // @ts-expect-error: no such column
  insertion('test', 'tombstone', ['organization_id', 'id', 'reason', 'mood']);
  // @ts-expect-error: no reason
  deferredInsertion('test', 'tombstone', ['organization_id', 'id']);
  // @ts-expect-error: a row without a column
  const insertOne = (db: Kysely<Schema>) => insertRows(db, [{ organization_id: '', id: '' }]);
  // The database numbers deliveries by itself.
  // @ts-expect-error: seq
  insertion('test', 'webhook_delivery', ['seq']);
  expect(insertOne).toBeTypeOf('function');
});
