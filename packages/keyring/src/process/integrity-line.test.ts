import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { requireBuilt } from '../../test/fixtures/built.ts';
import { codeOf } from '../../test/fixtures/client.ts';
import { METHODS } from '../calls/table.ts';
import { createKeyring, INSTALLATION_ID, type KeyringOptions } from '../index.ts';
import type { ProcessKeyring } from './client.ts';
import { Line } from './line.ts';
import { pipesOf, startKeyringProcess } from './start.ts';

// Integrity keys and what is required of rows, on a service's line to its keyring process.

const ONE = '0a'.repeat(16);
const OTHER = 'fe'.repeat(16);

let folder: string;
let rootKey: string;

beforeAll(requireBuilt);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-integrity-line-'));
  rootKey = `file:${join(folder, 'root.key')}`;
});
afterEach(() => rm(folder, { recursive: true }));

async function start(options: Partial<KeyringOptions> = {}): Promise<ProcessKeyring> {
  const keyring = await createKeyring({ rootKey, create: true, mode: 'process', threads: 2, ...options });
  onTestFinished(() => keyring.close());
  return keyring as ProcessKeyring;
}

test('a service may make, lend and require, under the permission model, and no export is counted', async () => {
  const service = await start({ refusesAdministration: true, exportLimits: { perOrganization: 1, inAll: 1 } });
  const other = await start({ refusesAdministration: true });
  await using inline = await createKeyring({ rootKey });
  const installationKey = await service.createOrganizationKey(INSTALLATION_ID);
  const { keyId, sealed } = await service.createIntegrityKey(installationKey, 1);
  const key = await inline.lendIntegrityKey(installationKey, keyId, 1, sealed);
  for (let count = 0; count < 5; count += 1)
    expect(await service.lendIntegrityKey(installationKey, keyId, 1, sealed)).toEqual(key);
  expect(await service.integrityRequired()).toEqual([]);
  await service.requireIntegrity(keyId);
  await service.requireIntegrity(keyId);
  // Every thread, every other keyring of the ring, and one that starts later.
  const seen = await Promise.all(Array.from({ length: 16 }, () => service.integrityRequired()));
  expect(new Set(seen.map(String))).toEqual(new Set([keyId]));
  for (const each of [service, other, inline, await start()]) {
    expect(await each.integrityRequired()).toEqual([keyId]);
    expect((await each.refreshRing()).requiresIntegrity).toEqual([keyId]);
  }
  expect(await codeOf(service.addRootKey())).toBe('NOT_ALLOWED');
  expect(await readdir(folder)).toEqual(['root.key']);
  if (process.platform !== 'win32') expect((await stat(join(folder, 'root.key'))).mode & 0o777).toBe(0o600);
});

test('a process that is killed comes back with what is required', async () => {
  const service = await start({ refusesAdministration: true });
  await service.requireIntegrity(ONE);
  const { pid } = service;
  process.kill(pid as number, 'SIGKILL');
  while (service.pid === pid) await setImmediate();
  await service.ready();
  expect(await service.integrityRequired()).toEqual([ONE]);
  expect((await service.refreshRing()).requiresIntegrity).toEqual([ONE]);
});

test('each thread may be asked, and looks by itself', async () => {
  await using inline = await createKeyring({ rootKey, create: true });
  const child = startKeyringProcess({ rootKey, threads: 2, refusesAdministration: true });
  const ended = once(child, 'exit');
  child.send({ create: false, methods: METHODS });
  await once(child, 'message');
  child.send({ type: 'wake' });
  await once(child, 'message');
  const [first, second] = pipesOf(child).map((pipe) => new Line(pipe, () => {})) as [Line, Line];
  await inline.requireIntegrity(ONE);
  for (const line of [first, second]) expect(await line.call('integrityRequired', [])).toEqual([ONE]);
  await second.call('requireIntegrity', [OTHER]);
  expect(await first.call('integrityRequired', [])).toEqual([ONE, OTHER]);
  // Both at once: one may find the lock taken, and says so.
  const third = 'cc'.repeat(16);
  const outcomes = await Promise.allSettled([first, second].map((line) => line.call('requireIntegrity', [third])));
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'UNAVAILABLE' });
  expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
  for (const line of [first, second]) expect(await line.call('integrityRequired', [])).toEqual([ONE, OTHER, third]);
  child.disconnect();
  await ended;
});

test('with a passphrase, in a process', { timeout: 120_000 }, async () => {
  const passphrase = join(folder, 'passphrase');
  await writeFile(passphrase, 'sixteen bytes ok\n', { mode: 0o600 });
  const setting = `passphrase-file:${passphrase}`;
  const service = await start({ rootKey: setting, refusesAdministration: true });
  await service.requireIntegrity(ONE);
  expect(await service.integrityRequired()).toEqual([ONE]);
  await using later = await createKeyring({ rootKey: setting });
  expect(await later.integrityRequired()).toEqual([ONE]);
  expect((await readdir(folder)).sort()).toEqual(['passphrase', 'passphrase.ring']);
});

test('nothing that the process prints has the key in it', async () => {
  const module = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
  const script = `
    const { createKeyring } = await import(${JSON.stringify(module)});
    const keyring = await createKeyring({ rootKey: ${JSON.stringify(rootKey)}, create: true, mode: 'process', threads: 1 });
    const installation = await keyring.createOrganizationKey('deployment');
    const { keyId, sealed } = await keyring.createIntegrityKey(installation, 1);
    const key = await keyring.lendIntegrityKey(installation, keyId, 1, sealed);
    await keyring.requireIntegrity(keyId);
    const refused = [];
    for (const args of [[installation, '0a'.repeat(16), 1, sealed], [installation, keyId, 1, key], [key, keyId, 1, sealed], [installation, keyId, 2, sealed]])
      refused.push(await keyring.lendIntegrityKey(...args).catch((error) => error.stack + JSON.stringify(error)));
    process.stderr.write(refused.join());
    process.stdout.write(Buffer.from(key).toString('hex'));
    await keyring.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  let key = '';
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    key += text;
  });
  child.stderr.setEncoding('latin1').on('data', (text) => {
    printed += text;
  });
  expect((await once(child, 'close'))[0]).toBe(0);
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(printed).toContain('KeyringError');
  for (const encoding of ['hex', 'latin1', 'base64', 'base64url'] as const)
    expect(printed.toLowerCase()).not.toContain(
      Buffer.from(key, 'hex').toString(encoding).toLowerCase().replaceAll('=', ''),
    );
});
