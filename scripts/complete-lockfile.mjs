// Adds to package-lock.json the optional platform packages that a partial registry mirror did not offer when the lock
// was written. Without their entries `npm ci` refuses the lock; with them each platform installs its own.
// Usage: node scripts/complete-lockfile.mjs [package-lock.json ...]
import { readFileSync, writeFileSync } from 'node:fs';

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'win32', 'openharmony', 'sunos', 'aix', 'netbsd', 'openbsd'];
const PROCESSORS = ['arm64', 'x64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'wasm32'];

for (const file of process.argv.length > 2 ? process.argv.slice(2) : ['package-lock.json']) {
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const added = [];
  for (const [where, entry] of Object.entries(lock.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isResolved(lock.packages, where, name)) continue;
      lock.packages[`node_modules/${name}`] = platformEntry(name, range, entry.dev === true);
      added.push(name);
    }
  }
  const [root, ...rest] = Object.entries(lock.packages);
  lock.packages = Object.fromEntries([root, ...rest.sort(([a], [b]) => a.localeCompare(b, 'en'))]);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${file}: ${added.length} added`);
}

function isResolved(packages, where, name) {
  let base = where;
  for (;;) {
    if (packages[`${base ? `${base}/` : ''}node_modules/${name}`]) return true;
    if (!base) return false;
    base = base.includes('/node_modules/') ? base.slice(0, base.lastIndexOf('/node_modules/')) : '';
  }
}

/** The platform is read off the package's name, which is how these packages are told apart. */
function platformEntry(name, range, dev) {
  const parts = name.split(/[/-]/);
  const os = parts.filter((part) => SYSTEMS.includes(part));
  const cpu = parts.map((part) => (part === 'amd64' ? 'x64' : part)).filter((part) => PROCESSORS.includes(part));
  const libc = parts.some((part) => part.startsWith('musl'))
    ? 'musl'
    : parts.some((part) => part.startsWith('gnu'))
      ? 'glibc'
      : undefined;
  return {
    version: range.replace(/^[\^~]/, ''),
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev: true }),
    ...(libc !== undefined && os.includes('linux') && { libc: [libc] }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
}
