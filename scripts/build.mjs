// Compiles the packages in dependency order. Run by `npm ci` (root lifecycle script) and `npm run build`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

for (const name of ['keyring', 'sdk', 'server', 'cli']) {
  const project = `packages/${name}/tsconfig.build.json`;
  const { status, error } = spawnSync(process.execPath, [compiler, '-p', project], { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
