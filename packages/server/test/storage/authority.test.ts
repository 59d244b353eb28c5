import { describe, expect, test } from 'vitest';
import type { MfaPolicy, Organization, Policy, VelocityControl } from '../../src/core/model.ts';
import { OrganizationReader, OrganizationStore } from '../../src/core/store/organizations.ts';
import { ContractInterfaceStore } from '../../src/domains/policies/store/contract-interfaces.ts';
import { NetworkStore } from '../../src/domains/policies/store/networks.ts';
import { PolicyStore } from '../../src/domains/policies/store/policies.ts';
import { VelocityStore } from '../../src/domains/policies/store/velocity.ts';
import type { SignUpProxyConfig } from '../../src/domains/sign-up-proxy/model.ts';
import { SignUpProxyStore } from '../../src/domains/sign-up-proxy/store.ts';
import { CredentialStore } from '../../src/domains/users/store/credentials.ts';
import { MfaStore } from '../../src/domains/users/store/mfa.ts';
import { OauthStore } from '../../src/domains/users/store/oauth.ts';
import { TagStore } from '../../src/domains/users/store/tags.ts';
import { UserStore } from '../../src/domains/users/store/users.ts';
import { PrivateKeyStore } from '../../src/domains/wallets/store/private-keys.ts';
import { WalletStore } from '../../src/domains/wallets/store/wallets.ts';
import type { OrganizationId } from '../../src/lib/ids.ts';
import { randomId } from '../../src/lib/ids.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { DATABASES } from '../harness/databases.ts';
import { NOW, organization, Place, times, withOrganization } from './place.ts';

const STAMPS = { createdAtMs: NOW, updatedAtMs: NOW };
const some = <T>(value: unknown): T => value as T;
const policy = (): Policy => ({
  id: randomId(),
  name: randomId(),
  effect: 'EFFECT_ALLOW',
  condition: 'true',
  consensus: '',
  time: '',
  notes: '',
  ...STAMPS,
});
const mfaPolicy = (): MfaPolicy => ({
  id: randomId(),
  userId: randomId(),
  name: 'm',
  condition: '',
  steps: [],
  order: 0,
  notes: '',
  ...STAMPS,
});

type Write = (store: Stores, id: OrganizationId) => Promise<unknown>;

/** Every write of a rule. */
const RULES: Readonly<Record<string, Write>> = {
  'policies.insert': (store, id) => store(PolicyStore).insert(id, [policy()]),
  'policies.update': (store, id) => store(PolicyStore).update(id, policy()),
  'policies.delete': (store, id) => store(PolicyStore).delete(id, []),
  'mfa.insert': (store, id) => store(MfaStore).insert(id, mfaPolicy()),
  'mfa.update': (store, id) => store(MfaStore).update(id, mfaPolicy()),
  'mfa.delete': (store, id) => store(MfaStore).delete(id, randomId(), randomId()),
  'networks.put': (store, id) =>
    store(NetworkStore).put(id, { publicKey: undefined, enabled: true, onEvaluationError: 'DENY', rules: [] }, NOW),
  'networks.remove': (store, id) => store(NetworkStore).remove(id, [undefined]),
  'velocity.insert': (store, id) =>
    store(VelocityStore).insert(
      id,
      some<VelocityControl>({ id: randomId(), name: 'v', identifier: 'v', dataSource: {}, aggregation: {}, ...STAMPS }),
    ),
  'contractInterfaces.insert': (store, id) =>
    store(ContractInterfaceStore).insert(id, {
      id: randomId(),
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      address: '0x00',
      definition: '[]',
      label: 'l',
      notes: '',
      ...STAMPS,
    }),
};

/** Every write of what decisions read of users, credentials, keys and the quorum. */
const FACTS: Readonly<Record<string, Write>> = {
  'organizations.setRootQuorum': (store, id) => store(OrganizationStore).setRootQuorum(id, 1, [], NOW),
  'organizations.erase': (store, id) => store(OrganizationStore).erase(id, NOW),
  'users.insert': (store, id) =>
    store(UserStore).insert(id, [{ id: randomId(), name: 'u', email: undefined, phone: undefined }], NOW),
  'users.setEmail': (store, id) => store(UserStore).setEmail(id, randomId(), undefined, NOW),
  'users.delete': (store, id) => store(UserStore).delete(id, [randomId()]),
  'tags.tagUsers': (store, id) => store(TagStore).tagUsers(id, [{ userId: randomId(), tagId: randomId() }]),
  'tags.untagUsers': (store, id) => store(TagStore).untagUsers(id, randomId(), [randomId()]),
  'tags.clearTags': (store, id) => store(TagStore).clearTags(id, randomId()),
  'tags.delete': (store, id) => store(TagStore).delete(id, [randomId()]),
  'credentials.deleteCredentials': (store, id) =>
    store(CredentialStore).deleteCredentials('api_key', id, randomId(), [randomId()], () => 'revoked'),
  'oauth.deleteProviders': (store, id) => store(OauthStore).deleteProviders(id, randomId(), [randomId()]),
  'authProxy.insert': (store, id) => store(SignUpProxyStore).insert(proxyOf(id)),
  'authProxy.update': (store, id) => store(SignUpProxyStore).update(proxyOf(id)),
  'wallets.delete': (store, id) => store(WalletStore).delete(id, [randomId()]),
  'wallets.deleteAccounts': (store, id) => store(WalletStore).deleteAccounts(id, [randomId()]),
  'privateKeys.delete': (store, id) => store(PrivateKeyStore).delete(id, [randomId()]),
  'privateKeys.tag': (store, id) => store(PrivateKeyStore).tag(id, [], randomId()),
  'privateKeys.untag': (store, id) => store(PrivateKeyStore).untag(id, [randomId()]),
};
const proxyOf = (organizationId: OrganizationId): SignUpProxyConfig =>
  some({ id: randomId(), organizationId, identity: undefined, enabled: true, settings: {}, ...STAMPS });

/** What a login or a recovery writes while others decide. */
const BESIDE: Readonly<Record<string, Write>> = {
  'credentials.deleteReplacedKeys': (store, id) =>
    store(CredentialStore).deleteReplacedKeys(id, randomId(), [randomId()], () => 'replaced'),
  'users.markVerified': (store, id) => store(UserStore).markVerified(id, randomId(), 'email', NOW),
  'users.touch': (store, id) => store(UserStore).touch(id, [randomId()], NOW),
};

const ALONE = 'what decisions read is written only while the organization is held alone';

describe.each(DATABASES)('authority versions on %s', (kind) => {
  async function opened() {
    const place = await Place.create(kind);
    const storage = await place.open();
    return { storage, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
  }
  const versionsOf = async (storage: Storage, id: OrganizationId): Promise<[number, number]> => {
    const { authorityVersion, rulesVersion } = await storage.read(OrganizationReader).get(id);
    return [authorityVersion, rulesVersion];
  };
  const holding = (storage: Storage, id: OrganizationId, mode: 'shared' | 'exclusive', write: Write) =>
    storage.write(async (store) => {
      await store(OrganizationStore).lock(id, mode);
      await write(store, id);
    });

  test('every write of a fact or a rule raises them, and is refused beside others', async () => {
    await using at = await opened();
    const { storage } = at;
    for (const [writes, expected] of [
      [RULES, [2, 2]],
      [FACTS, [2, 1]],
    ] as const) {
      for (const [name, write] of Object.entries(writes)) {
        const { id } = await withOrganization(storage);
        await expect(holding(storage, id, 'shared', write), name).rejects.toThrow(ALONE);
        expect(await versionsOf(storage, id), name).toEqual([1, 1]);
        await holding(storage, id, 'exclusive', write);
        expect(await versionsOf(storage, id), name).toEqual(expected);
      }
    }
  });

  test('what a login writes does not', async () => {
    await using at = await opened();
    const { storage } = at;
    for (const [name, write] of Object.entries(BESIDE)) {
      const { id } = await withOrganization(storage);
      await holding(storage, id, 'shared', write);
      expect(await versionsOf(storage, id), name).toEqual([1, 1]);
    }
  });

  test('each is raised once by a transaction, however much it writes', async () => {
    await using at = await opened();
    const { storage } = at;
    const { id } = await withOrganization(storage);
    await holding(storage, id, 'exclusive', async (store) => {
      for (const write of [...Object.values(FACTS), ...Object.values(RULES)]) {
        if (write !== FACTS['organizations.erase']) await write(store, id);
      }
      await store(OrganizationStore).raiseAuthorityVersion(id);
    });
    expect(await versionsOf(storage, id)).toEqual([2, 2]);
    await holding(storage, id, 'exclusive', (store) => store(OrganizationStore).setRootQuorum(id, 1, [], NOW));
    expect(await versionsOf(storage, id)).toEqual([3, 2]);
  });

  test('names are free where there are no rules, and facts where there are', async () => {
    await using at = await opened();
    const { storage } = at;
    const rename: Write = async (store, id) => {
      // There is no such wallet, which is no matter here.
      await store(WalletStore)
        .rename(id, randomId(), 'n', NOW)
        .catch((error: Error) => {
          if (error.message.includes(ALONE)) throw error;
        });
    };
    const free = await withOrganization(storage);
    await holding(storage, free.id, 'shared', rename);
    expect(await versionsOf(storage, free.id)).toEqual([1, 1]);
    const ruled = await withOrganization(storage, { rulesVersion: 2 });
    await expect(holding(storage, ruled.id, 'shared', rename)).rejects.toThrow(ALONE);
    await holding(storage, ruled.id, 'exclusive', rename);
    expect(await versionsOf(storage, ruled.id)).toEqual([2, 2]);
  });

  test('a savepoint that is rolled back takes its version with it, and the next write raises it', async () => {
    await using at = await opened();
    const { storage } = at;
    const { id } = await withOrganization(storage);
    await holding(storage, id, 'exclusive', async (store) => {
      const failing = store.savepoint(async () => {
        await store(OrganizationStore).setRootQuorum(id, 2, [], NOW);
        throw new Error('undone');
      });
      await expect(failing).rejects.toThrow('undone');
      await store(OrganizationStore).setRootQuorum(id, 1, [], NOW);
    });
    expect(await versionsOf(storage, id)).toEqual([2, 1]);
  });

  test('an organization that the transaction makes has nothing to raise', async () => {
    await using at = await opened();
    const { storage } = at;
    const parent = await withOrganization(storage);
    const made: Organization = organization({ parentId: parent.id });
    await holding(storage, parent.id, 'shared', async (store) => {
      await store(OrganizationStore).insert(made);
      await store(OrganizationStore).setRootQuorum(made.id, 1, [], NOW);
    });
    expect(await versionsOf(storage, made.id)).toEqual([1, 1]);
    expect(await versionsOf(storage, parent.id)).toEqual([1, 1]);
  });

  test('a transaction that holds nothing takes the organization with its first such write', async () => {
    await using at = await opened();
    const { storage } = at;
    const { id } = await withOrganization(storage);
    await Promise.all(
      times(10, () => storage.write((store) => store(OrganizationStore).setRootQuorum(id, 1, [], NOW))),
    );
    expect(await versionsOf(storage, id)).toEqual([11, 1]);
  });
});
