// Finds the browser for the tests, and installs Debian's where that is possible without asking anyone.
import { spawnSync } from 'node:child_process';
import { constants, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FOLDERS = ['/usr/bin', '/usr/local/bin', '/snap/bin'];
const INSTALL_MS_MAX = 600_000;

const isExecutable = (file) =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

async function findInstalled() {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter).filter(path.isAbsolute), ...FOLDERS];
  for (const name of NAMES) {
    for (const folder of folders) {
      const file = path.join(folder, name);
      if (await isExecutable(file)) return file;
    }
  }
  return null;
}

function isDebianRoot() {
  if (process.getuid?.() !== 0) return false;
  try {
    // Ubuntu's package of the same name is only a pointer to a snap, so descendants do not count.
    return /^ID="?debian"?$/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

function aptGet(...args) {
  const { status, error, stdout, stderr } = spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: INSTALL_MS_MAX,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (error || status !== 0) {
    process.stderr.write(`apt-get ${args.join(' ')} failed: ${error?.message ?? `${stdout}${stderr}`}\n`);
    return false;
  }
  return true;
}

/** The path of a Chromium, installed on the spot on Debian as root, or null. */
export async function findChromium() {
  const named = process.env.CHROME_PATH;
  if (named) {
    if (await isExecutable(named)) return named;
    throw new Error(`CHROME_PATH names ${named}, which cannot be executed`);
  }
  const installed = await findInstalled();
  if (installed || !isDebianRoot()) return installed;
  process.stdout.write('Installing chromium from Debian.\n');
  if (!aptGet('update') || !aptGet('install', '-y', '--no-install-recommends', 'chromium')) return null;
  return findInstalled();
}

/** As findChromium, but with CI=true a missing browser is an error, because there nothing may be skipped silently. */
export async function requireChromium() {
  const chromium = await findChromium();
  if (chromium === null && process.env.CI === 'true') {
    throw new Error('CI=true needs Chromium: set CHROME_PATH or install the chromium package');
  }
  return chromium;
}
