import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateX25519Identity } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { AGE_IDENTITY, AGE_RECIPIENT } from '../../../server/test/fixtures/keys.ts';
import {
  approve,
  ethereum,
  importKey,
  importWallet,
  newWallet,
  reject,
  solana,
} from '../../../server/test/flows/fixtures/wallets.ts';
import { createUser, TestClient } from '../../../server/test/harness/client.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/custos.js', import.meta.url));
const PHRASE = `${'abandon '.repeat(11)}about`;

let server: TestServer;
let root: TestClient;
let second: TestClient;
let folder: string;
let env: Record<string, string>;

/** Runs the built program, as its user does. Nothing of the service is in its settings but where that is told. */
function custos(args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env.PATH ?? '', ...settings },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  server = await TestServer.start();
  folder = mkdtempSync(join(tmpdir(), 'custos-kit-'));
  env = { CUSTOS_DATA_DIR: server.dataDir };
  root = TestClient.root(server.credentials, server.baseUrl);
  await newWallet(root, [ethereum(), solana()]);
  await importWallet(root, `${PHRASE}\nTREZOR`, [ethereum()]);
  await importKey(root, 'SECP256K1', '11'.repeat(32), ['ETHEREUM', 'BITCOIN_MAINNET_P2WPKH']);
  second = await createUser(root, 'second');
  const third = await createUser(root, 'third');
  await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId, third.userId] });
  writeFileSync(at('key.txt'), `# of a test\n${AGE_IDENTITY}\n`);
  writeFileSync(at('other.txt'), await generateX25519Identity());
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const openKits = async () =>
  (await root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_CREATE_RECOVERY_KIT'] })).body.activities;

describe('custos recovery-kit', () => {
  test('waits for the quorum, and writes a file for its owner alone', async () => {
    const out = at('kit.age');
    const program = spawn(process.execPath, [PROGRAM, 'recovery-kit', '--recipient', AGE_RECIPIENT, '--out', out], {
      env: { PATH: process.env.PATH ?? '', ...env },
    });
    let [stdout, stderr] = ['', ''];
    program.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    program.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    const ended = new Promise<number | null>((resolve) => program.once('exit', resolve));
    await vi.waitFor(() => expect(stderr).toContain('To go on later'), { timeout: 20_000 });
    const [, fingerprint = ''] = /"fingerprint":"([^"]+)"/.exec(stderr) ?? [];
    expect(existsSync(out)).toBe(false);
    expect((await approve(second, fingerprint)).status).toBe(200);
    expect(await ended).toBe(0);
    expect(stdout).toMatch(/^wrote \S+kit\.age: 2 wallets, 1 private key, \d+ bytes\nSHA-256 [0-9a-f]{64}\n$/);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(readFileSync(out, 'latin1')).toMatch(/^age-encryption\.org\/v1\n/);
    expect(readFileSync(out, 'latin1')).not.toContain('abandon');
  });

  test('exits with 3 where it is not to wait, and goes on by the activity', async () => {
    const out = at('later.age');
    const pending = custos(['recovery-kit', '--recipient', AGE_RECIPIENT, '--out', out, '--no-wait'], env);
    expect([pending.status, pending.stdout]).toEqual([3, '']);
    const [, activityId = ''] = /--activity (\S+)/.exec(pending.stderr) ?? [];
    expect(custos(['recovery-kit', '--activity', activityId, '--out', out, '--no-wait'], env).status).toBe(3);
    const { fingerprint } = (await root.query('get_activity', { activityId })).body.activity;
    await approve(second, fingerprint);
    const done = custos(['recovery-kit', '--activity', activityId, '--out', out], env);
    expect([done.status, done.stdout]).toEqual([0, expect.stringContaining('wrote')]);
    // Once more, as after a disk that was full.
    expect(custos(['recovery-kit', '--activity', activityId, '--out', at('again.age')], env).status).toBe(0);
    expect(readFileSync(at('again.age'))).toEqual(readFileSync(out));
    const [other] = (await root.query('list_activities')).body.activities.filter(
      ({ type }: { type: string }) => type !== 'ACTIVITY_TYPE_CREATE_RECOVERY_KIT',
    );
    expect(custos(['recovery-kit', '--activity', other.id, '--out', at('no.age')], env).stderr).toContain(
      'makes no recovery kit',
    );
  });

  test('says that it was rejected', async () => {
    const pending = custos(['recovery-kit', '--recipient', AGE_RECIPIENT, '--out', at('no.age'), '--no-wait'], env);
    const [, activityId = ''] = /--activity (\S+)/.exec(pending.stderr) ?? [];
    const { fingerprint } = (await root.query('get_activity', { activityId })).body.activity;
    await reject(second, fingerprint);
    const rejected = custos(['recovery-kit', '--activity', activityId, '--out', at('no.age')], env);
    expect([rejected.status, rejected.stderr]).toEqual([1, 'custos: the activity was rejected\n']);
    expect(existsSync(at('no.age'))).toBe(false);
  });

  test('refuses before anything is submitted, and sends no identity anywhere', async () => {
    const before = (await openKits()).length;
    writeFileSync(at('there.age'), 'something');
    const refused = (...args: string[]) => custos(['recovery-kit', ...args], env);
    expect(refused('--recipient', AGE_RECIPIENT, '--out', at('there.age')).stderr).toContain('is there already');
    expect(readFileSync(at('there.age'), 'utf8')).toBe('something');
    expect(refused('--out', at('no.age')).stderr).toContain('who is to open it?');
    expect(refused('--recipient', AGE_RECIPIENT, '--activity', 'x', '--out', at('no.age')).stderr).toContain(
      'are fixed',
    );
    const identity = refused('--recipient', AGE_IDENTITY, '--out', at('no.age'));
    expect([identity.status, identity.stderr]).toEqual([1, expect.stringContaining('must stay secret')]);
    expect(identity.stderr).not.toContain(AGE_IDENTITY);
    expect(refused('--recipient', `${AGE_RECIPIENT}x`, '--out', at('no.age')).stderr).toContain('has a mistake in it');
    expect(await openKits()).toHaveLength(before);
    expect(server.output.stderr).not.toContain(AGE_IDENTITY);
  });
});

describe('custos recovery open', () => {
  const open = (...args: string[]) => custos(['recovery', 'open', ...args]);
  const key = () => ['--identity', at('key.txt')];

  test('shows words and keys with their addresses, each computed again, without a service', () => {
    const { status, stdout, stderr } = open(at('kit.age'), ...key());
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('2 wallets, 1 private key; 5 addresses computed again, and all are the same');
    expect(stdout).toContain(`12 words   ${PHRASE}\n  passphrase "TREZOR"`);
    // The vector of BIP-39 and this passphrase.
    expect(stdout).toContain(
      "  0x9c32F71D4DB8Fb9e1A58B0a80dF79935e7256FA6\n    Ethereum and other EVM chains, m/44'/60'/0'/0/0",
    );
    expect(stdout).toContain('Solana, ');
    expect(stdout).toContain(`Hexadecimal  ${'11'.repeat(32)}`);
    expect(stdout).toContain('WIF  KwntMbt59tTsj8xqpqYqRRWufyjGunvhSyeMo3NTYpFYzZbXJ5Hp');
  });

  test('prints JSON, private keys of accounts if asked, and no secret with --addresses', () => {
    const json = JSON.parse(open(at('kit.age'), ...key(), '--json').stdout);
    expect(json).toMatchObject({
      organization: { id: root.organizationId },
      recipients: [AGE_RECIPIENT],
      addresses: { same: 5, different: 0, unknown: 0 },
      privateKeys: [{ privateKey: '11'.repeat(32) }],
    });
    expect(json.wallets[1]).toMatchObject({ mnemonic: PHRASE, passphrase: 'TREZOR' });
    expect(json.wallets[0].accounts[0]).not.toHaveProperty('importKey');
    const full = JSON.parse(open(at('kit.age'), ...key(), '--json', '--private-keys').stdout);
    expect(full.wallets[0].accounts[0]).toMatchObject({
      verdict: 'same',
      importKey: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    for (const flags of [['--addresses'], ['--addresses', '--json']]) {
      const { stdout, status } = open(at('kit.age'), ...key(), ...flags);
      expect(status).toBe(0);
      expect(stdout).toContain('0x9c32F71D4DB8Fb9e1A58B0a80dF79935e7256FA6');
      for (const secret of ['abandon', 'TREZOR', '11'.repeat(32), 'Kwnt']) expect(stdout).not.toContain(secret);
    }
  });

  test('opens what age decrypted, and exits with 1 where an address differs', () => {
    const { stdout } = open(at('kit.age'), ...key(), '--json');
    const { wallets } = JSON.parse(stdout);
    const plain = {
      format: 'custos-recovery-kit',
      version: 1,
      madeAt: '2026-11-19T00:00:00.000Z',
      organization: { id: 'o', name: 'Organization \u202e' },
      recipients: [],
      wallets: [{ ...wallets[0], accounts: [{ ...wallets[0].accounts[0], address: '0xwrong' }] }],
      privateKeys: [],
    };
    writeFileSync(at('plain.json'), JSON.stringify(plain));
    const opened = open(at('plain.json'));
    expect(opened.status).toBe(1);
    expect(opened.stdout).toContain('1 ADDRESS DIFFERS');
    expect(opened.stdout).toContain(`0xwrong`);
    expect(opened.stdout).toContain(`DIFFERS, computed is ${wallets[0].accounts[0].address}`);
    expect(opened.stdout).toContain('Organization [U+202E]');
  });

  test('says in one line what is wrong', () => {
    const line = (...args: string[]) => {
      const { status, stdout, stderr } = open(...args);
      expect([status, stdout, stderr.split('\n').length]).toEqual([1, '', 2]);
      return stderr;
    };
    expect(line(at('kit.age'))).toContain('is encrypted: name the file with an identity');
    expect(line(at('kit.age'), '--identity', at('other.txt'))).toContain('the kit is for others');
    expect(line(at('kit.age'), '--identity', at('kit.age'))).toContain('is protected with a passphrase');
    expect(line(at('key.txt'), ...key())).toContain('is not encrypted with age');
    expect(line(at('nothing.age'), ...key())).toContain('is not there: name the kit');
    expect(line(at('kit.age'), '--identity', at('nothing.txt'))).toContain('is not there: name the identity');
    writeFileSync(at('cut.age'), readFileSync(at('kit.age')).subarray(0, 500));
    expect(line(at('cut.age'), ...key())).toContain('is damaged or cut off');
    expect(line(at('kit.age'), ...key(), '--addresses', '--private-keys')).toContain('leave out --private-keys');
  });
});

test('custos recovery page writes the page as it was built', () => {
  const out = at('recovery.html');
  const { status, stdout } = custos(['recovery', 'page', '--out', out]);
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^wrote \S+: \d+ bytes, SHA-256 [0-9a-f]{64}\n$/)]);
  const page = readFileSync(out, 'utf8');
  expect(page).toMatch(/^<!doctype html>/);
  expect(page).toContain("default-src 'none'; script-src 'sha256-");
  // Nothing is fetched from anywhere.
  expect(page).not.toMatch(/\b(?:src|href)=["'](?!data:)/);
  expect(custos(['recovery', 'page', '--out', out]).stderr).toContain('is there already');
});
