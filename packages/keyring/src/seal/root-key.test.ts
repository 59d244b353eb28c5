import { execFile } from 'node:child_process';
import {
  chmod,
  copyFile,
  lchown,
  type link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeyring, KeyringError, type KeyringErrorCode } from '../index.ts';
import { createPrivateFile } from './private-file.ts';
import { checkValue, decodeRing, encodeRing } from './ring-file.ts';

const binding = { organizationId: 'organization-1', ownerId: 'owner-1', kind: 'vote-message' };
const plaintext = Uint8Array.of(1, 2, 3);
const posixTest = test.skipIf(process.platform === 'win32');

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-root-key-'));
  path = join(folder, 'root.key');
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function refusal(promise: Promise<unknown>): Promise<{ code: KeyringErrorCode; message: string }> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof KeyringError) return { code: error.code, message: error.message };
  throw new Error(`expected a KeyringError, not: ${String(error)}`);
}

async function createAt(setting: string): Promise<string> {
  await using keyring = await createKeyring({ rootKey: setting, create: true });
  return keyring.rootKeyId;
}

/** The ring at the path with one more key, which becomes the active one. */
async function addRootKey(id: number): Promise<void> {
  const ring = decodeRing(await readFile(path), 'file', path);
  const added = { id: new Uint8Array(16).fill(id), material: new Uint8Array(32).fill(id + 1) };
  const entry = { ...added, check: checkValue('file', added.id, added.material) };
  const bytes = encodeRing({ provider: 'file', activeId: entry.id, entries: [...ring.entries, entry] });
  await writeFile(path, bytes, { mode: 0o600 });
}

describe('a key ring behind a link', () => {
  const modes = ['inline', 'process'] as const;

  posixTest.each(modes)('is changed where the link leads, and the link stays (%s)', async (mode) => {
    const kept = join(folder, 'kept');
    await mkdir(kept, { mode: 0o700 });
    const real = join(kept, 'ring');
    await createAt(`file:${real}`);
    await symlink(join('kept', 'ring'), path);
    await using keyring = await createKeyring({ rootKey: `file:${path}`, mode, threads: 1 });
    const first = keyring.rootKeyId;
    const added = await keyring.addRootKey();
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    const { entries } = decodeRing(await readFile(real), 'file', real);
    expect(entries.map(({ id }) => Buffer.from(id).toString('hex'))).toEqual([first, added]);
    // Nor is anything left on either side.
    expect([await readdir(folder), await readdir(kept)]).toEqual([['kept', 'root.key'], ['ring']]);
    // Whoever names the file itself has the same lock.
    await writeFile(`${real}.lock`, 'somebody');
    expect(await refusal(keyring.addRootKey())).toMatchObject({ code: 'UNAVAILABLE' });
    await rm(`${real}.lock`);
    // What is mounted is replaced by another link to another file.
    await copyFile(real, join(kept, 'next'));
    await chmod(join(kept, 'next'), 0o600);
    await symlink(join('kept', 'next'), `${path}.new`);
    await rename(`${path}.new`, path);
    await rm(real);
    expect((await keyring.refreshRing()).ids).toEqual([first, added]);
  });

  test.skipIf(process.getuid?.() !== 0)('is not followed by root where another user made the link', async () => {
    await createAt(`file:${join(folder, 'ring')}`);
    await symlink('ring', path);
    await lchown(path, 65_534, 65_534);
    await using keyring = await createKeyring({ rootKey: `file:${path}`, mode: 'inline' });
    expect(await refusal(keyring.addRootKey())).toMatchObject({
      code: 'ROOT_KEY_PERMISSIONS',
      message: expect.stringContaining('is a link of another user, which root does not follow'),
    });
  });
});

describe('key ring file', () => {
  test('is created only when asked, and only once', async () => {
    expect(await refusal(createKeyring({ rootKey: `file:${path}` }))).toMatchObject({ code: 'ROOT_KEY_MISSING' });
    expect(await readdir(folder)).toEqual([]);
    const id = await createAt(`file:${path}`);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    const bytes = await readFile(path);
    expect(await createAt(`file:${path}`)).toBe(id);
    expect((await readFile(path)).equals(bytes)).toBe(true);
    expect(await readdir(folder)).toEqual(['root.key']);
  });

  test('opens what an earlier keyring sealed', async () => {
    const first = await createKeyring({ rootKey: `file:${path}`, create: true });
    const key = await first.createOrganizationKey(binding.organizationId);
    const blob = await first.seal(key, binding, plaintext);
    await first.close();
    await using second = await createKeyring({ rootKey: `file:${path}` });
    expect(second.hasRootKey(first.rootKeyId)).toBe(true);
    expect(second.hasRootKey('00'.repeat(16))).toBe(false);
    expect([...(await second.open(key, binding, blob))]).toEqual([...plaintext]);
  });

  posixTest('belongs to its owner alone', async () => {
    await createAt(`file:${path}`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    for (const mode of [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o666]) {
      await chmod(path, mode);
      const refused = await refusal(createKeyring({ rootKey: `file:${path}`, create: true }));
      expect(refused).toMatchObject({ code: 'ROOT_KEY_PERMISSIONS' });
      expect(refused.message).toContain(`0${mode.toString(8)}`);
    }
    await chmod(path, 0o400);
    await createAt(`file:${path}`);
  });

  test('simultaneous creators end up with one key', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => createAt(`file:${path}`)));
    expect(new Set(ids).size).toBe(1);
    expect(await readdir(folder)).toEqual(['root.key']);
  });

  test('simultaneous creators in several processes end up with one key', async () => {
    const program = `
      import { createKeyring } from ${JSON.stringify(new URL('../index.ts', import.meta.url).href)};
      const keyring = await createKeyring({ rootKey: ${JSON.stringify(`file:${path}`)}, create: true });
      process.stdout.write(keyring.rootKeyId);`;
    const script = join(folder, 'create.mjs');
    await writeFile(script, program);
    const tsx = new URL('../../../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;
    const run = (): Promise<{ stdout: string }> => promisify(execFile)(process.execPath, ['--import', tsx, script]);
    const outputs = await Promise.all([run(), run(), run()]);
    expect(new Set(outputs.map(({ stdout }) => stdout)).size).toBe(1);
    expect(outputs[0]?.stdout).toBe(await createAt(`file:${path}`));
  });

  test('any flipped bit of it is noticed', async () => {
    await createAt(`file:${path}`);
    await addRootKey(1);
    const bytes = await readFile(path);
    for (let index = 0; index < bytes.length; index++) {
      const damaged = Uint8Array.from(bytes);
      damaged[index] = (damaged[index] as number) ^ (1 << (index % 8));
      await writeFile(path, damaged);
      const refused = await refusal(createKeyring({ rootKey: `file:${path}`, create: true }));
      expect(refused).toMatchObject({ code: 'ROOT_KEY_INVALID' });
    }
  });

  test('a wrong length, a repeated key and a foreign file are noticed', async () => {
    await createAt(`file:${path}`);
    const bytes = await readFile(path);
    const ring = decodeRing(bytes, 'file', path);
    const entry = ring.entries[0];
    if (entry === undefined) throw new Error('the ring is empty');
    const repeated = encodeRing({ ...ring, entries: [entry, entry] });
    const tooMany = encodeRing({ ...ring, entries: Array.from({ length: 17 }, () => entry) });
    const none = encodeRing({ ...ring, entries: [] });
    const foreign = Buffer.from('{"keys":[]}');
    const wrong = [
      bytes.subarray(0, -1),
      Buffer.concat([bytes, bytes]),
      repeated,
      tooMany,
      none,
      foreign,
      Buffer.alloc(0),
    ];
    for (const content of wrong) {
      await writeFile(path, content);
      expect(await refusal(createKeyring({ rootKey: `file:${path}` }))).toMatchObject({ code: 'ROOT_KEY_INVALID' });
    }
  });

  test('a folder, a missing folder and a malformed setting are refused', async () => {
    await mkdir(path, { mode: 0o700 });
    expect((await refusal(createKeyring({ rootKey: `file:${path}`, create: true }))).code).toBe('ROOT_KEY_INVALID');
    const nowhere = `file:${join(folder, 'no', 'root.key')}`;
    expect((await refusal(createKeyring({ rootKey: nowhere, create: true }))).code).toBe('ROOT_KEY_MISSING');
    for (const setting of ['', path, 'file:', 'passphrase-file:', 'env:KEY', 'file:a\0b', undefined]) {
      const malformed = createKeyring({ rootKey: setting as string, create: true });
      expect((await refusal(malformed)).code).toBe('INVALID_INPUT');
    }
  });

  posixTest('a pipe is refused and not waited for', async () => {
    await promisify(execFile)('mkfifo', ['-m', '600', path]);
    expect((await refusal(createKeyring({ rootKey: `file:${path}` }))).code).toBe('ROOT_KEY_INVALID');
  });

  test('is created exclusively also where there are no hard links', async () => {
    const noLinks = (): Promise<void> => Promise.reject(Object.assign(new Error('no links'), { code: 'EPERM' }));
    expect(await createPrivateFile(path, Uint8Array.of(1), { linkFile: noLinks as typeof link })).toBe(true);
    expect(await createPrivateFile(path, Uint8Array.of(2), { linkFile: noLinks as typeof link })).toBe(false);
    expect(await createPrivateFile(path, Uint8Array.of(3))).toBe(false);
    expect([...(await readFile(path))]).toEqual([1]);
    expect(await readdir(folder)).toEqual(['root.key']);
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});

describe('an unknown root key', () => {
  test('is looked for in the file again, and the active key follows', async () => {
    await using old = await createKeyring({ rootKey: `file:${path}`, create: true });
    const firstId = old.rootKeyId;
    const oldKey = await old.createOrganizationKey(binding.organizationId);
    await addRootKey(1);
    await using young = await createKeyring({ rootKey: `file:${path}` });
    expect(young.rootKeyId).toBe('01'.repeat(16));
    const newKey = await young.createOrganizationKey(binding.organizationId);
    const blob = await young.seal(newKey, binding, plaintext);

    expect(old.hasRootKey('01'.repeat(16))).toBe(false);
    const opened = await Promise.all(Array.from({ length: 5 }, () => old.open(newKey, binding, blob)));
    for (const bytes of opened) expect([...bytes]).toEqual([...plaintext]);
    expect(old.rootKeyId).toBe('01'.repeat(16));
    expect(old.hasRootKey(firstId)).toBe(true);
    await old.open(oldKey, binding, await young.seal(oldKey, binding, plaintext));
  });

  test('stays unknown when the file does not hold it, and known keys go on when the file is unreadable', async () => {
    await using keyring = await createKeyring({ rootKey: `file:${path}`, create: true });
    const key = await keyring.createOrganizationKey(binding.organizationId);
    const unknown = key.slice();
    unknown.fill(0xee, 2, 18);
    expect((await refusal(keyring.seal(unknown, binding, plaintext))).code).toBe('UNKNOWN_ROOT_KEY');
    await writeFile(path, 'damaged');
    expect((await refusal(keyring.seal(unknown, binding, plaintext))).code).toBe('ROOT_KEY_INVALID');
    const blob = await keyring.seal(key, binding, plaintext);
    expect([...(await keyring.open(key, binding, blob))]).toEqual([...plaintext]);
    await rm(path);
    expect((await refusal(keyring.seal(unknown, binding, plaintext))).code).toBe('ROOT_KEY_MISSING');
    expect([...(await keyring.open(key, binding, blob))]).toEqual([...plaintext]);
  });

  test('that was removed from the ring is no longer used', async () => {
    await using keyring = await createKeyring({ rootKey: `file:${path}`, create: true });
    const key = await keyring.createOrganizationKey(binding.organizationId);
    await keyring.seal(key, binding, plaintext);
    const firstId = keyring.rootKeyId;
    await addRootKey(1);
    const ring = decodeRing(await readFile(path), 'file', path);
    await writeFile(path, encodeRing({ ...ring, entries: ring.entries.slice(1) }));
    const trigger = key.slice();
    trigger.fill(1, 2, 18);
    expect((await refusal(keyring.seal(trigger, binding, plaintext))).code).toBe('NOT_OPENED');
    expect(keyring.hasRootKey(firstId)).toBe(false);
    expect((await refusal(keyring.seal(key, binding, plaintext))).code).toBe('UNKNOWN_ROOT_KEY');
  });
});

describe('passphrase', () => {
  const passphrase = 'sixteen bytes ok';
  let passphrasePath: string;
  let rootKey: string;

  beforeEach(() => {
    passphrasePath = join(folder, 'passphrase');
    rootKey = `passphrase-file:${passphrasePath}`;
  });

  test('unlocks the ring beside it, with or without a final newline', async () => {
    await writeFile(passphrasePath, passphrase, { mode: 0o600 });
    const first = await createKeyring({ rootKey, create: true });
    expect((await readdir(folder)).sort()).toEqual(['passphrase', 'passphrase.ring']);
    const key = await first.createOrganizationKey(binding.organizationId);
    const blob = await first.seal(key, binding, plaintext);
    await first.close();
    for (const ending of ['\n', '\r\n']) {
      await writeFile(passphrasePath, passphrase + ending);
      await using again = await createKeyring({ rootKey });
      expect([...(await again.open(key, binding, blob))]).toEqual([...plaintext]);
    }
    await writeFile(passphrasePath, `${passphrase}\n\n`);
    expect(await refusal(createKeyring({ rootKey, create: true }))).toMatchObject({ code: 'ROOT_KEY_INVALID' });
    await writeFile(passphrasePath, passphrase);
    await chmod(passphrasePath, 0o600);
    expect((await refusal(createKeyring({ rootKey: `file:${passphrasePath}.ring` }))).code).toBe('ROOT_KEY_INVALID');
  });

  test('is never created, and a short or long one is refused before a ring is made', async () => {
    expect(await refusal(createKeyring({ rootKey, create: true }))).toMatchObject({ code: 'ROOT_KEY_MISSING' });
    for (const wrong of ['', 'fifteen bytes!!\n', 'x'.repeat(1025)]) {
      await writeFile(passphrasePath, wrong, { mode: 0o600 });
      expect(await refusal(createKeyring({ rootKey, create: true }))).toMatchObject({ code: 'ROOT_KEY_INVALID' });
    }
    expect(await readdir(folder)).toEqual(['passphrase']);
  });

  posixTest('that others can read is refused', async () => {
    await writeFile(passphrasePath, passphrase);
    await chmod(passphrasePath, 0o644);
    expect(await refusal(createKeyring({ rootKey, create: true }))).toMatchObject({ code: 'ROOT_KEY_PERMISSIONS' });
  });
});
