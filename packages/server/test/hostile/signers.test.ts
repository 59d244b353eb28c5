import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomId } from '../../src/lib/ids.ts';
import {
  ETHEREUM,
  newPrivateKey,
  newSecret,
  newWallet,
  newWalletImport,
  PAYLOAD,
  SUITE,
  TRANSACTION,
} from '../fixtures/keys.ts';
import { Receiver } from '../harness/bundles.ts';
import { type Answer, createSubOrganization, newKeyPair, TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import { expectRefusal, outward } from './answers.ts';

// Keys serve the organization that holds them and nobody else, and what is gone is as if it had never been.

let made = 0;
const fresh = (): string => `signer ${++made}`;
const RECEIVER = new Receiver();
const unknownAddress = (): string => `0x${randomBytes(20).toString('hex')}`;

interface Use {
  readonly operation: string;
  readonly parameters: Record<string, unknown>;
}

const signing = (signWith: string): Use[] => [
  { operation: 'sign_raw_payload', parameters: { signWith, ...PAYLOAD } },
  {
    operation: 'sign_raw_payloads',
    parameters: {
      signWith,
      payloads: [PAYLOAD.payload],
      encoding: PAYLOAD.encoding,
      hashFunction: PAYLOAD.hashFunction,
    },
  },
  { operation: 'sign_transaction', parameters: { signWith, ...TRANSACTION } },
];

/** Everything that an address of a wallet account can be used for. */
const usesOfAddress = (address: string): Use[] => [
  ...signing(address),
  { operation: 'export_wallet_account', parameters: { address, targetPublicKey: RECEIVER.publicKey } },
];
const usesOfWallet = (walletId: string): Use[] => [
  { operation: 'export_wallet', parameters: { walletId, targetPublicKey: RECEIVER.publicKey } },
  { operation: 'update_wallet', parameters: { walletId, walletName: fresh() } },
  { operation: 'create_wallet_accounts', parameters: { walletId, accounts: [{ ...ETHEREUM, path: `m/${++made}` }] } },
  { operation: 'delete_wallets', parameters: { walletIds: [walletId], deleteWithoutExport: true } },
];
const usesOfAccount = (walletAccountId: string): Use[] => [
  ...signing(walletAccountId),
  {
    operation: 'delete_wallet_accounts',
    parameters: { walletAccountIds: [walletAccountId], deleteWithoutExport: true },
  },
];
const usesOfKey = (privateKeyId: string): Use[] => [
  ...signing(privateKeyId),
  { operation: 'export_private_key', parameters: { privateKeyId, targetPublicKey: RECEIVER.publicKey } },
  { operation: 'create_private_key_tag', parameters: { privateKeyTagName: fresh(), privateKeyIds: [privateKeyId] } },
  { operation: 'delete_private_keys', parameters: { privateKeyIds: [privateKeyId], deleteWithoutExport: true } },
];
const usesOfSecret = (secretId: string): Use[] => [
  {
    operation: 'export_secrets',
    parameters: { secrets: [{ secretId, targetPublicKey: RECEIVER.publicKey, encryptionSuite: SUITE }] },
  },
  { operation: 'delete_secrets', parameters: { secretIds: [secretId] } },
];

const submit = (client: TestClient, { operation, parameters }: Use): Promise<Answer> =>
  client.submit(operation, parameters);

/** The answers to a name must be those to one that nobody has. */
async function expectUnknown(client: TestClient, uses: readonly Use[], unknown: readonly Use[]): Promise<void> {
  for (const [index, use] of uses.entries()) {
    const [answer, expected] = [await submit(client, use), await submit(client, unknown[index] as Use)];
    expectRefusal(expected, 'RESOURCE_NOT_FOUND');
    expect(outward(answer), use.operation).toEqual(outward(expected));
  }
}

async function expectAllDone(client: TestClient, uses: readonly Use[]): Promise<void> {
  for (const use of uses) {
    const { status, body } = await submit(client, use);
    expect(status, `${use.operation} ${JSON.stringify(body)}`).toBe(200);
  }
}

describe.each(databasesOf(import.meta.url))('keys on %s', (database) => {
  let server: TestServer;
  let parent: TestClient;

  beforeAll(async () => {
    server = await TestServer.start({ database, env: { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' } });
    parent = TestClient.root(server.credentials, server.baseUrl);
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const newTenant = (): Promise<TestClient> => createSubOrganization(parent, fresh());

  test('every use of a key, wallet or secret in a sub-organization is closed to its parent and its siblings', async () => {
    const [child, sibling] = [await newTenant(), await newTenant()];
    const wallet = await newWallet(child, fresh());
    const other = await newWallet(child, fresh());
    const key = await newPrivateKey(child, fresh());
    const secret = await newSecret(child, fresh());
    const all = (): readonly (readonly [Use[], Use[]])[] => [
      [usesOfAddress(wallet.address), usesOfAddress(unknownAddress())],
      [usesOfAccount(wallet.walletAccountId), usesOfAccount(randomId())],
      [usesOfWallet(other.walletId), usesOfWallet(randomId())],
      [signing(key.address), signing(unknownAddress())],
      [usesOfKey(key.privateKeyId), usesOfKey(randomId())],
      [usesOfSecret(secret), usesOfSecret(randomId())],
    ];
    for (const [uses, unknown] of all()) {
      // Under its own id the attacker finds nothing, under the victim's it may not act.
      for (const attacker of [parent, sibling]) await expectUnknown(attacker, uses, unknown);
      for (const { operation, parameters } of uses) {
        const { organizationId } = child;
        expectRefusal(await parent.submit(operation, parameters, { organizationId }), 'ORGANIZATION_MISMATCH');
        expectRefusal(await sibling.submit(operation, parameters, { organizationId }), 'PUBLIC_KEY_NOT_FOUND');
      }
    }
    for (const [uses] of all()) await expectAllDone(child, uses);
  });

  test('a parent that made the wallet of a sub-organization cannot use it', async () => {
    const key = newKeyPair();
    const { subOrganizationId, rootUserIds, wallet } = await parent.run('create_sub_organization', {
      subOrganizationName: fresh(),
      rootQuorumThreshold: 1,
      rootUsers: [
        {
          userName: 'root',
          apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [],
          oauthProviders: [],
        },
      ],
      wallet: { walletName: 'first', accounts: [ETHEREUM] },
    });
    const child = new TestClient(parent.baseUrl, subOrganizationId, key, rootUserIds[0]);
    await expectUnknown(parent, usesOfAddress(wallet.addresses[0]), usesOfAddress(unknownAddress()));
    await expectUnknown(parent, usesOfWallet(wallet.walletId), usesOfWallet(randomId()));
    await expectAllDone(child, [...usesOfAddress(wallet.addresses[0]), ...usesOfWallet(wallet.walletId)]);
  });

  test('no spelling of a foreign address finds it', async () => {
    const [mine, theirs] = [await newTenant(), await newTenant()];
    const [own, foreign] = [await newWallet(mine, fresh()), await newWallet(theirs, fresh())];
    const spellings = (address: string) => [
      address,
      address.toLowerCase(),
      `0x${address.slice(2).toUpperCase()}`,
      address.slice(2),
      `${address} `,
    ];
    // An Ethereum address is the same in any case and nothing else is (protocol/wallets 1.4).
    const served = spellings(own.address).slice(0, 3);
    for (const spelling of served) await expectAllDone(mine, usesOfAddress(spelling));
    for (const spelling of spellings(own.address).slice(3)) {
      await expectUnknown(mine, usesOfAddress(spelling), usesOfAddress(unknownAddress()));
    }
    for (const spelling of spellings(foreign.address)) {
      await expectUnknown(mine, usesOfAddress(spelling), usesOfAddress(unknownAddress()));
    }
    for (const id of [foreign.walletAccountId, foreign.walletAccountId.toUpperCase()]) {
      await expectUnknown(mine, signing(id), signing(randomId()));
    }
    await expectAllDone(mine, signing(own.walletAccountId.toUpperCase()));
  });

  test('one mnemonic in two organizations is two wallets', async () => {
    const [alice, bob] = [await newTenant(), await newTenant()];
    const [alices, bobs] = [
      await alice.run('import_wallet', await newWalletImport(alice, fresh())),
      await bob.run('import_wallet', await newWalletImport(bob, fresh())),
    ];
    const [address] = alices.addresses;
    expect(bobs.addresses).toEqual([address]);
    await expectUnknown(bob, usesOfWallet(alices.walletId), usesOfWallet(randomId()));
    await expectAllDone(alice, [...usesOfAddress(address), ...usesOfWallet(alices.walletId)]);
    // The first is deleted now; its address means the second's key there and nothing here.
    await expectUnknown(alice, usesOfAddress(address), usesOfAddress(unknownAddress()));
    await expectAllDone(bob, usesOfAddress(address));
    const exported = (await bob.query('get_wallet', { walletId: bobs.walletId })).body.wallet;
    expect(exported.exported).toBe(false);
    const found = await parent.query('list_suborgs', { filterType: 'WALLET_ACCOUNT_ADDRESS', filterValue: address });
    expect(found.body.organizationIds).toContain(bob.organizationId);
    expect(found.body.organizationIds).not.toContain(alice.organizationId);
  });

  test('what was deleted answers as if it had never been', async () => {
    const root = await newTenant();
    const wallet = await newWallet(root, fresh());
    const key = await newPrivateKey(root, fresh());
    const secret = await newSecret(root, fresh());
    await expectAllDone(root, usesOfAddress(wallet.address));
    for (const [uses, unknown] of [
      [usesOfAccount(wallet.walletAccountId), usesOfAccount(randomId())],
      [usesOfWallet(wallet.walletId), usesOfWallet(randomId())],
      [usesOfKey(key.privateKeyId), usesOfKey(randomId())],
      [usesOfSecret(secret), usesOfSecret(randomId())],
    ] as const) {
      // The last use of each list is its deletion.
      await expectAllDone(root, uses);
      await expectUnknown(root, uses, unknown);
    }
    await expectUnknown(root, usesOfAddress(wallet.address), usesOfAddress(unknownAddress()));
    await expectUnknown(root, signing(key.address), signing(unknownAddress()));
    for (const [query, parameters] of [
      ['get_wallet', { walletId: wallet.walletId }],
      ['get_private_key', { privateKeyId: key.privateKeyId }],
    ] as const) {
      const [name = ''] = Object.keys(parameters);
      const unknown = await root.query(query, { [name]: randomId() });
      expect(outward(await root.query(query, parameters))).toEqual(outward(unknown));
    }
  });

  test('a deletion with one name of somebody else deletes nothing', async () => {
    const [mine, theirs] = [await newTenant(), await newTenant()];
    const own = [await newWallet(mine, fresh()), await newWallet(theirs, fresh())] as const;
    const keys = [await newPrivateKey(mine, fresh()), await newPrivateKey(theirs, fresh())] as const;
    const secrets = [await newSecret(mine, fresh()), await newSecret(theirs, fresh())] as const;
    const deletions: readonly (readonly [string, string, readonly [string, string]])[] = [
      ['delete_wallet_accounts', 'walletAccountIds', [own[0].walletAccountId, own[1].walletAccountId]],
      ['delete_wallets', 'walletIds', [own[0].walletId, own[1].walletId]],
      ['delete_private_keys', 'privateKeyIds', [keys[0].privateKeyId, keys[1].privateKeyId]],
      ['delete_secrets', 'secretIds', secrets],
    ];
    for (const [operation, list, ids] of deletions) {
      for (const order of [ids, [...ids].reverse(), [ids[0], ids[0], ids[1]]]) {
        const parameters = { [list]: order, deleteWithoutExport: true };
        expectRefusal(await mine.submit(operation, parameters), 'RESOURCE_NOT_FOUND');
      }
      // All is still there: each can still be deleted by its owner, and a name twice is a name.
      for (const [client, id] of [
        [mine, ids[0]],
        [theirs, ids[1]],
      ] as const) {
        const result = await client.run(operation, { [list]: [id, id], deleteWithoutExport: true });
        expect(result[list]).toEqual([id]);
      }
    }
  });
});
