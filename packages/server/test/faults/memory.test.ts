import { createECDH, pbkdf2Sync, randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { encryptTo, newImportTarget, Receiver } from '../harness/bundles.ts';
import { TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import { childrenOf, onPostgres } from './support.ts';

// Reads the memory of a running service, its output and its whole database, and looks for keys that it has worked with.

/** A published test vector of BIP-39. */
const MNEMONIC = 'scheme spot photo card baby mountain device kick cradle pact join borrow';
const ENTROPY = Buffer.from('c0ba5a8e914111210f2bd131f3d5e08d', 'hex');
const ADDRESS = { pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_ETHEREUM' };
const ACCOUNTS = [{ curve: 'CURVE_SECP256K1', ...ADDRESS }];
const CHUNK = 16 * 1024 * 1024;

/** A form of a secret, or of a control, by its name. */
type Needles = ReadonlyMap<string, Buffer>;

function formsOfBytes(name: string, bytes: Buffer): [string, Buffer][] {
  const hex = bytes.toString('hex');
  return [
    [`${name}: raw`, bytes],
    [`${name}: hex`, Buffer.from(hex)],
    [`${name}: upper-case hex`, Buffer.from(hex.toUpperCase())],
    [`${name}: hex in UTF-16`, Buffer.from(hex, 'utf16le')],
    [`${name}: upper-case hex in UTF-16`, Buffer.from(hex.toUpperCase(), 'utf16le')],
    [`${name}: base64`, Buffer.from(bytes.toString('base64').replace(/=+$/, ''))],
  ];
}

const formsOfText = (name: string, text: string): [string, Buffer][] => [
  ...formsOfBytes(name, Buffer.from(text)),
  [`${name}: UTF-16`, Buffer.from(text, 'utf16le')],
];

/** The first words say as much as all: no list has them in this order. */
const formsOfPhrase = (name: string, phrase: string): [string, Buffer][] =>
  formsOfText(`${name}, first words`, phrase.split(' ').slice(0, 4).join(' ')).concat(formsOfText(name, phrase));

/** The names of the needles that are in the bytes. */
function findIn(bytes: Buffer, needles: Needles): string[] {
  return [...needles].filter(([, needle]) => bytes.includes(needle)).map(([name]) => name);
}

/** All memory that a process could have written to. */
function* memoryOf(pid: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const overlap = 1024;
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from, to, access, inode, name] =
        /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ ([0-9]+)\s*(.*)$/.exec(line) ?? [];
      if (from === undefined || to === undefined || access?.[0] !== 'r') continue;
      if (name === '[vvar]' || name === '[vsyscall]' || (access[1] !== 'w' && inode !== '0')) continue;
      const end = BigInt(`0x${to}`);
      for (let start = BigInt(`0x${from}`); start < end; start += BigInt(CHUNK - overlap)) {
        const rest = end - start;
        const length = rest < BigInt(CHUNK) ? Number(rest) : CHUNK;
        const chunk = Buffer.alloc(length);
        try {
          yield chunk.subarray(0, readSync(memory, chunk, 0, length, start));
        } catch {
          // A mapping that went away, or has nothing behind it.
        }
        if (length < CHUNK) break;
      }
    }
  } finally {
    closeSync(memory);
  }
}

function findInMemory(pid: number, needles: Needles): string[] {
  const found = new Set<string>();
  let size = 0;
  for (const chunk of memoryOf(pid)) {
    size += chunk.length;
    for (const name of findIn(chunk, needles)) found.add(name);
  }
  expect(size).toBeGreaterThan(10 * 1024 * 1024);
  return [...found].sort();
}

/** The bytes of the embedded database's files, or every value of every row. */
async function databaseBytes(server: TestServer): Promise<Buffer> {
  const { databaseUrl, dataDir } = server;
  if (databaseUrl === undefined) {
    const files = readdirSync(dataDir).filter((name) => name.startsWith('custos.db'));
    expect(files.sort()).toEqual(['custos.db', 'custos.db-shm', 'custos.db-wal']);
    return Buffer.concat(files.map((name) => readFileSync(join(dataDir, name))));
  }
  return await onPostgres(databaseUrl, async (client) => {
    const parts: Buffer[] = [];
    const tables = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    for (const { tablename } of tables.rows) {
      for (const row of (await client.query(`SELECT * FROM "${tablename}"`)).rows) {
        for (const value of Object.values(row)) {
          parts.push(Buffer.isBuffer(value) ? value : Buffer.from(String(value)), Buffer.from('\n'));
        }
      }
    }
    return Buffer.concat(parts);
  });
}

/** Creates, imports, exports and signs as a client does, and answers with every secret that the client then knows. */
async function useKeys(root: TestClient): Promise<[string, Buffer][]> {
  const { userId } = root;
  const receiver = new Receiver();
  const open = (bundle: string): Buffer => receiver.open(bundle, root.organizationId);
  const target = { targetPublicKey: receiver.publicKey };
  const secrets: [string, Buffer][] = [];

  const created = await root.run('create_wallet', { walletName: 'created', accounts: ACCOUNTS });
  const createdPhrase = open((await root.run('export_wallet', { walletId: created.walletId, ...target })).exportBundle);
  secrets.push(...formsOfPhrase('mnemonic of a created wallet', createdPhrase.toString()));

  const imported = await root.run('import_wallet', {
    userId,
    walletName: 'imported',
    encryptedBundle: encryptTo(await newImportTarget(root, 'wallet'), MNEMONIC),
    accounts: ACCOUNTS,
  });
  const exported = await root.run('export_wallet', { walletId: imported.walletId, ...target });
  expect(open(exported.exportBundle).toString()).toBe(MNEMONIC);
  secrets.push(...formsOfPhrase('imported mnemonic', MNEMONIC), ...formsOfBytes('imported entropy', ENTROPY));
  const seed = pbkdf2Sync(MNEMONIC, 'mnemonic', 2048, 64, 'sha512');
  secrets.push(...formsOfBytes('seed of the imported mnemonic', seed));
  const [address] = imported.addresses;
  const account = await root.run('export_wallet_account', { address, ...target });
  const accountKey = open(account.exportBundle);
  expect(accountKey).toHaveLength(32);
  secrets.push(...formsOfBytes('key of an account', accountKey));

  const signers: [string, string][] = [[address, 'HASH_FUNCTION_KECCAK256']];
  for (const [curve, key] of importableKeys()) {
    const { privateKeyId } = await root.run('import_private_key', {
      userId,
      privateKeyName: curve,
      encryptedBundle: encryptTo(await newImportTarget(root, 'private_key'), key),
      curve,
      addressFormats: [],
    });
    const { exportBundle } = await root.run('export_private_key', { privateKeyId, ...target });
    expect(open(exportBundle)).toEqual(key);
    secrets.push(...formsOfBytes(`imported key on ${curve}`, key));
    signers.push([
      privateKeyId,
      curve === 'CURVE_ED25519' ? 'HASH_FUNCTION_NOT_APPLICABLE' : 'HASH_FUNCTION_KECCAK256',
    ]);
  }
  for (const [signWith, hashFunction] of signers) {
    await root.run('sign_raw_payload', {
      signWith,
      payload: '00'.repeat(32),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction,
    });
  }
  return secrets;
}

function importableKeys(): [string, Buffer][] {
  return [
    ['CURVE_SECP256K1', createECDH('secp256k1')],
    ['CURVE_P256', createECDH('prime256v1')],
    ['CURVE_ED25519', undefined],
  ].map(([curve, pair]) => {
    if (typeof pair !== 'object') return [curve as string, randomBytes(32)];
    pair.generateKeys();
    return [curve as string, Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex')];
  });
}

describe.skipIf(process.platform !== 'linux')('the memory of the service', () => {
  test.each(DATABASES)('its output and its %s database hold no key that it worked with', async (database) => {
    await using server = await TestServer.start({ database, env: { CUSTOS_LOG_LEVEL: 'trace' } });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const [keyring] = childrenOf(server.pid);
    const secrets = new Map(await useKeys(root));

    // Planted where secrets would be if they were treated like other parameters: in one-byte and in two-byte strings.
    const control = `planted ${randomBytes(16).toString('hex')}`;
    const wideControl = `вставлено ${randomBytes(16).toString('hex')}`;
    await root.run('create_wallet', { walletName: control, accounts: [] });
    await root.run('update_user_name', { userId: root.userId, userName: wideControl });
    // The user's record is kept in memory for the next request.
    await root.run('create_wallet', { walletName: `${control} again`, accounts: [] });
    const wide = Buffer.from(wideControl, 'utf16le');
    const controls: Needles = new Map([
      ['wide control', wide],
      ['control', Buffer.from(control)],
    ]);
    // The root key, which the ring file holds behind its header, its id and a time, must be where keys are used and only there.
    const rootKey = new Map(formsOfBytes('root key', readFileSync(join(server.dataDir, 'root.key')).subarray(51, 83)));
    const needles: Needles = new Map([...secrets, ...rootKey, ...controls]);

    expect(findInMemory(server.pid, needles)).toEqual(['control', 'wide control']);
    expect(findInMemory(keyring as number, rootKey)).toContain('root key: raw');

    const stored = await databaseBytes(server);
    expect(findIn(stored, needles)).toEqual(['control']);
    expect(stored.includes(Buffer.from(wideControl))).toBe(true);

    await server.stop();
    const { stdout, stderr } = server.output;
    expect(stderr).toContain('create_wallet');
    expect(findIn(Buffer.from(stdout + stderr), needles)).toEqual([]);
  });

  test('keys that are inside the HTTP process are found', async () => {
    await using server = await TestServer.start({ env: { CUSTOS_KEYRING: 'inline' } });
    const rootKey = new Map(formsOfBytes('root key', readFileSync(join(server.dataDir, 'root.key')).subarray(51, 83)));
    expect(findInMemory(server.pid, rootKey)).toContain('root key: raw');
  });
});
