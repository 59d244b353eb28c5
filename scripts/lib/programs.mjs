// Programs of the system that single tests need: whatever is missing is installed where that is possible without asking anyone.
import { spawnSync } from 'node:child_process';
import { installFromDebian } from './debian.mjs';

/** Each is in a package of its own name. */
const PROGRAMS = ['age', 'gdb'];

/** Says nothing where one cannot be had: the test that needs it is skipped by name (test-skips.json). */
export function installPrograms() {
  const missing = PROGRAMS.filter((name) => spawnSync(name, ['--version']).error !== undefined);
  if (missing.length > 0) installFromDebian(...missing);
}
