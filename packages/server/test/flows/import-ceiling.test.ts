import { describe, expect, test, vi } from 'vitest';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { isSameKey, SealedReader, SealedStore, WRAPPED_KEY_BYTES } from '../../src/core/store/sealed.ts';
import type { OrganizationId } from '../../src/lib/ids.ts';
import { openTestApp } from '../harness/app.ts';
import { encryptTo, KNOWN_WALLET, newSecretTargets, Receiver } from '../harness/bundles.ts';
import { createSubOrganization, TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { ServedKeyring } from '../harness/served-keyring.ts';
import { TestServer } from '../harness/server.ts';
import { approve, importWallet, keyImport, needTwo, outcome, walletImport } from './fixtures/wallets.ts';

const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';

const walletToImport = (client: TestClient) => walletImport(client, KNOWN_WALLET.mnemonic, []);
const keyToImport = (client: TestClient) => keyImport(client, 'ED25519', '01'.repeat(32), []);

/** What import_secrets is sent. */
async function secretsToImport(client: TestClient, count: number) {
  const targets = await newSecretTargets(client, count);
  return {
    secrets: targets.map((targetPublicKey) => ({
      secretPayload: encryptTo(targetPublicKey, 'a secret'),
      targetPublicKey,
      encryptionSuite,
    })),
  };
}

describe.each(databasesOf(import.meta.url))('more imports than a minute may have, on %s', (database) => {
  const limits = (perOrganization: number, inAll: number) => ({
    CUSTOS_ORGANIZATION_IMPORTS_PER_MINUTE: String(perOrganization),
    CUSTOS_IMPORTS_PER_MINUTE: String(inAll),
  });

  test('answer 429 with Retry-After, import nothing, and stop nothing else', async () => {
    await using server = await TestServer.start({ database, env: limits(2, 3) });
    const parent = TestClient.root(server.credentials, server.baseUrl);
    const [one, other] = [await createSubOrganization(parent, 'One'), await createSubOrganization(parent, 'Other')];
    const { walletId } = await importWallet(one, KNOWN_WALLET.mnemonic);
    await one.run('import_private_key', await keyToImport(one));
    const wallet = await walletToImport(one);
    const refused = await one.submit('import_wallet', wallet);
    expect([...outcome(refused), refused.body.message]).toEqual([
      429,
      'RATE_LIMIT_EXCEEDED',
      'the keyring takes 2 imports a minute of one organization',
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    const { wallets } = (await one.query('list_wallets')).body;
    expect(wallets.map((each: { walletId: string }) => each.walletId)).toEqual([walletId]);
    await other.run('import_secrets', await secretsToImport(other, 1));
    const last = await other.submit('import_secrets', await secretsToImport(other, 1));
    expect([last.status, last.body.message]).toEqual([429, 'the keyring takes 3 imports a minute in all']);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    // Nothing else is counted: what is made here, and the client secrets and keys of providers.
    await other.run('create_wallet', { walletName: 'Made', accounts: [] });
    const logged = server.output.stderr.split('\n').filter((line) => line.includes('"msg":"import"'));
    expect(logged.map((line) => JSON.parse(line))).toEqual(
      ['importWallet', 'importPrivateKey', 'importSecrets'].map((what) =>
        expect.objectContaining({ by: 'keyring', what }),
      ),
    );
    expect(logged[0]).toContain(`"organizationId":"${one.organizationId}","ownerId":"${walletId}"`);
    expect(server.output.stderr).toContain('"msg":"imports refused"');
  });

  test('count the secrets of one request together: all, none, or never', async () => {
    await using service = await openTestApp(database, limits(3, 0));
    const { root } = service;
    const never = await root.submit('import_secrets', await secretsToImport(root, 4));
    expect([...outcome(never), never.headers.get('retry-after')]).toEqual([400, 'FAILED_PRECONDITION', null]);
    expect(never.body.message).toBe(
      'the keyring takes 3 imports a minute of one organization, and this asks for 4 at once',
    );
    await root.run('import_secrets', await secretsToImport(root, 2));
    const refused = await root.submit('import_secrets', await secretsToImport(root, 2));
    expect(outcome(refused)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    // What was refused used up nothing.
    await root.run('import_secrets', await secretsToImport(root, 1));
    expect((await root.query('list_secrets')).body.secrets).toHaveLength(3);
  });

  test('leave what others have approved open: the vote can be given again', async () => {
    await using service = await openTestApp(database, limits(1, 0));
    const first = service.root;
    await first.run('import_private_key', await keyToImport(first));
    const wanted = await walletToImport(first);
    const second = await needTwo(first);
    const { id, fingerprint } = (await first.submit('import_wallet', wanted)).body.activity;
    for (let vote = 0; vote < 2; vote += 1) {
      const refused = await approve(second, fingerprint);
      expect(outcome(refused)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const { activity } = (await first.query('get_activity', { activityId: id })).body;
    expect([activity.status, activity.votes.length]).toEqual(['ACTIVITY_STATUS_CONSENSUS_NEEDED', 1]);
  });

  test('are counted once for each request, also when the decision has to be taken again', async () => {
    await using service = await openTestApp(database);
    const { root, app } = service;
    const wanted = [
      ['importWallet', 'import_wallet', await walletToImport(root)],
      ['importPrivateKey', 'import_private_key', await keyToImport(root)],
      ['importSecrets', 'import_secrets', await secretsToImport(root, 2)],
    ] as const;
    for (const [call, operation, parameters] of wanted) {
      const before: (...args: never[]) => Promise<unknown> = app.keyring[call].bind(app.keyring);
      const imported = vi.spyOn(app.keyring, call);
      let velocityControlId = '';
      // A control that comes while the key is imported: what was prepared without it is thrown away.
      imported.mockImplementationOnce(async (...args: unknown[]) => {
        const made = await before(...(args as never[]));
        ({ velocityControlId } = await root.run('create_velocity_control', {
          name: 'many',
          identifier: call,
          dataSource: { activityExecution: {} },
          aggregation: {
            method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
            operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN',
            threshold: '1000',
            window: { rolling: { duration: '1h' } },
            groupBy: { organization: {} },
          },
        }));
        return made as never;
      });
      const attempts = vi.spyOn(app.storage, 'write');
      await root.run(operation, parameters);
      // The control's own, the one that came to nothing, and the one that stands.
      expect([call, attempts.mock.calls.length, imported.mock.calls.length]).toEqual([call, 3, 1]);
      attempts.mockRestore();
      await root.run('delete_velocity_control', { velocityControlId });
    }
  });

  test('are made again under the key that the organization has by then', async () => {
    await using service = await openTestApp(database);
    const { root, app } = service;
    const { storage, keyring } = app;
    const organizationId = root.organizationId as OrganizationId;
    const before = keyring.importPrivateKey.bind(keyring);
    const imported = vi.spyOn(keyring, 'importPrivateKey');
    const stored = async () => (await storage.read(SealedReader).organizationKey(organizationId)) as Uint8Array;
    const first = await stored();
    imported.mockImplementationOnce(async (...args) => {
      const made = await before(...args);
      const renewed = await keyring.renewOrganizationKey(organizationId, first);
      await storage.write(async (store) => {
        await store(OrganizationStore).lock(organizationId, 'exclusive');
        expect(await store(SealedStore).exchangeOrganizationKey(organizationId, first, renewed)).toBe(true);
      });
      return made;
    });
    const { privateKeyId } = await root.run('import_private_key', await keyToImport(root));
    expect(imported.mock.calls.map(([holder]) => isSameKey(holder.organizationKey, first))).toEqual([true, false]);
    // What was stored opens under the new key alone.
    await storage.write(async (store) => {
      await store(OrganizationStore).lock(organizationId, 'exclusive');
      const both = (await store(SealedStore).organizationKey(organizationId)) as Uint8Array;
      const exchanged = store(SealedStore).exchangeOrganizationKey(
        organizationId,
        both,
        both.slice(0, WRAPPED_KEY_BYTES),
      );
      expect(await exchanged).toBe(true);
    });
    await root.run('export_private_key', { privateKeyId, targetPublicKey: new Receiver().publicKey });
  });
});

test('behind a socket the keyring counts them by its own settings, whatever those of the service say', async () => {
  await using keyring = await ServedKeyring.start({ env: { CUSTOS_IMPORTS_PER_MINUTE: '1' } });
  await using server = await TestServer.start({ env: keyring.serviceSettings });
  const root = TestClient.root(server.credentials, server.baseUrl);
  const { walletId } = await importWallet(root, KNOWN_WALLET.mnemonic);
  const refused = await root.submit('import_private_key', await keyToImport(root));
  expect([refused.status, refused.body.message]).toEqual([429, 'the keyring takes 1 imports a minute in all']);
  // A new session does not begin a new minute.
  await server.stop();
  await server.start();
  const later = TestClient.root(server.credentials, server.baseUrl);
  expect(outcome(await later.submit('import_private_key', await keyToImport(later)))).toEqual([
    429,
    'RATE_LIMIT_EXCEEDED',
  ]);
  const logged = keyring.output.split('\n').filter((line) => line.includes('"msg":"import"'));
  expect(logged.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ what: 'importWallet', organizationId: root.organizationId, ownerId: walletId }),
  ]);
  expect(server.output.stderr).not.toContain('"msg":"import"');
});
