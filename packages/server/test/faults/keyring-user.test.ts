import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newWallet } from '../flows/fixtures/wallets.ts';
import { TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { ServedKeyring, type User } from '../harness/served-keyring.ts';
import { TestServer } from '../harness/server.ts';
import { runCli } from './support.ts';

// Numbers that no user of a usual machine has. The keyring's group is the service's, by which that reaches the socket.
const SERVICE: User = { uid: 61_201, gid: 61_200 };
const KEYRING: User = { uid: 61_202, gid: 61_200 };
const STRANGER: User = { uid: 61_203, gid: 61_203 };

describe.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)('a keyring of another user', () => {
  let keyring: ServedKeyring;
  let server: TestServer;
  let dataDir: string;
  let holder: number;

  beforeAll(async () => {
    keyring = await ServedKeyring.start({ user: KEYRING, service: SERVICE });
    dataDir = mkdtempSync(join(tmpdir(), 'custos-service-user-'));
    chownSync(dataDir, SERVICE.uid, SERVICE.gid);
    chmodSync(dataDir, 0o700);
    server = await TestServer.start({ dataDir, user: SERVICE, env: keyring.serviceSettings });
    await newWallet(TestClient.root(server.credentials, server.baseUrl));
    holder = childOf(keyring.pid);
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await keyring?.[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** What a program of this user gets when it tries; the error's code where it gets nothing. */
  function attempt(user: User, script: string): string {
    const wrapped = `
      const fs = require('node:fs'); const net = require('node:net');
      const tell = (text) => { console.log(text); process.exit(0); };
      (async () => { ${script} })().then((value) => tell(value ?? 'done'), (error) => tell(error.code ?? error.message));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', wrapped], { ...user, cwd: '/', encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.trim();
  }
  const reads = (path: string): string => `fs.readFileSync(${JSON.stringify(path)}); return 'read';`;

  test('runs as that user, and the service says so', () => {
    for (const pid of [keyring.pid, holder]) expect(userOf(pid)).toBe(KEYRING.uid);
    expect(userOf(server.pid)).toBe(SERVICE.uid);
    expect(server.output.stdout).toContain('keys are held by a keyring that runs as a user of its own');
  });

  test('the user of the service cannot read the ring, the folder of it or the keyring key file', () => {
    expect(attempt(KEYRING, reads(keyring.ring))).toBe('read');
    expect(attempt(SERVICE, reads(keyring.ring))).toBe('EACCES');
    expect(attempt(SERVICE, reads(keyring.keyFile))).toBe('EACCES');
    expect(attempt(SERVICE, `return fs.readdirSync(${JSON.stringify(join(keyring.ring, '..'))}).length`)).toBe(
      'EACCES',
    );
    expect(
      attempt(SERVICE, `fs.renameSync(${JSON.stringify(keyring.path)}, ${JSON.stringify(`${keyring.path}.x`)})`),
    ).toBe('EACCES');
  });

  test('nor change them', () => {
    const change = (user: User, script: string) => attempt(user, `${script}; return 'changed';`);
    const ring = JSON.stringify(keyring.ring);
    const aside = JSON.stringify(`${keyring.ring}.aside`);
    const before = readFileSync(keyring.ring);
    expect(change(KEYRING, `fs.closeSync(fs.openSync(${ring}, 'r+'))`)).toBe('changed');
    expect(change(SERVICE, `fs.closeSync(fs.openSync(${ring}, 'r+'))`)).toBe('EACCES');
    expect(change(KEYRING, `fs.renameSync(${ring}, ${aside}); fs.renameSync(${aside}, ${ring})`)).toBe('changed');
    expect(change(SERVICE, `fs.renameSync(${ring}, ${aside})`)).toBe('EACCES');
    expect(change(SERVICE, `fs.writeFileSync(${aside}, '')`)).toBe('EACCES');
    expect(change(SERVICE, `fs.rmSync(${ring})`)).toBe('EACCES');
    expect(change(SERVICE, `fs.chmodSync(${ring}, 0o666)`)).toBe('EACCES');
    expect(change(SERVICE, `fs.chmodSync(${JSON.stringify(join(keyring.ring, '..'))}, 0o777)`)).toBe('EPERM');
    expect(change(SERVICE, `fs.truncateSync(${JSON.stringify(keyring.keyFile)})`)).toBe('EACCES');
    expect(readFileSync(keyring.ring)).toEqual(before);
  });

  test('nor its memory, environment and open files, nor send it signals', () => {
    for (const pid of [keyring.pid, holder]) {
      // The same attempt succeeds on a process of one's own, so that it would here.
      expect(attempt(SERVICE, `fs.closeSync(fs.openSync('/proc/self/mem', 'r+')); return 'open';`)).toBe('open');
      expect(attempt(KEYRING, reads(`/proc/${pid}/environ`))).toBe('read');
      expect(attempt(SERVICE, `fs.openSync('/proc/${pid}/mem', 'r')`)).toBe('EACCES');
      expect(attempt(SERVICE, reads(`/proc/${pid}/environ`))).toBe('EACCES');
      expect(attempt(SERVICE, `return String(fs.readdirSync('/proc/${pid}/fd').length)`)).toBe('EACCES');
      expect(attempt(SERVICE, `process.kill(${pid}, 'SIGUSR1')`)).toBe('EPERM');
    }
  });

  test.skipIf(spawnSync('gdb', ['--version']).status !== 0)('nor trace it', () => {
    const trace = (user: User) =>
      spawnSync('gdb', ['-nx', '-batch', '-p', String(holder)], { ...user, cwd: '/', encoding: 'utf8' });
    const { stdout, stderr } = trace(SERVICE);
    expect(`${stdout}${stderr}`).toContain('Operation not permitted');
  });

  test('nor call what is not for services', () => {
    const module = join(import.meta.dirname, '../../../keyring/dist/index.js');
    const call = (user: User, method: string) =>
      attempt(
        user,
        `const { createKeyring } = await import(${JSON.stringify(module)});
         const served = { path: ${JSON.stringify(keyring.path)}, keyFile: ${JSON.stringify(keyring.serviceKeyFile)} };
         const keyring = await createKeyring({ rootKey: '', served, threads: 1 });
         await keyring.${method}; await keyring.close(); return 'answered';`,
      );
    expect(call(SERVICE, 'ping()')).toBe('answered');
    expect(call(SERVICE, 'addRootKey()')).toBe('NOT_ALLOWED');
    expect(call(SERVICE, 'removeRootKey(keyring.rootKeyId)')).toBe('NOT_ALLOWED');
    expect(call(SERVICE, 'retireRootKey(keyring.rootKeyId)')).toBe('NOT_ALLOWED');
    // Others have neither the key nor the way to the socket.
    expect(call(STRANGER, 'ping()')).toBe('INVALID_INPUT');
    const knock = `await new Promise((resolve, reject) => net.connect(${JSON.stringify(keyring.path)}, resolve).on('error', reject));`;
    expect(attempt(STRANGER, knock)).toBe('EACCES');
    expect(attempt(SERVICE, knock)).toBe('done');
  });

  test('one who listens in another place is not taken for it', () => {
    // The socket belongs to a user who does not own its folder.
    const folder = mkdtempSync(join(tmpdir(), 'custos-foreign-'));
    try {
      chmodSync(folder, 0o777);
      const path = join(folder, 'keyring.sock');
      const module = join(import.meta.dirname, '../../../keyring/dist/index.js');
      expect(
        attempt(
          STRANGER,
          `const server = net.createServer(); await new Promise((resolve) => server.listen(${JSON.stringify(path)}, resolve));
           fs.chmodSync(${JSON.stringify(path)}, 0o777); fs.linkSync(${JSON.stringify(path)}, ${JSON.stringify(`${path}.kept`)});`,
        ),
      ).toBe('done');
      chmodSync(folder, 0o755);
      expect(
        attempt(
          SERVICE,
          `const { lookAtSocket } = await import(${JSON.stringify(module)});
           try { await lookAtSocket(${JSON.stringify(`${path}.kept`)}); } catch (error) { return error.message; }`,
        ),
      ).toContain(`belongs to user ${STRANGER.uid}, but its folder to user 0`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('nor is it looked for where a third user could exchange its folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'custos-foreign-'));
    const module = join(import.meta.dirname, '../../../keyring/dist/index.js');
    const run = join(folder, 'run');
    const path = join(run, 'keyring.sock');
    const look = () =>
      attempt(
        SERVICE,
        `const { lookAtSocket } = await import(${JSON.stringify(module)});
         try { return String((await lookAtSocket(${JSON.stringify(path)})).isOwnUser); } catch (error) { return error.message; }`,
      );
    try {
      mkdirSync(run, { mode: 0o755 });
      chownSync(run, KEYRING.uid, KEYRING.gid);
      chmodSync(folder, 0o755);
      expect(
        attempt(
          KEYRING,
          `const server = net.createServer(); await new Promise((resolve) => server.listen(${JSON.stringify(`${path}.x`)}, resolve));
           fs.linkSync(${JSON.stringify(`${path}.x`)}, ${JSON.stringify(path)});`,
        ),
      ).toBe('done');
      expect(look()).toBe('false');
      chownSync(folder, STRANGER.uid, STRANGER.gid);
      expect(look()).toContain(`is behind ${folder} of user ${STRANGER.uid}, who could put another one there`);
      chownSync(folder, KEYRING.uid, KEYRING.gid);
      expect(look()).toBe('false');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0).each(databasesOf(import.meta.url))(
  'a ring of another user, beside a service on %s',
  (database) => {
    test('is changed by root, and still belongs to that user', { timeout: 120_000 }, async () => {
      await using keyring = await ServedKeyring.start({ user: KEYRING, service: SERVICE });
      const dataDir = mkdtempSync(join(tmpdir(), 'custos-service-user-'));
      chownSync(dataDir, SERVICE.uid, SERVICE.gid);
      try {
        await using server = await TestServer.start({ database, dataDir, user: SERVICE, env: keyring.serviceSettings });
        const root = TestClient.root(server.credentials, server.baseUrl);
        await newWallet(root);
        const { CUSTOS_KEYRING: _, CUSTOS_KEYRING_KEY_FILE: __, ...rest } = server.environment;
        const beside = async (...command: string[]): Promise<string> => {
          const done = await runCli({ ...rest, CUSTOS_ROOT_KEY: `file:${keyring.ring}` }, 'keyring', ...command);
          expect(done.code, done.stderr).toBe(0);
          const { uid, gid, mode } = statSync(keyring.ring);
          expect([command[0], uid, gid, mode & 0o777]).toEqual([command[0], KEYRING.uid, KEYRING.gid, 0o600]);
          expect(readdirSync(join(keyring.ring, '..')).sort()).toEqual(['link.key', 'root.key']);
          await newWallet(root);
          return done.stdout;
        };
        const rotated = await beside('rotate', '--yes');
        const old = /the ring keeps ([0-9a-f]{32})/.exec(rotated)?.[1] ?? '';
        await beside('retire', old, '--yes');
        await beside('unretire', old);
        await beside('retire', old, '--yes', '--now');
        await beside('verify');
      } finally {
        rmSync(dataDir, { recursive: true, force: true });
      }
    });
  },
);

/** The keyring process behind the one that listens. */
function childOf(parent: number): number {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (new RegExp(`^PPid:\\s+${parent}$`, 'm').test(readFileSync(`/proc/${name}/status`, 'utf8')))
        return Number(name);
    } catch {
      // It has ended meanwhile.
    }
  }
  throw new Error('the keyring has no process for its service');
}

const userOf = (pid: number): number => Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
