// `npm test`: brings what the tests need (build, outside packages, PostgreSQL, Chromium, age), runs them and cleans up.
// TEST_POSTGRES_URL names a server to use instead, TEST_VECTORS the folder of the published vectors, CHROME_PATH a
// browser, TMPDIR where tests put their files (a folder in memory, unless it is set). `--both` tries on both databases what
// `npm test` tries on one. Further arguments go to vitest: `npm test -- packages/keyring`.
import { spawn, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installAnvil } from './lib/anvil.mjs';
import { requireChromium } from './lib/chromium.mjs';
import { installCompat } from './lib/compat.mjs';
import { installNodes } from './lib/nodes.mjs';
import { startPostgres } from './lib/postgres.mjs';
import { installPrograms } from './lib/programs.mjs';
import { openScratch } from './lib/scratch.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
const [BOTH, OTHERS] = [process.argv.includes('--both'), process.argv.slice(2).filter((arg) => arg !== '--both')];
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

class Failure extends Error {
  constructor(message, code = 1) {
    super(message);
    this.code = code;
  }
}

let stoppedBy;
let child;

// Vitest, its workers and the servers which tests started are one process group, since a worker outlives its parent.
function signalTests(signal) {
  try {
    if (child?.pid) process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function stop(signal) {
  // The first signal lets vitest end in order; a second one does not wait for it.
  signalTests(stoppedBy ? 'SIGKILL' : signal);
  stoppedBy ??= signal;
}

for (const signal of Object.keys(SIGNALS)) process.on(signal, stop);

// npm does not hand every signal on, so its end counts as one.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  stop('SIGTERM');
}, 250);
watch.unref();

function checkStopped() {
  if (stoppedBy) throw new Failure(`stopped by ${stoppedBy}`, 128 + SIGNALS[stoppedBy]);
}

function findVectors() {
  if (!process.env.TEST_VECTORS) return {};
  const folder = path.resolve(process.env.TEST_VECTORS);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Failure(`TEST_VECTORS names ${process.env.TEST_VECTORS}, which is not a folder`);
  }
  return { TEST_VECTORS: folder };
}

function build() {
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs', '--if-changed'], {
    cwd: root,
    stdio: 'inherit',
  });
  checkStopped();
  if (status !== 0) throw new Failure('the build failed', status ?? 1);
}

/** Without a registry there may be none; the test that needs them says what to do. */
function bringNodes() {
  try {
    installNodes();
  } catch (error) {
    process.stderr.write(`npm test: ${error.message}\n`);
  }
}

async function openPostgres() {
  if (process.env.TEST_POSTGRES_URL) return undefined;
  try {
    return await startPostgres();
  } catch (error) {
    throw new Failure(`no PostgreSQL can start (TEST_POSTGRES_URL may name one): ${error.message}`);
  }
}

function runVitest(env) {
  return new Promise((resolve, reject) => {
    child = spawn(process.execPath, [vitest, 'run', ...OTHERS], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
      env: { ...process.env, ...env },
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function main() {
  const vectors = findVectors();
  build();
  installCompat();
  installAnvil();
  installPrograms();
  bringNodes();
  const chromium = await requireChromium();
  checkStopped();
  const scratch = ['TMPDIR', 'TMP', 'TEMP'].some((name) => process.env[name]) ? undefined : openScratch();
  if (scratch) process.env.TMPDIR = scratch.path;
  try {
    return await runTests(vectors, chromium);
  } finally {
    scratch?.dispose();
  }
}

async function runTests(vectors, chromium) {
  const postgres = await openPostgres();
  try {
    checkStopped();
    const code = await runVitest({
      ...vectors,
      ...(BOTH && { TEST_DATABASES: 'both' }),
      ...(chromium && { CHROME_PATH: chromium }),
      ...(postgres && { TEST_POSTGRES_URL: postgres.url }),
    });
    checkStopped();
    return code;
  } finally {
    signalTests('SIGKILL');
    await postgres?.dispose();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`npm test: ${error.message}\n`);
  process.exitCode = error instanceof Failure ? error.code : 1;
}
