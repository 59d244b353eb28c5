import { createPublicKey, verify } from 'node:crypto';
import { join } from 'node:path';
import { createKeyring, INSTALLATION_ID, type Keyring, SERVICE_ROLES } from '@custos/keyring';
import { describe, expect, onTestFinished, test } from 'vitest';
import { InstallationReader, InstallationStore } from '../../src/core/store/installation.ts';
import { openServiceKeys } from '../../src/service-keys.ts';
import type { ServiceKey } from '../../src/storage/service-key.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { NOW, Place } from './place.ts';

// The service's own keys: one for each role, whatever was there before and however many processes start at once.

async function openRing(place: Place): Promise<Keyring> {
  const keyring = await createKeyring({ rootKey: `file:${join(place.dataDir, 'root.key')}`, create: true });
  onTestFinished(() => keyring.close());
  return keyring;
}

/** A database that several processes use; the embedded one has a single process, whose calls meet there instead. */
async function openStorages(place: Place, kind: DatabaseKind, count: number): Promise<Storage[]> {
  const first = await place.open();
  const storages = [first];
  while (storages.length < count) storages.push(kind === 'postgres' ? await place.open() : first);
  return storages;
}

/** The keyring, with something that happens before each new key. */
function withStep(keyring: Keyring, step: () => Promise<unknown>): Keyring {
  return new Proxy(keyring, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name === 'createServiceKey')
        return (...args: Parameters<Keyring['createServiceKey']>) =>
          step().then(() => target.createServiceKey(...args));
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const openKeys = async (...start: Parameters<typeof openServiceKeys>): Promise<readonly ServiceKey[]> =>
  (await openServiceKeys(...start)).current();

/** Starts several at once; none stores a key before all of them have found that keys are missing. */
async function startTogether(
  storages: readonly Storage[],
  keyrings: readonly Keyring[],
): Promise<(readonly ServiceKey[])[]> {
  let arrived = 0;
  let open = (): void => {};
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return await Promise.all(
    storages.map((storage, index) => {
      let isThere = false;
      const step = (): Promise<void> => {
        if (!isThere) arrived += 1;
        isThere = true;
        if (arrived === storages.length) open();
        return all;
      };
      return openKeys(storage, withStep(keyrings[index] as Keyring, step), NOW + index);
    }),
  );
}

const rolesOf = (keys: readonly ServiceKey[]): string[] => keys.map(({ role }) => role).sort();
const ALL_ROLES = [...SERVICE_ROLES].sort();

/** The keyring signs as the issuer whose key is stored. */
async function checkIssuer(keyring: Keyring, keys: readonly ServiceKey[]): Promise<void> {
  const issuer = keys.find(({ role }) => role === 'oidc-issuer');
  const token = await keyring.signIdToken({ sub: 'x' });
  const [header = '', payload = '', signature = ''] = token.split('.');
  expect(JSON.parse(Buffer.from(header, 'base64url').toString('utf8')).kid).toBe(issuer?.keyId);
  const point = Buffer.from(issuer?.publicKey ?? '', 'hex');
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const message = Buffer.from(`${header}.${payload}`);
  expect(verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))).toBe(true);
}

describe.each(DATABASES)('service keys on %s', (kind) => {
  test('are made at the first start and stay at the next', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const keys = await openKeys(storage, await openRing(place), NOW);
    expect(rolesOf(keys)).toEqual(ALL_ROLES);
    const again = await openRing(place);
    expect(await openKeys(storage, again, NOW + 1)).toEqual(keys);
    await checkIssuer(again, keys);
  });

  test('of several first starts at once are one for each role, the same for all', async () => {
    await using place = await Place.create(kind);
    const storages = await openStorages(place, kind, 4);
    const keyrings: Keyring[] = [];
    for (const _ of storages) keyrings.push(await openRing(place));
    const started = await startTogether(storages, keyrings);
    const stored = await (storages[0] as Storage).read(InstallationReader).serviceKeys();
    expect(rolesOf(stored)).toEqual(ALL_ROLES);
    for (const [index, keys] of started.entries()) {
      expect(keys).toEqual(stored);
      await checkIssuer(keyrings[index] as Keyring, stored);
    }
  });

  test('of a role that a database lacks are added once, and the others stay', async () => {
    await using place = await Place.create(kind);
    const storages = await openStorages(place, kind, 3);
    const storage = storages[0] as Storage;
    const before = await openKeys(storage, await openRing(place), NOW);
    await place.run("DELETE FROM service_key WHERE role = 'oidc-issuer'");
    const five = await storage.read(InstallationReader).serviceKeys();
    expect(five).toEqual(before.filter(({ role }) => role !== 'oidc-issuer'));
    const keyrings: Keyring[] = [];
    for (const _ of storages) keyrings.push(await openRing(place));
    const started = await startTogether(storages, keyrings);
    const stored = await storage.read(InstallationReader).serviceKeys();
    expect(rolesOf(stored)).toEqual(ALL_ROLES);
    expect(stored.filter(({ role }) => role !== 'oidc-issuer')).toEqual(five);
    for (const [index, keys] of started.entries()) {
      expect(keys).toEqual(stored);
      await checkIssuer(keyrings[index] as Keyring, stored);
    }
  });

  test('are made also while a rotation wraps the key of the deployment anew', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const keyring = await openRing(place);
    let steps = 0;
    const rotate = async (): Promise<void> => {
      steps += 1;
      if (steps !== 1) return;
      const wrapped = (await storage.read(InstallationReader).get('deployment_key')) as string;
      await keyring.addRootKey();
      const rewrapped = await keyring.rewrapOrganizationKey(INSTALLATION_ID, Buffer.from(wrapped, 'hex'));
      const changed = Buffer.from(rewrapped).toString('hex');
      expect(changed).not.toBe(wrapped);
      expect(
        await storage.write((store) => store(InstallationStore).exchange('deployment_key', wrapped, changed)),
      ).toBe(true);
    };
    const keys = await openKeys(storage, withStep(keyring, rotate), NOW);
    expect(rolesOf(keys)).toEqual(ALL_ROLES);
    expect(steps).toBe(2 * SERVICE_ROLES.length);
    await checkIssuer(keyring, keys);
  });
});
