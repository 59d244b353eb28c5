// The newer versions of Node.js that the service supports, from npm: one package for each processor has the program. There are
// such packages for Linux only.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackPackage } from './npm.mjs';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/nodes/', import.meta.url));
const { platform, arch } = process;

const INTEGRITY = {
  '22.23.3': {
    x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    arm64: 'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
  },
  '24.21.0': {
    x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    arm64: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
};

export const NODE_VERSIONS = Object.keys(INTEGRITY);

const programOf = (version) => path.join(CACHE, `${version}-${arch}`, 'bin', 'node');

/** The program of a version; throws what to do where it is not installed. */
export function findNode(version) {
  const program = programOf(version);
  if (existsSync(program)) return program;
  throw new Error(
    `Node.js ${version} is not installed: run \`node scripts/install-compat.mjs\` where npm reaches a registry`,
  );
}

/** Installs every version that is absent, on Linux. */
export function installNodes() {
  if (platform !== 'linux') return;
  for (const version of NODE_VERSIONS) {
    if (existsSync(programOf(version))) continue;
    const integrity = INTEGRITY[version][arch];
    if (integrity === undefined) throw new Error(`npm has no Node.js ${version} for ${platform} on ${arch}`);
    unpackPackage(
      { name: `node-linux-${arch}`, version, integrity },
      path.join(CACHE, `${version}-${arch}`),
      'bin/node',
    );
  }
}
