import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ApiKey, Vote } from '../../../src/core/model.ts';
import { ActivityStore } from '../../../src/core/store/activities.ts';
import { ActivityReader } from '../../../src/core/store/activity-reader.ts';
import { InstallationReader } from '../../../src/core/store/installation.ts';
import { OrganizationReader } from '../../../src/core/store/organizations.ts';
import { CredentialReader, CredentialStore } from '../../../src/domains/users/store/credentials.ts';
import { PrincipalReader } from '../../../src/domains/users/store/principals.ts';
import { UserReader, UserStore } from '../../../src/domains/users/store/users.ts';
import { dataModel } from '../../../src/domains.ts';
import { ApiError } from '../../../src/lib/errors.ts';
import { randomId, type UserId } from '../../../src/lib/ids.ts';
import { StartError } from '../../../src/lib/start-error.ts';
import { compareSchema, MIGRATION_NAMES } from '../../../src/storage/migrate.ts';
import { openStorage } from '../../../src/storage/open.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DATABASES } from '../../harness/databases.ts';
import { codeOf, insertRows, NOW, Place, type Row, rowMaker, times, withOrganization } from '../place.ts';
import { activity, newUser, vote } from './support.ts';

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

/**
 * A second one of these has a code of its own by the wire contract (protocol/policies 1.2, protocol/policy-facts 5.1,
 * protocol/http 4.4); every other is ALREADY_EXISTS.
 */
const OTHER_CODES: ReadonlyMap<string, string> = new Map([
  ['ux_policy_name', 'POLICY_LABEL_NOT_UNIQUE'],
  ['ux_contract_interface', 'REQUEST_INVALID'],
  ['ux_oauth_provider', 'OAUTH_PROVIDER_ALREADY_EXISTS'],
]);
const UNIQUE_RULES = dataModel.tables.flatMap(({ name: table, unique = {} }) =>
  Object.entries(unique).map(([name, rule]) => [name, { table, ...rule }] as const),
);

describe.each(DATABASES)('storage on %s', (kind) => {
  describe('uniqueness', () => {
    test.each(UNIQUE_RULES)('%s', async (name, { table, columns, code = 'ALREADY_EXISTS', message }) => {
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
        store(CredentialStore).deleteCredentials('api_key', mine.id, user.id, [key.id], () => 'revoked'),
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
      const applied = await first.read(InstallationReader).appliedMigrations();
      expect(applied.map(({ name }) => name)).toEqual([...MIGRATION_NAMES].sort());
      expect(applied).toContainEqual({ name: '0017-compatible-migrations', compatibility: 'expand' });
      await place.close(first);
      const second = await place.open();
      expect(await second.read(InstallationReader).appliedMigrations()).toEqual(applied);
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
      expect(compareSchema(await again.read(InstallationReader).appliedMigrations())).toEqual({
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
        const noFolder = await openStorage({ dataModel, ...options, dataDir: file }).catch((error: unknown) => error);
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
          dataModel,
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
