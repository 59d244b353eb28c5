import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AcceptedBundleStore } from '../../src/core/store/accepted-bundles.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { Oauth2CredentialStore } from '../../src/domains/login/store/oauth2-credentials.ts';
import { ON_RAMP_STATUSES, type OnRampCredential, type OnRampTransaction } from '../../src/domains/on-ramp/model.ts';
import { OnRampReader, OnRampStore } from '../../src/domains/on-ramp/store.ts';
import { type OrganizationId, randomId } from '../../src/lib/ids.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { codeOf, NOW, Place, withOrganization } from './place.ts';

// Credentials at on-ramp providers and purchases, on both databases.

const COINBASE = 'FIAT_ON_RAMP_PROVIDER_COINBASE';
const MOONPAY = 'FIAT_ON_RAMP_PROVIDER_MOONPAY';
const ALL = { kind: 'all', max: 100 } as const;

const credentialOf = (extra: Partial<OnRampCredential> = {}): OnRampCredential => ({
  id: randomId(),
  provider: MOONPAY,
  projectId: undefined,
  publishableApiKey: 'pk',
  encryptedSecretApiKey: 'é😀',
  encryptedPrivateApiKey: undefined,
  sealedSecretKey: Uint8Array.of(0, 1, 255),
  sealedPrivateKey: undefined,
  isSandbox: false,
  createdAtMs: NOW,
  updatedAtMs: NOW + 1,
  ...extra,
});
const full: Partial<OnRampCredential> = {
  provider: COINBASE,
  projectId: 'a project',
  encryptedPrivateApiKey: 'x',
  sealedPrivateKey: Uint8Array.of(7),
  isSandbox: true,
};
const transactionOf = (extra: Partial<OnRampTransaction> = {}): OnRampTransaction => ({
  id: randomId(),
  credentialId: randomId(),
  provider: COINBASE,
  isSandbox: true,
  status: 'PENDING',
  createdAtMs: NOW,
  updatedAtMs: NOW,
  ...extra,
});
/** Bytes come back as a Buffer. */
const plain = (credential: OnRampCredential | undefined) =>
  credential && {
    ...credential,
    sealedSecretKey: new Uint8Array(credential.sealedSecretKey),
    sealedPrivateKey: credential.sealedPrivateKey && new Uint8Array(credential.sealedPrivateKey),
  };

describe.each(DATABASES)('on-ramp on %s', (kind) => {
  let place: Place;
  let storage: Storage;
  let here: OrganizationId;
  let elsewhere: OrganizationId;

  beforeAll(async () => {
    place = await Place.create(kind);
    storage = await place.open();
    const parent = await withOrganization(storage);
    here = parent.id;
    elsewhere = (await withOrganization(storage, { parentId: here })).id;
  });
  afterAll(() => place[Symbol.asyncDispose]());

  test('credentials come back as they were, for their organization alone', async () => {
    const onRamp = storage.read(OnRampReader);
    for (const credential of [credentialOf(), credentialOf(full)]) {
      const { id } = credential;
      await storage.write((store) => store(OnRampStore).insertCredential(here, credential));
      expect(plain(await onRamp.findCredential(here, id))).toEqual(credential);
      expect(await onRamp.findCredential(elsewhere, id)).toBeUndefined();
      const changed = { ...credentialOf(credential.isSandbox ? {} : full), id, isSandbox: credential.isSandbox };
      expect(await codeOf(storage.write((store) => store(OnRampStore).updateCredential(elsewhere, changed)))).toBe(
        'RESOURCE_NOT_FOUND',
      );
      await storage.write((store) => store(OnRampStore).updateCredential(here, { ...changed, updatedAtMs: NOW + 9 }));
      expect(plain(await onRamp.getCredential(here, id))).toEqual({ ...changed, updatedAtMs: NOW + 9 });
      expect(await codeOf(storage.write((store) => store(OnRampStore).deleteCredential(elsewhere, id)))).toBe(
        'RESOURCE_NOT_FOUND',
      );
      await storage.write((store) => store(OnRampStore).deleteCredential(here, id));
      expect(await codeOf(onRamp.getCredential(here, id))).toBe('RESOURCE_NOT_FOUND');
    }
    expect((await onRamp.credentials(here, ALL)).items).toEqual([]);
  });

  test('the newest of a provider and mode is found', async () => {
    const made = [
      credentialOf({ publishableApiKey: 'first' }),
      credentialOf({ publishableApiKey: 'second' }),
      credentialOf({ publishableApiKey: 'sandbox', isSandbox: true }),
      credentialOf({ ...full, isSandbox: false, publishableApiKey: 'other' }),
    ];
    await storage.write(async (store) => {
      // In another order than they were made in.
      for (const credential of [...made].reverse()) await store(OnRampStore).insertCredential(here, credential);
      await store(OnRampStore).insertCredential(elsewhere, credentialOf({ publishableApiKey: 'elsewhere' }));
    });
    const newest = async (provider: typeof COINBASE | typeof MOONPAY, isSandbox: boolean) =>
      (await storage.read(OnRampReader).newestCredential(here, provider, isSandbox))?.publishableApiKey;
    expect(await newest(MOONPAY, false)).toBe('second');
    expect(await newest(MOONPAY, true)).toBe('sandbox');
    expect(await newest(COINBASE, false)).toBe('other');
    expect(await newest(COINBASE, true)).toBeUndefined();
    const { items } = await storage.read(OnRampReader).credentials(here, ALL);
    expect(items.map(({ publishableApiKey }) => publishableApiKey)).toEqual(['first', 'second', 'sandbox', 'other']);
  });

  test('a transaction has any status, what was completed stays so, and what failed until it is', async () => {
    const onRamp = storage.read(OnRampReader);
    const transaction = transactionOf();
    const { id } = transaction;
    await storage.write((store) => store(OnRampStore).insertTransaction(here, transaction));
    expect(await onRamp.getTransaction(here, id)).toEqual(transaction);
    expect(await codeOf(onRamp.getTransaction(elsewhere, id))).toBe('RESOURCE_NOT_FOUND');
    const set = (organizationId: OrganizationId, status: OnRampTransaction['status']) =>
      storage.write((store) => store(OnRampStore).setStatus(organizationId, id, status, NOW + 5));
    for (const status of ['CANCELLED', 'PENDING', 'FAILED', 'COMPLETED'] as const) {
      await set(elsewhere, status === 'FAILED' ? 'COMPLETED' : 'FAILED');
      await set(here, status);
      expect(await onRamp.getTransaction(here, id)).toEqual({ ...transaction, status, updatedAtMs: NOW + 5 });
      if (status !== 'FAILED') continue;
      for (const earlier of ['PENDING', 'CANCELLED'] as const) await set(here, earlier);
      expect((await onRamp.getTransaction(here, id)).status).toBe('FAILED');
    }
    for (const status of ON_RAMP_STATUSES) {
      await set(here, status);
      expect((await onRamp.getTransaction(here, id)).status).toBe('COMPLETED');
    }
  });

  test('a bundle that one organization has sent is refused to others, and not to itself', async () => {
    const keep = (organizationId: OrganizationId, ...bundles: string[]) =>
      codeOf(storage.write((store) => store(AcceptedBundleStore).keep(organizationId, bundles, NOW)));
    expect(await keep(here, 'first', 'second')).toBe('done');
    expect(await keep(here, 'second', 'third')).toBe('done');
    expect(await keep(elsewhere, 'second')).toBe('INVALID_BUNDLE');
    // Refused as a whole: what came with it is nobody's.
    expect(await keep(elsewhere, 'fourth', 'third')).toBe('INVALID_BUNDLE');
    expect(await keep(here, 'fourth')).toBe('done');
    expect(await keep(elsewhere, 'fifth')).toBe('done');
    const race = await Promise.all([keep(here, 'a', 'b'), keep(elsewhere, 'b', 'a')]);
    expect(race.sort()).toEqual(['INVALID_BUNDLE', 'done']);
  });

  test('what was accepted before such bundles were kept counts too', async () => {
    await using old = await Place.create(kind);
    const before = await old.open();
    const [first, second] = [(await withOrganization(before)).id, (await withOrganization(before)).id];
    const oauth2 = { id: randomId<'oauth2-credential'>(), provider: 'OAUTH2_PROVIDER_X', clientId: 'client' } as const;
    const sealed = { sealedSecret: Uint8Array.of(1), createdAtMs: NOW, updatedAtMs: NOW };
    await before.write(async (store) => {
      await store(OnRampStore).insertCredential(first, credentialOf({ ...full, encryptedSecretApiKey: 'secret' }));
      await store(Oauth2CredentialStore).insertCredential(first, {
        ...oauth2,
        ...sealed,
        encryptedClientSecret: 'ABcd',
      });
    });
    await old.close(before);
    await old.run("DROP TABLE accepted_bundle; DELETE FROM schema_migration WHERE name = '0011-accepted-bundles'");
    const after = await old.open();
    for (const bundle of ['secret', 'x', 'abcd']) {
      const keep = (organizationId: OrganizationId) =>
        codeOf(after.write((store) => store(AcceptedBundleStore).keep(organizationId, [bundle], NOW)));
      expect([bundle, await keep(second), await keep(first)]).toEqual([bundle, 'INVALID_BUNDLE', 'done']);
    }
  });

  test('nothing of an organization that is erased stays, and nothing of others goes', async () => {
    const gone = (await withOrganization(storage, { parentId: here })).id;
    const [theirs, mine] = [credentialOf(), credentialOf()];
    const purchases = [transactionOf(), transactionOf()] as const;
    await storage.write(async (store) => {
      await store(OnRampStore).insertCredential(gone, theirs);
      await store(OnRampStore).insertTransaction(gone, purchases[0]);
      await store(OnRampStore).insertCredential(here, mine);
      await store(OnRampStore).insertTransaction(here, purchases[1]);
    });
    expect(await storage.read(OnRampReader).findCredential(gone, theirs.id)).toBeDefined();
    await storage.write((store) => store(OrganizationStore).erase(gone, NOW));
    const onRamp = storage.read(OnRampReader);
    expect(await onRamp.findCredential(gone, theirs.id)).toBeUndefined();
    expect(await codeOf(onRamp.getTransaction(gone, purchases[0].id))).toBe('RESOURCE_NOT_FOUND');
    expect(await onRamp.findCredential(here, mine.id)).toBeDefined();
    expect(await codeOf(onRamp.getTransaction(here, purchases[1].id))).toBe('done');
  });
});
