// The packages that only tests need, in a folder of their own.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNpm } from './npm.mjs';

export const COMPAT = fileURLToPath(new URL('../../compat/', import.meta.url));

/** Installs the packages of compat/ when they are absent or their lockfile has changed. */
export function installCompat() {
  const lockfile = readFileSync(path.join(COMPAT, 'package-lock.json'));
  const digest = createHash('sha256').update(lockfile).digest('hex');
  const stamp = path.join(COMPAT, 'node_modules', '.lockfile-sha256');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;

  runNpm(['ci', '--include=optional'], COMPAT);
  writeFileSync(stamp, digest);
}
