import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from './config/config.ts';
import { credentialsPath } from './credentials-file.ts';
import { describeMoves, describeProtection } from './protection.ts';

let dataDir: string;
beforeAll(() => {
  dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'custos-protection-')));
});
afterAll(() => rmSync(dataDir, { recursive: true }));

const config = (more: Record<string, string> = {}) => readConfig({ CUSTOS_DATA_DIR: dataDir, ...more });
const SOCKET = { CUSTOS_KEYRING: 'socket:/nowhere/keyring.sock', CUSTOS_KEYRING_KEY_FILE: '/nowhere/link.key' };
const POSTGRES = { CUSTOS_DATABASE_URL: 'postgres://localhost/custos' };

test('the default is a process of the same user, and says so', async () => {
  expect(await describeProtection(config())).toMatchObject({
    keyring: 'process',
    user: 'same',
    text: 'keys are held by a process of the same user as the service, who can read the root key',
  });
});

test('a socket that is not there protects nothing', async () => {
  const { keyring, user, text } = await describeProtection(config(SOCKET));
  expect([keyring, user]).toEqual(['socket', 'same']);
  expect(text).toContain('no keyring listens at /nowhere/keyring.sock');
});

const together = async (more?: Record<string, string>) => (await describeProtection(config(more))).together;
const ELSEWHERE = { CUSTOS_ROOT_KEY: 'file:/elsewhere/root.key' };

test('what is in one folder is told, until it is apart', async () => {
  expect(await together()).toEqual([`${dataDir} holds the database and the root key`]);
  expect(await together(ELSEWHERE)).toEqual([]);
  expect(await together(POSTGRES)).toEqual([]);
  writeFileSync(credentialsPath(dataDir), '{}');
  expect(await together()).toEqual([`${dataDir} holds the database, the root key and the root credentials`]);
  expect(await together(POSTGRES)).toEqual([`${dataDir} holds the root key and the root credentials`]);
  expect(await together({ ...POSTGRES, ...ELSEWHERE })).toEqual([]);
  expect(await together(SOCKET)).toEqual([`${dataDir} holds the database and the root credentials`]);
  expect(describeMoves(config())).toEqual([
    expect.stringContaining('move root.key'),
    expect.stringContaining(`move ${credentialsPath(dataDir)}`),
  ]);
  expect(describeMoves(config(SOCKET))).toHaveLength(1);
});

test('credentials that were moved aside count', async () => {
  const aside = join(dataDir, 'root-credentials-before-1.json');
  rmSync(credentialsPath(dataDir), { force: true });
  writeFileSync(aside, '{}');
  expect(await together(ELSEWHERE)).toEqual([`${dataDir} holds the database and the root credentials`]);
  expect(describeMoves(config(SOCKET))).toEqual([expect.stringContaining(`move ${aside}`)]);
  rmSync(aside);
});

test('a folder below, and one behind a link, is in the same place', async () => {
  const inner = join(dataDir, 'keys');
  mkdirSync(inner);
  const below = { CUSTOS_ROOT_KEY: `file:${join(inner, 'root.key')}` };
  expect(await together(below)).toEqual([`${dataDir} holds the database and the root key`]);
  const outer = mkdtempSync(join(tmpdir(), 'custos-elsewhere-'));
  symlinkSync(inner, join(outer, 'link'));
  const linked = { CUSTOS_ROOT_KEY: `file:${join(outer, 'link', 'root.key')}` };
  expect(await together(linked)).toEqual([`${dataDir} holds the database and the root key`]);
  const file = { CUSTOS_ROOT_KEY: `file:${join(outer, 'root.key')}` };
  expect(await together(file)).toEqual([]);
  writeFileSync(join(inner, 'root.key'), '');
  symlinkSync(join(inner, 'root.key'), join(outer, 'root.key'));
  expect(await together(file)).toEqual([`${dataDir} holds the database and the root key`]);
  rmSync(outer, { recursive: true });
  // One that only begins with the same name is another.
  expect(await together({ CUSTOS_ROOT_KEY: `file:${dataDir}-keys/root.key` })).toEqual([]);
});

test('a passphrase is beside the ring that it opens, unless it is a link', async () => {
  const what = 'the key ring and the passphrase of the key ring';
  const elsewhere = { CUSTOS_ROOT_KEY: 'passphrase-file:/elsewhere/phrase' };
  expect(await together(elsewhere)).toEqual([`/elsewhere holds ${what}`]);
  const phrase = join(dataDir, 'phrase');
  const inside = { CUSTOS_ROOT_KEY: `passphrase-file:${phrase}` };
  expect(await together({ ...inside, ...POSTGRES })).toEqual([`${dataDir} holds ${what}`]);
  expect(await together(inside)).toEqual([
    `${dataDir} holds the database, the key ring and the passphrase of the key ring`,
  ]);
  const outer = mkdtempSync(join(tmpdir(), 'custos-elsewhere-'));
  writeFileSync(join(outer, 'phrase'), '');
  symlinkSync(join(outer, 'phrase'), phrase);
  expect(await together({ ...inside, ...POSTGRES })).toEqual([]);
  rmSync(outer, { recursive: true });
});
