import { execFile, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireBuilt } from '../../test/fixtures/built.ts';
import {
  codeOf,
  type Deployment,
  deploy,
  encryptTo,
  importSecret,
  ORGANIZATION,
  Receiver,
  readSigned,
  webhookKeyOf,
} from '../../test/fixtures/client.ts';
import { fromHex, fromText, toText } from '../../test/fixtures/labels.ts';
import { sealText } from '../bundle/credential-bundle.ts';
import { sealBox } from '../bundle/sealed-box.ts';
import { METHODS } from '../calls/table.ts';
import {
  type AccountSpec,
  createKeyring,
  type Holder,
  type Keyring,
  KeyringError,
  type Session,
  type SigningKey,
  type VerificationToken,
} from '../index.ts';
import { ProcessKeyring } from './client.ts';
import { KeyringProcess } from './keyring-process.ts';
import { pipesOf } from './start.ts';

const LINUX = existsSync('/proc/self/environ');
const ETHEREUM: AccountSpec = {
  curve: 'CURVE_SECP256K1',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};
const SOLANA: AccountSpec = {
  curve: 'CURVE_ED25519',
  path: "m/44'/501'/0'/0'",
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
};
const ABANDON = `${'abandon '.repeat(11)}about`;
const binding = { organizationId: ORGANIZATION, ownerId: 'owner-1', kind: 'vote-message' };
const receiver = new Receiver();
const COINBASE_CALL = { keyId: 'k', method: 'POST', host: 'a.test', path: '/onramp/v1/token', nowMs: 0 } as const;
const WEBHOOK = { timestampMs: 1, eventId: '00000000-0000-4000-8000-000000000005', body: '{}' };

let folder: string;
let rootKey: string;
let inline: Keyring;
let keyring: ProcessKeyring;
let deployment: Deployment;
let wallet: Holder;
let sealedSeed: Uint8Array;
let walletKey: SigningKey;

async function startProcess(setting = rootKey, create = false): Promise<ProcessKeyring> {
  const started = await createKeyring({ rootKey: setting, create, mode: 'process', threads: 2 });
  expect(started).toBeInstanceOf(ProcessKeyring);
  return started as ProcessKeyring;
}

async function refusalOf(promise: Promise<unknown>): Promise<KeyringError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(KeyringError);
  return outcome as KeyringError;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

beforeAll(async () => {
  requireBuilt();
  folder = await mkdtemp(join(tmpdir(), 'custos-process-'));
  rootKey = `file:${join(folder, 'root.key')}`;
  process.env.CUSTOS_CANARY = 'must not be inherited';
  keyring = await startProcess(rootKey, true);
  inline = await createKeyring({ rootKey });
  deployment = await deploy(keyring);
  await inline.loadServiceKeys(deployment.installationKey, deployment.keys);
  wallet = deployment.holder('wallet-1');
  ({ sealedSeed } = await keyring.createWallet(wallet, 12, []));
  walletKey = { kind: 'wallet', sealed: sealedSeed, curve: ETHEREUM.curve, path: ETHEREUM.path };
});

afterAll(async () => {
  delete process.env.CUSTOS_CANARY;
  await keyring.close();
  await inline.close();
  await rm(folder, { recursive: true });
});

describe('the same answers as inline', () => {
  const read = (bundle: string): Uint8Array => receiver.open(bundle, deployment.signerPublicKey);

  test('both keyrings have a method for every call of the table, and the process few others', () => {
    for (const each of [keyring, inline]) {
      expect(METHODS.filter((name) => typeof each[name] !== 'function')).toEqual([]);
    }
    const methods = Object.getOwnPropertyNames(ProcessKeyring.prototype).filter(
      (name) => typeof Object.getOwnPropertyDescriptor(ProcessKeyring.prototype, name)?.value === 'function',
    );
    const others = methods.filter((name) => !(METHODS as readonly string[]).includes(name));
    expect(others.sort()).toEqual(['close', 'constructor', 'hasRootKey', 'perform', 'ready']);
  });

  test('the root key', async () => {
    expect(keyring.rootKeyId).toBe(inline.rootKeyId);
    expect([keyring.hasRootKey(inline.rootKeyId), keyring.hasRootKey('00'.repeat(16))]).toEqual([true, false]);
    expect(await keyring.refreshRing()).toEqual(await inline.refreshRing());
    if (process.platform !== 'win32') expect((await stat(join(folder, 'root.key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['root.key']);
  });

  test('seal and open', async () => {
    const plaintext = new Uint8Array(randomBytes(1000));
    for (const [one, other] of [
      [keyring, inline],
      [inline, keyring],
    ] as [Keyring, Keyring][]) {
      const blob = await one.seal(wallet.organizationKey, binding, plaintext);
      expect([blob.constructor, blob.buffer.byteLength]).toEqual([Uint8Array, blob.length]);
      const opened = await other.open(wallet.organizationKey, binding, Buffer.from(blob));
      expect([opened.constructor, Buffer.from(opened).equals(plaintext)]).toEqual([Uint8Array, true]);
    }
    const large = new Uint8Array(4 * 1024 * 1024).fill(7);
    const blob = await keyring.seal(wallet.organizationKey, binding, large);
    expect(Buffer.from(await inline.open(wallet.organizationKey, binding, blob)).equals(large)).toBe(true);
    const key = await keyring.createOrganizationKey('o');
    expect(await inline.rewrapOrganizationKey('o', key)).toEqual(await keyring.rewrapOrganizationKey('o', key));
  });

  test('wallets and accounts', async () => {
    for (const [one, other] of [
      [keyring, inline],
      [inline, keyring],
    ] as [Keyring, Keyring][]) {
      const made = await one.createWallet(wallet, 24, [ETHEREUM, SOLANA]);
      expect(await other.deriveAccounts(wallet, made.sealedSeed, [ETHEREUM, SOLANA])).toEqual(made.accounts);
    }
  });

  test('private keys', async () => {
    const holder = deployment.holder('key-1');
    const made = await keyring.createPrivateKey(holder, 'CURVE_P256', ['ADDRESS_FORMAT_UNCOMPRESSED']);
    expect(made.addresses[0]).toMatch(/^04/);
    const payloads = [new Uint8Array(32).fill(3)];
    const key: SigningKey = { kind: 'private-key', sealed: made.sealedKey, curve: 'CURVE_P256' };
    expect(await keyring.sign(holder, key, 'ecdsa', payloads)).toEqual(
      await inline.sign(holder, key, 'ecdsa', payloads),
    );
    const exports = [keyring, inline].map((each) => each.exportPrivateKey(holder, made.sealedKey, receiver.publicKey));
    const [one, other] = (await Promise.all(exports)).map(read);
    expect(one).toEqual(other);
  });

  test.each([1, 15, 16, 31, 32, 33, 100])('%i signatures at once, in order', async (count) => {
    const payloads = Array.from({ length: count }, () => new Uint8Array(randomBytes(32)));
    const signatures = await keyring.sign(wallet, walletKey, 'ecdsa', payloads);
    expect(signatures).toEqual(await inline.sign(wallet, walletKey, 'ecdsa', payloads));
    expect(signatures[0]?.r.constructor).toBe(Uint8Array);
    const ed: SigningKey = { ...walletKey, curve: 'CURVE_ED25519' };
    expect(await keyring.sign(wallet, ed, 'eddsa', payloads)).toEqual(await inline.sign(wallet, ed, 'eddsa', payloads));
  });

  test('many lists at once, each in its order, whether there are idle threads or none', async () => {
    const lists = Array.from({ length: 8 }, () => Array.from({ length: 40 }, () => new Uint8Array(randomBytes(32))));
    const signed = await Promise.all(lists.map((list) => keyring.sign(wallet, walletKey, 'ecdsa', list)));
    for (const [index, list] of lists.entries()) {
      expect(signed[index]).toEqual(await inline.sign(wallet, walletKey, 'ecdsa', list));
    }
  });

  test('exports', async () => {
    for (const language of [undefined, 'MNEMONIC_LANGUAGE_JAPANESE'] as const) {
      const exports = [keyring, inline].map((each) =>
        each.exportWallet(wallet, sealedSeed, language, receiver.publicKey),
      );
      const [one, other] = (await Promise.all(exports)).map(read);
      expect(one).toEqual(other);
    }
    const exports = [keyring, inline].map((each) =>
      each.exportAccount(wallet, sealedSeed, ETHEREUM.curve, ETHEREUM.path, receiver.publicKey),
    );
    const [one, other] = (await Promise.all(exports)).map(read);
    expect(one).toEqual(other);
  });

  test('imports', async () => {
    for (const [one, other] of [
      [keyring, inline],
      [inline, keyring],
    ] as [Keyring, Keyring][]) {
      const target = await one.createImportTarget(deployment.holder('target-1'), 'user-1');
      expect(readSigned(target.importBundle, deployment.signerPublicKey).userId).toBe('user-1');
      const targets = [{ id: 'target-1', sealed: target.sealedTarget }];
      const bundle = encryptTo(target.targetPublicKey, fromText(ABANDON));
      const imported = await other.importWallet(wallet, targets, bundle, [ETHEREUM]);
      expect(imported.accounts[0]?.address).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
      const phrase = read(await one.exportWallet(wallet, imported.sealedSeed, undefined, receiver.publicKey));
      expect(toText(phrase)).toBe(ABANDON);
      const raw = new Uint8Array(32).fill(9);
      const keyBundle = encryptTo(target.targetPublicKey, raw);
      const holder = deployment.holder('key-2');
      const key = await other.importPrivateKey(holder, targets, keyBundle, 'CURVE_ED25519', ['ADDRESS_FORMAT_SOLANA']);
      expect(key.targetId).toBe('target-1');
      expect(read(await one.exportPrivateKey(holder, key.sealedKey, receiver.publicKey))).toEqual(raw);
    }
  });

  test('secrets', async () => {
    const [target] = await keyring.createSecretTargets(deployment.holder('batch'), 1);
    const payload = encryptTo(target!.targetPublicKey, fromText('a secret'));
    const secret = deployment.holder('secret-1');
    const sealed = await importSecret(keyring, secret, { id: 'batch', sealed: target!.sealedTarget }, payload);
    const wanted = { ownerId: secret.ownerId, sealedSecret: sealed, targetPublicKey: receiver.publicKey };
    for (const each of [inline, keyring]) {
      const exported = await each.exportSecrets(secret.organizationKey, secret.organizationId, [wanted, wanted]);
      expect(exported.map((bundle) => toText(read(bundle)))).toEqual(['a secret', 'a secret']);
    }
  });

  test('logins', async () => {
    for (const [one, other] of [
      [keyring, inline],
      [inline, keyring],
    ] as [Keyring, Keyring][]) {
      const otp = await one.createOtp(deployment.holder('otp-1'), '0K1QZ7X9A');
      expect(await other.checkOtp(deployment.holder('otp-1'), otp.sealedOtp, { code: 'ok1qz7x9a' })).toEqual({
        matches: true,
      });
      const box = sealBox(fromHex(deployment.publicKeys['oauth-secret']), fromText('client secret'));
      const sealed = await one.importOauthSecret(deployment.holder('c'), box);
      expect(toText(await other.lendOauthSecret(deployment.holder('c'), sealed))).toBe('client secret');
      const bundle = sealText(fromHex(deployment.publicKeys['on-ramp-secret']), fromText('sk_test'));
      const onRamp = await one.importOnRampSecret(deployment.holder('c'), bundle);
      expect(await other.signMoonpayQuery(deployment.holder('c'), onRamp, '?a=b')).toBe(
        createHmac('sha256', 'sk_test').update('?a=b').digest('base64'),
      );
    }
    // Signatures differ, what is signed does not.
    const publicKey = receiver.publicKey;
    const session = { expiresAtSeconds: 1, publicKey, userId: 'u', organizationId: 'o' };
    const token = { id: 'i', verificationType: 't', contact: 'c', organizationId: 'o', expiresAtMs: 1, publicKey };
    const calls: ((each: Keyring) => Promise<string>)[] = [
      (each) => each.signSession(session),
      (each) => each.signVerificationToken(token),
      (each) => each.signIdToken({ sub: 'x' }),
    ];
    for (const call of calls) {
      const [one, other] = (await Promise.all([keyring, inline].map(call))).map((jwt) => jwt.split('.').slice(0, 2));
      expect(one).toEqual(other);
    }
    for (const each of [keyring, inline]) {
      expect((await each.createCredential(publicKey)).publicKey).toMatch(/^0[23][0-9a-f]{64}$/);
    }
  });

  test('webhooks', async () => {
    const keyId = webhookKeyOf(deployment);
    const webhooks = Array.from({ length: 40 }, (_, index) => ({ ...WEBHOOK, body: `é€ ${index}` }));
    const signatures = await keyring.signWebhooks(keyId, webhooks);
    expect(signatures).toEqual(await inline.signWebhooks(keyId, webhooks));
    expect(new Set(signatures).size).toBe(40);
  });

  test('refusals have the same code and message', async () => {
    const calls: ((each: Keyring) => Promise<unknown>)[] = [
      (each) => each.createOrganizationKey(''),
      (each) => each.open(wallet.organizationKey, { ...binding, kind: 'wallet-seed' }, sealedSeed),
      (each) => each.open(wallet.organizationKey, binding, sealedSeed),
      (each) => each.open(new Uint8Array(94), binding, sealedSeed),
      (each) => each.deriveAccounts({ ...wallet, ownerId: 'x' }, sealedSeed, [ETHEREUM]),
      (each) => each.deriveAccounts(wallet, sealedSeed, [{ ...ETHEREUM, path: 'x' }]),
      (each) => each.sign(wallet, walletKey, 'eddsa', [new Uint8Array(32)]),
      (each) => each.sign(wallet, walletKey, 'ecdsa', [new Uint8Array(31)]),
      (each) => each.importWallet(wallet, [], '{}', []),
      (each) => each.removeRootKey('00'.repeat(16)),
      (each) => each.signAppProof(7 as unknown as string),
      (each) => each.sign(wallet, walletKey, 'ecdsa', 'text' as unknown as Uint8Array[]),
      (each) => each.sign(wallet, walletKey, 'ecdsa', undefined as unknown as Uint8Array[]),
      (each) => each.loadServiceKeys(wallet.organizationKey, deployment.keys),
      (each) => each.createOtp(wallet, 'a b'),
      (each) => each.checkOtp(wallet, sealedSeed, { code: '1' }),
      (each) => each.checkOtp(wallet, sealedSeed, {} as { code: string }),
      (each) => each.createCredential(new Uint8Array(65)),
      (each) => each.signSession({} as Session),
      (each) => each.signVerificationToken({} as VerificationToken),
      (each) => each.signIdToken({}),
      (each) => each.signWebhooks('unknown', [WEBHOOK]),
      (each) => each.signWebhooks(deployment.keys[0]!.keyId, [WEBHOOK]),
      (each) => each.signWebhooks('', [WEBHOOK]),
      (each) => each.signWebhooks('unknown', []),
      (each) => each.signWebhooks('unknown', [{ ...WEBHOOK, timestampMs: -1 }]),
      (each) => each.signWebhooks('unknown', [{ ...WEBHOOK, eventId: 'a.b' }]),
      (each) => each.signWebhooks('unknown', [{ ...WEBHOOK, body: 7 as unknown as string }]),
      (each) => each.signWebhooks('unknown', [{ ...WEBHOOK, body: 'x'.repeat(17 * 1024 * 1024) }]),
      (each) => each.signWebhooks('unknown', Array(3).fill({ ...WEBHOOK, body: '€'.repeat(6 * 1024 * 1024) })),
      (each) => each.signWebhooks('unknown', Array(1e6).fill(WEBHOOK)),
      (each) => each.importOauthSecret(wallet, 'ab'),
      (each) => each.lendOauthSecret(wallet, sealedSeed),
      (each) => each.importOnRampSecret(wallet, 'ab'),
      (each) => each.signMoonpayQuery(wallet, sealedSeed, 'a=b'),
      (each) => each.signMoonpayQuery(wallet, sealedSeed, '?a=b'),
      (each) => each.signCoinbaseToken(wallet, sealedSeed, { ...COINBASE_CALL, path: '/v2/accounts' }),
      (each) => each.signCoinbaseToken(wallet, sealedSeed, COINBASE_CALL),
      (each) => each.createIntegrityKey(wallet.organizationKey, 1),
      (each) => each.createIntegrityKey(7 as unknown as Uint8Array, 1),
      (each) => each.lendIntegrityKey(deployment.installationKey, '0a'.repeat(16), 1, sealedSeed),
      (each) => each.lendIntegrityKey(deployment.installationKey, '0A'.repeat(16), 1, sealedSeed),
      (each) => each.requireIntegrity('0a'.repeat(15)),
    ];
    for (const call of calls) {
      // One after the other, because two that change a ring at once refuse each other.
      const one = await refusalOf(call(keyring));
      const other = await refusalOf(call(inline));
      expect([one.code, one.message]).toEqual([other.code, other.message]);
    }
    expect(await codeOf(keyring.createOrganizationKey((() => 1) as unknown as string))).toBe('INVALID_INPUT');
  });

  test('app proofs come from one pair, whichever thread is idle', async () => {
    const proofs = await Promise.all(Array.from({ length: 20 }, () => keyring.signAppProof('{}')));
    expect(new Set(proofs.map(({ publicKey }) => publicKey)).size).toBe(1);
  });

  test('a caller may change its bytes as soon as it has called', async () => {
    const digest = new Uint8Array(32).fill(1);
    const running = keyring.sign(wallet, walletKey, 'ecdsa', [digest]);
    digest.fill(2);
    expect(await running).toEqual(await inline.sign(wallet, walletKey, 'ecdsa', [new Uint8Array(32).fill(1)]));
  });
});

test('a second thread is started when there is work for it, and has the service keys by then', async () => {
  const mine = await KeyringProcess.start({ rootKey, create: false, threads: 2 });
  try {
    await mine.loadServiceKeys(deployment.installationKey, deployment.keys);
    for (let call = 0; call < 3; call += 1) await mine.call('signIdToken', [{ sub: 'x' }]);
    expect(mine.idleThreads).toBe(1);
    const many = () => Promise.all(Array.from({ length: 16 }, () => mine.call('signIdToken', [{ sub: 'x' }])));
    while (mine.idleThreads < 2) await many();
    await many();
  } finally {
    await mine.close();
  }
});

describe('the ring', () => {
  test('that another process changed is read on an unknown id, and by every thread', async () => {
    const own = `file:${join(folder, 'rotated.key')}`;
    await using mine = await startProcess(own, true);
    await using other = await createKeyring({ rootKey: own });
    const added = await other.addRootKey();
    const wrapped = await other.createOrganizationKey(ORGANIZATION);
    expect(mine.hasRootKey(added)).toBe(false);
    await Promise.all(Array.from({ length: 8 }, () => mine.seal(wrapped, binding, new Uint8Array(1))));
    expect([mine.rootKeyId, mine.hasRootKey(added)]).toEqual([added, true]);
    expect(await mine.refreshRing()).toEqual({ active: added, ids: [expect.any(String), added] });
    const keys = await Promise.all(Array.from({ length: 8 }, () => mine.createOrganizationKey('o')));
    expect(new Set(keys.map((key) => Buffer.from(key.subarray(2, 18)).toString('hex')))).toEqual(new Set([added]));
  });

  test('is rotated by the process, for all of its threads', async () => {
    const own = `file:${join(folder, 'rotating.key')}`;
    await using mine = await startProcess(own, true);
    const first = mine.rootKeyId;
    const wrapped = await mine.createOrganizationKey(ORGANIZATION);
    const blob = await mine.seal(wrapped, binding, Uint8Array.of(5));
    const added = await mine.addRootKey();
    expect(mine.rootKeyId).toBe(added);
    const rewrapped = await mine.rewrapOrganizationKey(ORGANIZATION, wrapped);
    await mine.removeRootKey(first);
    expect([mine.hasRootKey(first), mine.hasRootKey(added)]).toEqual([false, true]);
    const opened = await Promise.all(Array.from({ length: 8 }, () => mine.open(rewrapped, binding, blob)));
    for (const bytes of opened) expect([...bytes]).toEqual([5]);
    for (const code of await Promise.all(Array.from({ length: 8 }, () => codeOf(mine.open(wrapped, binding, blob))))) {
      expect(code).toBe('UNKNOWN_ROOT_KEY');
    }
    expect((await readdir(folder)).filter((name) => name.startsWith('rotating'))).toEqual(['rotating.key']);
  });

  test('that is missing or damaged is told, and no process stays', async () => {
    const missing = join(folder, 'missing.key');
    expect(await codeOf(startProcess(`file:${missing}`))).toBe('ROOT_KEY_MISSING');
    await writeFile(missing, 'not a ring', { mode: 0o600 });
    expect(await codeOf(startProcess(`file:${missing}`, true))).toBe('ROOT_KEY_INVALID');
    expect(await codeOf(startProcess('nonsense'))).toBe('INVALID_INPUT');
    expect(await codeOf(startProcess(`file:${join(folder, 'no', 'folder')}`, true))).toBe('ROOT_KEY_MISSING');
  });

  test('with a passphrase', { timeout: 120_000 }, async () => {
    const passphrasePath = join(folder, 'passphrase');
    await writeFile(passphrasePath, 'sixteen bytes ok\n', { mode: 0o600 });
    await using mine = await startProcess(`passphrase-file:${passphrasePath}`, true);
    await using other = await createKeyring({ rootKey: `passphrase-file:${passphrasePath}` });
    expect(mine.rootKeyId).toBe(other.rootKeyId);
  });
});

describe('the life of the process', () => {
  test('killed during calls, they are UNAVAILABLE, and it comes back with its service keys', async () => {
    await using mine = await startProcess();
    await mine.loadServiceKeys(deployment.installationKey, deployment.keys);
    const { publicKey } = await mine.signAppProof('{}');
    for (let round = 0; round < 3; round += 1) {
      const pid = mine.pid as number;
      const calls = Array.from({ length: 40 }, () => mine.createWallet(wallet, 12, [ETHEREUM]));
      const first = await Promise.race(calls);
      expect(first.accounts).toHaveLength(1);
      process.kill(pid, 'SIGKILL');
      const outcomes = await Promise.all(
        calls.map((call) =>
          call.then(
            () => 'done',
            (error) => error.code,
          ),
        ),
      );
      expect(new Set(outcomes)).toEqual(new Set(['done', 'UNAVAILABLE']));
      expect(await codeOf(mine.createOrganizationKey('o'))).toBe('UNAVAILABLE');
      expect([mine.rootKeyId, mine.hasRootKey(inline.rootKeyId)]).toEqual([inline.rootKeyId, false]);
      await mine.ready();
      expect(mine.hasRootKey(inline.rootKeyId)).toBe(true);
      expect(mine.pid).not.toBe(pid);
      const bundle = await mine.exportWallet(wallet, sealedSeed, undefined, receiver.publicKey);
      expect(receiver.open(bundle, deployment.signerPublicKey).length).toBeGreaterThan(20);
      // In every thread.
      await Promise.all(Array.from({ length: 8 }, () => mine.signIdToken({ sub: 'x' })));
      const keyId = webhookKeyOf(deployment);
      await Promise.all(Array.from({ length: 8 }, () => mine.signWebhooks(keyId, [WEBHOOK])));
    }
    expect((await mine.signAppProof('{}')).publicKey).not.toBe(publicKey);
  });

  test('it waits for a ring that is away for a moment', async () => {
    const path = join(folder, 'away.key');
    await using mine = await startProcess(`file:${path}`, true);
    const ring = await readFile(path);
    await rm(path);
    process.kill(mine.pid as number, 'SIGKILL');
    // A start fails and makes no new ring.
    await vanished(mine);
    while (mine.pid === undefined) await new Promise((resolve) => setImmediate(resolve));
    while (mine.pid !== undefined) await new Promise((resolve) => setImmediate(resolve));
    expect(existsSync(path)).toBe(false);
    await writeFile(path, ring, { mode: 0o600 });
    await mine.ready();
    const key = await mine.createOrganizationKey('o');
    expect(Buffer.from(key.subarray(2, 18)).toString('hex')).toBe(mine.rootKeyId);
  });

  /** Calls until one is refused, which is when the end was noticed. */
  async function vanished(mine: ProcessKeyring): Promise<void> {
    while ((await mine.createOrganizationKey('o').catch((error) => error.code)) !== 'UNAVAILABLE');
  }

  test('signals to the whole group do not end it', async () => {
    const pid = keyring.pid as number;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
    await keyring.createOrganizationKey('o');
    expect(keyring.pid).toBe(pid);
  });

  test('close ends it, waits for its end and refuses what is called or pending', async () => {
    const mine = await startProcess();
    const pid = mine.pid as number;
    const pending = Array.from({ length: 10 }, () => codeOf(mine.createWallet(wallet, 12, [ETHEREUM])));
    await mine.close();
    expect(isAlive(pid)).toBe(false);
    expect(new Set(await Promise.all(pending))).toEqual(new Set(['INVALID_INPUT']));
    expect(await codeOf(mine.createOrganizationKey('o'))).toBe('INVALID_INPUT');
    await mine.ready();
    await mine.close();
  });

  test('close while it is away ends the attempts to start it', async () => {
    const mine = await startProcess();
    process.kill(mine.pid as number, 'SIGKILL');
    await vanished(mine);
    await mine.close();
    expect(mine.pid).toBeUndefined();
  });

  test('it ends when its parent is killed, and an idle one does not keep its parent alive', async () => {
    const module = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
    const start = `
      const { createKeyring } = await import(${JSON.stringify(module)});
      const keyring = await createKeyring({ rootKey: ${JSON.stringify(rootKey)}, mode: 'process', threads: 1 });
      await keyring.createOrganizationKey('o');
      console.log(keyring.pid);`;
    const run = (script: string) => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      // The keyring process holds the same standard error, so that this event means the end of both.
      return { child, closed: once(child, 'close') };
    };
    const killed = run(`${start}\nsetInterval(() => {}, 1000);`);
    const [output] = (await once(killed.child.stdout, 'data')) as [Buffer];
    const pid = Number(output.toString());
    expect(isAlive(pid)).toBe(true);
    killed.child.kill('SIGKILL');
    await killed.closed;

    const idle = run(start);
    const [code] = await idle.closed;
    expect(code).toBe(0);
  });

  test('a long call lets a short one in between, on one thread', async () => {
    const one = await createKeyring({ rootKey, mode: 'process', threads: 1 });
    await using mine = one as ProcessKeyring;
    await mine.loadServiceKeys(deployment.installationKey, deployment.keys);
    const keyId = webhookKeyOf(deployment);
    const order: string[] = [];
    const long = Array.from({ length: 256 }, () => ({ ...WEBHOOK, body: 'x'.repeat(65_536) }));
    await Promise.all([
      mine.signWebhooks(keyId, long).then(() => order.push('long')),
      mine.createOrganizationKey('o').then(() => order.push('short')),
    ]);
    expect(order).toEqual(['short', 'long']);
  });

  test('what it keeps for a restart are copies that hold nothing else', async () => {
    await using mine = await startProcess();
    const bytes = Buffer.from(deployment.installationKey);
    const keys = deployment.keys.map((key) => ({ ...key, sealed: Buffer.from(key.sealed) }));
    await mine.loadServiceKeys(bytes, keys);
    bytes.fill(0);
    for (const { sealed } of keys) sealed.fill(0);
    process.kill(mine.pid as number, 'SIGKILL');
    await vanished(mine);
    await mine.ready();
    expect(await mine.signIdToken({ sub: 'x' })).toMatch(/^ey/);
  });

  test('who waits for an answer hears of its end, even if nothing else is left to do', async () => {
    const module = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
    const script = `
      const { createKeyring } = await import(${JSON.stringify(module)});
      const keyring = await createKeyring({ rootKey: ${JSON.stringify(rootKey)}, mode: 'process', threads: 1 });
      process.kill(keyring.pid, 'SIGSTOP');
      const refused = keyring.createOrganizationKey('o').catch((error) => console.log(error.code));
      process.kill(keyring.pid, 'SIGKILL');
      await refused;`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).toBe('UNAVAILABLE\n');
  });

  test('one for which there are no descriptors has no lines', () => {
    expect(pipesOf({})).toEqual([]);
  });

  test('no more calls wait than are bounded', async () => {
    const calls = Array.from({ length: 10_001 }, () => keyring.createOrganizationKey('o'));
    expect(await codeOf(calls[10_000] as Promise<unknown>)).toBe('UNAVAILABLE');
    await Promise.all(calls.slice(0, 10_000));
    await keyring.createOrganizationKey('o');
  });
});

describe('the rights of the process', () => {
  test('it has nothing of the environment of its parent', async () => {
    if (!LINUX) return;
    const names = async (file: string): Promise<string[]> =>
      (await readFile(file, 'latin1'))
        .split('\0')
        .filter((entry) => entry !== '')
        .map((entry) => entry.split('=')[0] as string)
        .sort();
    expect(process.env.CUSTOS_CANARY).toBeDefined();
    expect(await names(`/proc/${keyring.pid}/environ`)).toEqual(['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE']);
    const [command = ''] = (await readFile(`/proc/${keyring.pid}/cmdline`, 'latin1')).split('\0host.js');
    expect(command).toMatch(/--(experimental-)?permission/);
  });
});
