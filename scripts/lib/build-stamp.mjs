// Says whether the packages are built from the sources that are there now: `npm test` after `npm ci` need not build again.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Goes with the installed packages, of which the build has parts. */
const STAMP = path.join(root, 'node_modules', '.custos-build');

const filesIn = (folder, isWanted) =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isWanted(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));

/** What a build is made from, and for which Node: V8 compiles the service ahead for one release alone. */
export function digestOfSources(packages) {
  const files = [
    'package-lock.json',
    'tsconfig.base.json',
    'scripts/build.mjs',
    ...filesIn('scripts/lib', (name) => /^(build|compile)-/.test(name)),
    ...packages.flatMap((name) => filesIn(`packages/${name}/src`, (file) => !file.includes('.test.'))),
    ...packages.flatMap((name) =>
      ['package.json', 'tsconfig.build.json'].map((file) => path.join('packages', name, file)),
    ),
  ];
  const digest = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}\n`);
  for (const file of files.filter((name) => existsSync(path.join(root, name))).sort()) {
    const bytes = readFileSync(path.join(root, file));
    digest.update(`${file} ${bytes.length}\n`).update(bytes);
  }
  return digest.digest('hex');
}

export const isBuilt = (packages) =>
  existsSync(STAMP) &&
  packages.every((name) => existsSync(path.join(root, 'packages', name, 'dist'))) &&
  readFileSync(STAMP, 'utf8') === digestOfSources(packages);

/** While something is built, nothing counts as built. */
export const forgetBuild = () => rmSync(STAMP, { force: true });

/** The digest is one of before the build: an edit made meanwhile is not in it. */
export const rememberBuild = (digest) => writeFileSync(STAMP, digest);
