// `npm run test:nodes`: the tests on each newer version of Node.js that the service supports, one after the other. Arguments go to the
// tests: `npm run test:nodes -- packages/keyring`. Linux only, because npm has these versions for Linux alone.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNode, installNodes, NODE_VERSIONS } from './lib/nodes.mjs';

if (process.platform !== 'linux') {
  process.stderr.write(
    'npm run test:nodes works on Linux only. Elsewhere run `npm test` with each version of Node.js.\n',
  );
  process.exit(1);
}

installNodes();
const failed = [];
for (const version of NODE_VERSIONS) {
  const program = findNode(version);
  process.stdout.write(`Node.js ${version}\n`);
  const { status, error } = spawnSync(program, ['scripts/test.mjs', ...process.argv.slice(2)], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
    // What the tests start by name is this version, too.
    env: { ...process.env, PATH: `${path.dirname(program)}${path.delimiter}${process.env.PATH}` },
  });
  if (error) throw error;
  if (status !== 0) failed.push(version);
}
if (failed.length > 0) {
  process.stderr.write(`npm run test:nodes: failed on Node.js ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
