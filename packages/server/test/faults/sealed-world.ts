import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKeyring } from '@custos/keyring';
import { expect } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { sealContent } from '../../src/domains/messages/message.ts';
import { importOperatorKey } from '../../src/keyring-admin/import-operator-key.ts';
import { verifyKeyring } from '../../src/keyring-admin/verify.ts';
import { type OrganizationId, randomId } from '../../src/lib/ids.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { newOnRampCredential } from '../fixtures/on-ramp-purchases.ts';
import { newCode, newKnownCredential, turnLoginsOn } from '../fixtures/outside.ts';
import { encryptTo, newImportTarget, newSecretTargets, Receiver } from '../harness/bundles.ts';
import { createSubOrganization, createUser, TestClient } from '../harness/client.ts';
import type { TestServer } from '../harness/server.ts';
import { onPostgres, openTables, type Row } from './support.ts';

const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};
/** The first account of the usual mnemonic of local nodes. */
const OPERATOR = {
  key: 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
};
const SUITE = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';

export const newWallet = (walletName: string) => ({ walletName, accounts: [ETHEREUM] });

/** The deployment has a key of its own that is no service key: what pays for the operator on a chain. */
async function importOperator({ environment }: TestServer): Promise<void> {
  const chain = { rpcUrls: ['http://127.0.0.1:1'], operatorAddress: OPERATOR.address };
  const chains = JSON.stringify({ 'eip155:31337': chain });
  const config = readConfig({ ...environment, CUSTOS_KEYRING: 'inline', CUSTOS_CHAINS: chains });
  const readText = async (): Promise<Uint8Array> => Buffer.from(OPERATOR.key);
  await importOperatorKey(config, { caip2: 'eip155:31337', readText });
}

/** An organization with something of everything that is sealed, and the means to see that all of it still works. */
export class SealedWorld {
  readonly root: TestClient;
  readonly walletId: string;
  readonly address: string;
  readonly privateKeyId: string;
  readonly secretId: string;

  private constructor(root: TestClient, ids: Pick<SealedWorld, 'walletId' | 'address' | 'privateKeyId' | 'secretId'>) {
    this.root = root;
    this.walletId = ids.walletId;
    this.address = ids.address;
    this.privateKeyId = ids.privateKeyId;
    this.secretId = ids.secretId;
  }

  static async make(server: TestServer): Promise<SealedWorld> {
    const root = TestClient.root(server.credentials, server.baseUrl);
    // The body of create_users is sealed.
    await createUser(root, 'a user');
    const { walletId, addresses } = await root.run('create_wallet', newWallet('a wallet'));
    const { privateKeys } = await root.run('create_private_keys', {
      privateKeys: [{ privateKeyName: 'a key', curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] }],
    });
    const [target = ''] = await newSecretTargets(root);
    const secret = { name: 'a secret', encryptionSuite: SUITE, targetPublicKey: target };
    const { secretIds } = await root.run('import_secrets', {
      secrets: [{ ...secret, secretPayload: encryptTo(target, 'to be kept') }],
    });
    await newImportTarget(root, 'wallet');
    await newImportTarget(root, 'private_key');
    await newSecretTargets(root);
    await root.run('enable_auth_proxy', {});
    await newKnownCredential(root);
    await newOnRampCredential(root, 'a project');
    await importOperator(server);
    const child = await createSubOrganization(root, 'a child');
    await child.run('create_wallet', newWallet('a wallet of the child'));
    await root.run('create_read_only_session', {});
    const ids = { walletId, address: addresses[0], privateKeyId: privateKeys[0].privateKeyId, secretId: secretIds[0] };
    return new SealedWorld(root, ids);
  }

  /** Codes and messages too, for a service with the development inbox. */
  async addMessages({ dataDir, databaseUrl, environment }: TestServer): Promise<void> {
    await turnLoginsOn(this.root);
    await newCode(this.root);
    // What waits leaves at once in such a service, so that one which is due much later is put there.
    const { organizationId } = this.root;
    await using tables = await openTables(dataDir, databaseUrl);
    const [rows = []] = await tables.read(`SELECT wrapped_key FROM organization WHERE id = '${organizationId}'`);
    const keyring = await createKeyring({ rootKey: readConfig(environment).rootKey });
    const id = randomId<'message'>();
    const content = { channel: 'sms', to: '+15005550006', text: 'Later' } as const;
    const owner = { organizationId: organizationId as OrganizationId, id };
    const sealed = await sealContent(keyring, rows[0]?.wrapped_key, owner, 'outbox-message', content);
    await keyring.close();
    await writeDatabase(
      { dataDir, databaseUrl },
      `INSERT INTO outbox_message (organization_id, id, channel, sealed_message, attempts, next_attempt_at_ms,
         claimed_until_ms, created_at_ms) VALUES (?, ?, 'sms', ?, 0, ?, 0, ?)`,
      [organizationId, id, Buffer.from(sealed), Date.now() + 86_400_000, Date.now()],
    );
  }

  /** What versions before stored twice and is still read: parameters and the message of a vote beside the body. */
  async addOlderBodies({ dataDir, databaseUrl, environment }: TestServer): Promise<void> {
    const { organizationId } = this.root;
    await using tables = await openTables(dataDir, databaseUrl);
    const [keys = [], votes = []] = await tables.read(
      `SELECT wrapped_key FROM organization WHERE id = '${organizationId}'`,
      `SELECT id, activity_id FROM vote WHERE organization_id = '${organizationId}' ORDER BY id LIMIT 1`,
    );
    const { id, activity_id: activityId } = votes[0] as Row;
    const keyring = await createKeyring({ rootKey: readConfig(environment).rootKey });
    const put = async (table: string, column: string, ownerId: string, kind: string): Promise<void> => {
      const binding = { organizationId, ownerId, kind };
      const sealed = Buffer.from(await keyring.seal(keys[0]?.wrapped_key, binding, Buffer.from('{}')));
      const statement = `UPDATE ${table} SET ${column} = ? WHERE id = ?`;
      await writeDatabase({ dataDir, databaseUrl }, statement, [sealed, ownerId]);
    };
    await put('activity', 'sealed_parameters', activityId, 'activity-parameters');
    await put('vote', 'sealed_message', id, 'vote-message');
    await keyring.close();
  }

  /** The same world behind another address, by a clock that may be ahead. */
  at(baseUrl: string, aheadMs = 0): SealedWorld {
    const { organizationId, key, userId } = this.root;
    return new SealedWorld(new TestClient(baseUrl, organizationId, key, userId, aheadMs), this);
  }

  sign(signWith: string) {
    const payload = { payload: '00'.repeat(32), encoding: 'PAYLOAD_ENCODING_HEXADECIMAL' };
    const hashFunction = signWith === this.address ? 'HASH_FUNCTION_NO_OP' : 'HASH_FUNCTION_NOT_APPLICABLE';
    return this.root.submit('sign_raw_payload', { signWith, ...payload, hashFunction });
  }

  /**
   * Signs, exports (which needs the service keys) and creates a sub-organization (which needs a new organization key).
   */
  async expectWorking(): Promise<void> {
    for (const signWith of [this.address, this.privateKeyId]) {
      const signed = await this.sign(signWith);
      expect(signed.status, JSON.stringify(signed.body)).toBe(200);
    }
    const receiver = new Receiver();
    const { secretPayloads } = await this.root.run('export_secrets', {
      secrets: [{ secretId: this.secretId, targetPublicKey: receiver.publicKey, encryptionSuite: SUITE }],
    });
    expect(receiver.open(secretPayloads[0], this.root.organizationId).toString()).toBe('to be kept');
    await createSubOrganization(this.root, 'another child');
  }
}

/** What `custos keyring verify` asks, in this process: a command of its own loads for a second. */
export async function expectAllOpen({ environment }: Pick<TestServer, 'environment'>): Promise<void> {
  const unopened: unknown[] = [];
  const config = readConfig({ ...environment, CUSTOS_KEYRING: 'inline' });
  const { secrets } = await verifyKeyring(config, (found) => unopened.push(found));
  expect(unopened).toEqual([]);
  expect(secrets).toBeGreaterThan(0);
}

export interface KeyState {
  /** As the database records it. */
  readonly recorded: string;
  readonly active: string;
  readonly ring: readonly string[];
  readonly retired: readonly string[];
  /** The root keys that something in the database is wrapped under. */
  readonly used: ReadonlySet<string>;
}

/** Which root keys there are and which are needed, read behind the service's back. */
export async function keyState(
  dataDir: string,
  databaseUrl: string | undefined,
  ringFile = join(dataDir, 'root.key'),
): Promise<KeyState> {
  await using tables = await openTables(dataDir, databaseUrl);
  const [organizations = [], facts = []] = await tables.read(
    'SELECT wrapped_key FROM organization',
    'SELECT name, value FROM deployment',
  );
  const fact = (name: string): string => facts.find((row: Row) => row.name === name)?.value ?? '';
  const wrapped = [...organizations.map((row: Row) => Buffer.from(row.wrapped_key).toString('hex'))];
  const ring = readFileSync(ringFile).toString('hex');
  // All versions but the first have a time for each, which is zero for keys in use.
  const timeDigits = ring.slice(16, 18) === '01' ? 0 : 16;
  const entries = Array.from({ length: Number.parseInt(ring.slice(20, 22), 16) }, (_, index) =>
    ring.slice(54 + index * (160 + timeDigits)),
  );
  const isRetired = (entry: string): boolean => /[1-9a-f]/.test(entry.slice(32, 32 + timeDigits));
  return {
    recorded: fact('root_key_id'),
    active: ring.slice(22, 54),
    ring: entries.filter((entry) => !isRetired(entry)).map((entry) => entry.slice(0, 32)),
    retired: entries.filter(isRetired).map((entry) => entry.slice(0, 32)),
    used: new Set([...wrapped, fact('deployment_key')].map((key) => key.slice(4, 36))),
  };
}

/** Changes the database behind the service's back. Values stand where the statement has a question mark. */
export async function writeDatabase(
  { dataDir, databaseUrl }: Pick<TestServer, 'dataDir' | 'databaseUrl'>,
  statement: string,
  values: readonly unknown[] = [],
): Promise<void> {
  if (databaseUrl !== undefined) {
    let place = 0;
    const numbered = statement.replace(/\?/g, () => {
      place += 1;
      return `$${place}`;
    });
    await onPostgres(databaseUrl, (client) => client.query(numbered, [...values]));
    return;
  }
  using db = new SqliteFile(join(dataDir, 'custos.db'), { busyTimeoutMs: 10_000 });
  db.prepare(statement).run(...values);
}
