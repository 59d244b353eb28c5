import { chown, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installRing } from '../index.ts';

/** Only root gives files to others. */
const isRoot = process.getuid?.() === 0;
const own = process.getuid?.() ?? 0;
const [SERVICE, KEYRING] = isRoot ? [1234, 5678] : [own, own];

let folder: string;
let dataDir: string;
let keyringDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-ring-'));
  dataDir = join(folder, 'data');
  keyringDir = join(folder, 'keyring');
  await mkdir(dataDir);
  await mkdir(keyringDir);
  await chown(dataDir, SERVICE, (await stat(dataDir)).gid);
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const ownerOf = async (path: string): Promise<number> => (await stat(path)).uid;

test('the ring of a backup is for the keyring whose folder it is put into, and not for the service', async () => {
  await chown(keyringDir, KEYRING, (await stat(keyringDir)).gid);
  const path = join(keyringDir, 'root.key');
  expect(await installRing(`file:${path}`, Buffer.from('a ring'), dataDir)).toBe(true);
  expect([await ownerOf(path), (await stat(path)).mode & 0o777]).toEqual([KEYRING, 0o600]);
  expect(await installRing(`file:${path}`, Buffer.from('another'), dataDir)).toBe(false);
});

test("it is for the service in its own folder, and in one of root's", async () => {
  for (const place of [dataDir, keyringDir]) {
    const path = join(place, 'root.key');
    expect(await installRing(`file:${path}`, Buffer.from('a ring'), dataDir)).toBe(true);
    expect(await ownerOf(path)).toBe(SERVICE);
  }
});

test('a folder that is not there is named', async () => {
  const path = join(folder, 'missing', 'root.key');
  await expect(installRing(`file:${path}`, Buffer.from('a ring'), dataDir)).rejects.toMatchObject({
    code: 'ROOT_KEY_MISSING',
    message: expect.stringContaining(path),
  });
});
