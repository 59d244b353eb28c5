import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NOW, organization, Place } from '../../../test/storage/place.ts';
import { OrganizationStore } from '../../core/store/organizations.ts';
import type { ActivityOperation, FactsContext, PrepareContext } from '../../engine/define.ts';
import { ApiError } from '../../lib/errors.ts';
import { randomId } from '../../lib/ids.ts';
import type { Namespaces } from '../../policy/index.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Secret } from '../secrets/model.ts';
import { exportSecrets } from '../secrets/operations/export-secrets.ts';
import { importSecrets } from '../secrets/operations/import-secrets.ts';
import { SecretStore } from '../secrets/store.ts';
import type { PrivateKey, Wallet, WalletAccount } from './model.ts';
import { createWalletAccounts } from './operations/create-wallet-accounts.ts';
import { deleteWalletAccounts } from './operations/delete-wallet-accounts.ts';
import { deleteWallets } from './operations/delete-wallets.ts';
import { exportPrivateKey } from './operations/export-private-key.ts';
import { exportWallet } from './operations/export-wallet.ts';
import { exportWalletAccount } from './operations/export-wallet-account.ts';
import { updateWallet } from './operations/update-wallet.ts';
import { PrivateKeyStore } from './store/private-keys.ts';
import { WalletStore } from './store/wallets.ts';

const TARGET = '036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296';
const TIMES = { createdAtMs: NOW, updatedAtMs: NOW };
const BYTES = Uint8Array.of(1);

const walletOf = (name: string, extra: Partial<Wallet> = {}): Wallet => ({
  id: randomId(),
  name,
  sealedSeed: BYTES,
  exported: false,
  imported: false,
  ...TIMES,
  ...extra,
});
const accountOf = (wallet: Wallet, index: number): WalletAccount => ({
  id: randomId(),
  walletId: wallet.id,
  name: undefined,
  curve: 'CURVE_SECP256K1',
  path: `m/44'/60'/${index}`,
  pathKey: `m/44'/60'/${index}`,
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  address: `0x${String(index).padStart(40, 'A')}`,
  publicKey: '02',
  exported: false,
  ...TIMES,
});
const secretOf = (name: string | undefined, ...properties: (readonly [string, string])[]): Secret => ({
  id: randomId(),
  name,
  sealedSecret: BYTES,
  staticProperties: properties.map(([key, value]) => ({ key, value })),
  createdAtMs: NOW,
});

const home = organization();
const elsewhere = organization();
const first = walletOf('First', { imported: true });
const second = walletOf('Second', { exported: true });
const foreign = walletOf('Foreign');
const accounts = [accountOf(first, 1), accountOf(second, 2), accountOf(first, 3)] as const;
const foreignAccount = accountOf(foreign, 4);
const key: PrivateKey = {
  id: randomId(),
  name: 'Cold',
  curve: 'CURVE_P256',
  publicKey: '03',
  sealedKey: BYTES,
  addresses: [],
  tagIds: [randomId()],
  exported: false,
  imported: true,
  ...TIMES,
};
const secrets = [secretOf('db', ['env', 'prod']), secretOf(undefined)] as const;
const foreignSecret = secretOf('foreign');

const shown = ({ id, name, imported, exported }: Wallet) => ({ id, imported, exported, label: name });

let place: Place;
let storage: Storage;

beforeAll(async () => {
  place = await Place.create('sqlite');
  storage = await place.open();
  await storage.write(async (store) => {
    for (const one of [home, elsewhere]) await store(OrganizationStore).insert(one);
    for (const one of [first, second]) await store(WalletStore).insert(home.id, one);
    await store(WalletStore).insert(elsewhere.id, foreign);
    await store(WalletStore).insertAccounts(home.id, accounts);
    await store(WalletStore).insertAccounts(elsewhere.id, [foreignAccount]);
    await store(PrivateKeyStore).insert(home.id, [key]);
    for (const one of secrets) await store(SecretStore).insert(home.id, one);
    await store(SecretStore).insert(elsewhere.id, foreignSecret);
  });
});
afterAll(() => place[Symbol.asyncDispose]());

async function tell(operation: ActivityOperation, sent: unknown) {
  const actor = { organization: home, organizationId: home.id };
  const context = { read: storage.read, actor } as unknown as FactsContext;
  const parameters = operation.versions[0]?.decode(sent);
  const described = await operation.describe?.(context, parameters);
  const elements = await operation.facts?.(context, parameters, described);
  return { elements, walletId: (await operation.movements?.(context, parameters, described))?.walletId };
}
const elementsOf = async (operation: ActivityOperation, sent: unknown): Promise<readonly Namespaces[] | undefined> =>
  (await tell(operation, sent)).elements;

const derived = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: 'm/0',
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

describe.each([
  ['create_wallet_accounts', createWalletAccounts, { accounts: [derived] }],
  ['update_wallet', updateWallet, { walletName: 'Renamed' }],
  ['export_wallet', exportWallet, { targetPublicKey: TARGET }],
])('%s', (_name, operation, more) => {
  test('is about its wallet as it is', async () => {
    const told = await tell(operation, { walletId: first.id.toUpperCase(), ...more });
    expect(told).toEqual({ elements: [{ wallet: shown(first) }], walletId: first.id });
  });

  test('knows nothing of a wallet of others, or of none', async () => {
    for (const walletId of [foreign.id, randomId()]) {
      const told = await elementsOf(operation, { walletId, ...more }).catch((error: ApiError) => error.code);
      // What uses keys is looked up before it waits for approvals; the rest is tried out.
      expect(told).toEqual(operation.prepare === undefined ? [{}] : 'RESOURCE_NOT_FOUND');
    }
  });
});

describe('export_wallet_account', () => {
  test('is about the account and its wallet', async () => {
    const sent = { address: accounts[2].address.toLowerCase(), targetPublicKey: TARGET };
    const wallet_account = {
      address: accounts[2].address,
      path_indexes: [44n, 60n, 3n],
      path_hardened: [true, true, false],
    };
    const elements = [{ wallet: shown(first), wallet_account }];
    expect(await tell(exportWalletAccount, sent)).toEqual({ elements, walletId: first.id });
  });

  test('of an account that is not there is refused before anybody decides', async () => {
    for (const address of [foreignAccount.address, '0x']) {
      await expect(tell(exportWalletAccount, { address, targetPublicKey: TARGET })).rejects.toMatchObject({
        code: 'RESOURCE_NOT_FOUND',
        message: 'wallet account not found in this organization',
      });
    }
  });
});

test('the account that was judged is the one that is exported', async () => {
  const owners: string[] = [];
  const exportAccount = async ({ ownerId }: { readonly ownerId: string }) => void owners.push(ownerId);
  const actor = { organization: home, organizationId: home.id };
  const context = {
    read: storage.read,
    actor,
    keyring: { exportAccount },
    once: (make: () => unknown) => make(),
  } as unknown as PrepareContext;
  const parameters = { address: accounts[0].address, targetPublicKey: TARGET };
  await exportWalletAccount.prepare?.(context, parameters, accounts[1]);
  expect(owners).toEqual([second.id]);
});

test('delete_wallets is about each of its wallets once, in their order', async () => {
  const walletIds = [second.id, foreign.id, first.id, second.id];
  expect(await elementsOf(deleteWallets, { walletIds })).toEqual([{ wallets: [shown(second), shown(first)] }]);
  expect(await elementsOf(deleteWallets, { walletIds: [foreign.id] })).toEqual([{ wallets: [] }]);
});

test('delete_wallet_accounts is about the wallets of its accounts', async () => {
  const wallets = async (...some: readonly WalletAccount[]) => {
    const [element] = (await elementsOf(deleteWalletAccounts, { walletAccountIds: some.map(({ id }) => id) })) ?? [];
    return element?.wallets?.map(({ label }) => label).sort();
  };
  expect(await wallets(accounts[0], accounts[2])).toEqual(['First']);
  expect(await wallets(...accounts, foreignAccount)).toEqual(['First', 'Second']);
  expect(await wallets(foreignAccount)).toEqual([]);
});

test('export_private_key is about the key', async () => {
  const of = (privateKeyId: string) => elementsOf(exportPrivateKey, { privateKeyId, targetPublicKey: TARGET });
  const private_key = { id: key.id, tags: key.tagIds, imported: true, exported: false, label: 'Cold' };
  expect(await of(key.id)).toEqual([{ private_key }]);
  await expect(of(randomId())).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
});

test('export_secrets has an element for each secret', async () => {
  const [named, nameless] = secrets;
  const wanted = (...some: { readonly id: string }[]) =>
    some.map(({ id }) => ({
      secretId: id,
      targetPublicKey: TARGET,
      encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1',
    }));
  const plain = { secret: { id: nameless.id, name: '', static_properties: new Map() } };
  await expect(elementsOf(exportSecrets, { secrets: wanted(named, foreignSecret) })).rejects.toMatchObject({
    code: 'RESOURCE_NOT_FOUND',
  });
  expect(await elementsOf(exportSecrets, { secrets: wanted(nameless, named, nameless) })).toEqual([
    plain,
    { secret: { id: named.id, name: 'db', static_properties: new Map([['env', 'prod']]) } },
    plain,
  ]);
});

describe('import_secrets', () => {
  const decode = (...staticProperties: readonly object[]) =>
    importSecrets.versions[0]?.decode({
      secrets: [
        {
          secretPayload: 'x',
          targetPublicKey: TARGET,
          encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1',
          staticProperties,
        },
      ],
    });

  test('takes properties of different keys', () => {
    expect(() => decode({ key: 'env', value: 'a' }, { key: 'Env', value: 'a' }, { value: 'a' })).not.toThrow();
  });

  test.each<[string, object, object]>([
    ['a key', { key: 'env', value: 'a' }, { key: 'env', value: 'a' }],
    ['no key', { value: 'a' }, { key: '', value: 'b' }],
  ])('refuses %s twice', (_name, one, other) => {
    const refusal = () => decode({ key: 'team' }, one, other);
    expect(refusal).toThrow(ApiError);
    expect(refusal).toThrow('parameters.secrets.0.staticProperties: has a key twice');
  });
});
