import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { createKeyring } from '@custos/keyring';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { reseal, retire, unretire } from '../../src/admin.ts';
import { serveKeyring } from '../../src/keyring-serve.ts';
import { newWallet } from '../flows/fixtures/wallets.ts';
import { Receiver } from '../harness/bundles.ts';
import { TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { ServedKeyring } from '../harness/served-keyring.ts';
import { TestServer } from '../harness/server.ts';
import { runCli } from './support.ts';

const NO_ADMINISTRATION = 'a keyring on a socket takes no administration';

describe.each(databasesOf(import.meta.url))('a service on %s with a keyring on a socket', (database) => {
  let keyring: ServedKeyring;
  let server: TestServer;
  let root: TestClient;

  beforeAll(async () => {
    keyring = await ServedKeyring.start({ env: { CUSTOS_EXPORTS_PER_MINUTE: '1' } });
    server = await TestServer.start({ database, env: keyring.serviceSettings });
    root = TestClient.root(server.credentials, server.baseUrl);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await keyring[Symbol.asyncDispose]();
  });

  const readiness = async () => {
    const answer = await fetch(`${server.baseUrl}/readyz`);
    const { reasons } = (await answer.json()) as { reasons?: Record<string, string> };
    return { status: answer.status, reasons };
  };

  test('has no root key of its own, and says who holds the keys', async () => {
    expect(existsSync(`${server.dataDir}/root.key`)).toBe(false);
    expect(existsSync(keyring.ring)).toBe(true);
    expect(server.output.stdout).toContain(
      '  protection    keys are held by a keyring on a socket, which runs as the same user',
    );
    const status = await runCli({ ...server.environment }, 'status');
    expect(status).toMatchObject({ code: 0, stderr: '' });
    expect(status.stdout).toContain(`root key    socket:${keyring.path}`);
    expect(status.stdout).not.toContain('holds the root key');
    expect(JSON.stringify(server.environment)).not.toContain(keyring.ring);
    const both = await runCli({ ...server.environment, CUSTOS_ROOT_KEY: `file:${keyring.ring}` }, 'status');
    expect(both).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('CUSTOS_ROOT_KEY is for the keyring alone'),
    });
  });

  test('exports as often as the keyring lets it, whatever its own settings say, and the keyring logs it', async () => {
    const { walletId } = await newWallet(root);
    const wanted = { walletId, targetPublicKey: new Receiver().publicKey };
    await root.run('export_wallet', wanted);
    expect((await root.submit('export_wallet', wanted)).status).toBe(429);
    const logged = keyring.output.split('\n').filter((line) => line.includes('"msg":"export"'));
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ what: 'exportWallet', organizationId: root.organizationId, ownerId: walletId }),
    ]);
    expect(server.output.stderr).not.toContain('"msg":"export"');
  });

  test('answers 503 while the keyring is away, and goes on when it is back', async () => {
    const { addresses } = await newWallet(root);
    const payload = {
      signWith: addresses[0],
      payload: '00'.repeat(32),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    };
    await keyring.end('SIGKILL');
    expect(existsSync(keyring.path)).toBe(true);
    await vi.waitFor(async () => expect((await readiness()).status).toBe(503), { timeout: 20_000 });
    expect((await readiness()).reasons).toEqual({ keyring: expect.stringContaining('the keyring process is gone') });
    const refused = await root.submit('sign_raw_payload', payload);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    await keyring.start();
    await vi.waitFor(async () => expect((await readiness()).status).toBe(200), { timeout: 20_000 });
    await root.run('sign_raw_payload', payload);
  });

  test('leaves the root key to who has it: its commands are refused here, and work beside the keyring', async () => {
    const before = readFileSync(keyring.ring);
    const id = await activeKeyOf(keyring.ring);
    const refused = await runCli(server.environment, 'keyring', 'rotate', '--yes');
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(NO_ADMINISTRATION) });
    // The others in this process: a command of its own loads for a second.
    const options = { waitSeconds: 0, say: () => {}, confirm: async () => true, asksPerson: false };
    const { environment } = server;
    for (const work of [
      () => retire(environment, { ...options, keyId: id, isNow: false }),
      () => retire(environment, { ...options, keyId: id, isNow: true }),
      () => unretire(environment, id, () => {}),
      () => reseal(environment, `file:${keyring.folder}/resealed.key`),
    ])
      await expect(work()).rejects.toThrow(NO_ADMINISTRATION);
    expect(readFileSync(keyring.ring)).toEqual(before);
    expect(existsSync(`${keyring.folder}/resealed.key`)).toBe(false);
    const beside = async (...command: string[]) => {
      const { CUSTOS_KEYRING: _, CUSTOS_KEYRING_KEY_FILE: __, ...rest } = server.environment;
      const done = await runCli({ ...rest, CUSTOS_ROOT_KEY: `file:${keyring.ring}` }, 'keyring', ...command);
      expect(done.code, done.stderr).toBe(0);
    };
    await beside('rotate', '--yes', '--wait', '30');
    await newWallet(root);
    await beside('retire', id, '--yes', '--wait', '30');
    await newWallet(root);
    await beside('unretire', id);
  });
});

async function activeKeyOf(ring: string): Promise<string> {
  await using keyring = await createKeyring({ rootKey: `file:${ring}`, mode: 'inline' });
  return keyring.rootKeyId;
}

test('the folder that a keyring makes for its socket is open to its group', async () => {
  await using keyring = await ServedKeyring.start({ makesFolder: true });
  const modes = [dirname(keyring.path), keyring.path].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o750, 0o660]);
});

test('a keyring that cannot be served says why', async () => {
  await using keyring = await ServedKeyring.start();
  const env = {
    CUSTOS_KEYRING: `socket:${keyring.path}`,
    CUSTOS_KEYRING_KEY_FILE: keyring.keyFile,
    CUSTOS_ROOT_KEY: `file:${keyring.ring}`,
  };
  expect((await runCli(env, 'keyring', 'serve')).stderr).toContain('has a keyring that listens already');
  for (const [more, reason] of [
    [{ CUSTOS_KEYRING: 'process' }, 'CUSTOS_KEYRING must be socket:PATH'],
    [{ CUSTOS_KEYRING_KEY_FILE: '' }, 'CUSTOS_KEYRING as a socket needs CUSTOS_KEYRING_KEY_FILE'],
    [{ CUSTOS_PORT: '1' }, 'CUSTOS_PORT is not a setting of the keyring'],
    [{ CUSTOS_ROOT_KEY: '' }, 'CUSTOS_ROOT_KEY is needed'],
    [{ CUSTOS_ROOT_KEY: `file:${keyring.keyFile}` }, 'is not a key ring'],
  ] as const)
    await expect(serveKeyring({ ...env, ...more })).rejects.toThrow(reason);
  expect(await keyring.end()).toBe(0);
  expect(existsSync(keyring.path)).toBe(false);
});
