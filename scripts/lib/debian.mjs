// What tests need of the system is installed where that is possible without asking anyone: on Debian as root.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const INSTALL_MS_MAX = 600_000;

function isDebianRoot() {
  if (process.getuid?.() !== 0) return false;
  try {
    // Ubuntu has a pointer to a snap under the name of a package, so descendants do not count.
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

/** Whether the packages are there now. */
export function installFromDebian(...packages) {
  if (!isDebianRoot()) return false;
  process.stdout.write(`Installing ${packages.join(', ')} from Debian.\n`);
  return aptGet('update') && aptGet('install', '-y', '--no-install-recommends', ...packages);
}
