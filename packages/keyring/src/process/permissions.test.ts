import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findNode, NODE_VERSIONS } from '../../../../scripts/lib/nodes.mjs';
import { requireBuilt } from '../../test/fixtures/built.ts';
import { permissionFlags } from './start.ts';

// What the permission model allows, on every version of Node.js that the service supports. npm has the newer ones for Linux.

const NODES = [
  { name: 'this Node.js', program: () => process.execPath },
  ...(process.platform === 'linux'
    ? NODE_VERSIONS.map((version) => ({ name: `Node.js ${version}`, program: () => findNode(version) }))
    : []),
];
const MODULE = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href);

let folder: string;
let ring: string;

beforeEach(async () => {
  requireBuilt();
  folder = await mkdtemp(join(tmpdir(), 'custos-permissions-'));
  ring = join(folder, 'root.key');
});
afterEach(() => rm(folder, { recursive: true }));

/** What the script prints as JSON, in a process with the keyring's rights or in a thread of one. */
async function run(program: string, where: string, script: string): Promise<unknown> {
  const body = `(async () => { ${script} })().then((value) => console.log(JSON.stringify(value)), (error) => console.log(JSON.stringify(error.code ?? error.message)));`;
  // As the keyring starts its own: with the options of the process.
  const thread = `new (require('node:worker_threads').Worker)(${JSON.stringify(body)}, { eval: true, stdin: false });`;
  const [ownFlag = '', ...flags] = permissionFlags(ring, undefined);
  expect(flags.length).toBeGreaterThan(2);
  const flag = program === process.execPath ? ownFlag : '--permission';
  const { stdout } = await promisify(execFile)(program, [
    flag,
    ...flags,
    '-e',
    where === 'the process' ? body : thread,
  ]);
  return JSON.parse(stdout);
}

describe.each(NODES)('with $name', ({ program }) => {
  describe.each(['the process', 'a thread of it'])('%s', (where) => {
    test('reads the ring and its own program, writes the ring, and nothing else', async () => {
      for (const name of ['root.key', 'database.sqlite']) await writeFile(join(folder, name), 'bytes', { mode: 0o600 });
      const foreign = fileURLToPath(new URL('../../../../package.json', import.meta.url));
      const answers = await run(
        program(),
        where,
        `const { spawnSync } = require('node:child_process');
        const { readFileSync, writeFileSync, readdirSync } = require('node:fs');
        const attempts = {
          ring: () => readFileSync(${JSON.stringify(ring)}),
          beside: () => readFileSync(${JSON.stringify(join(folder, 'database.sqlite'))}),
          folder: () => readdirSync(${JSON.stringify(folder)}),
          outside: () => readFileSync(${JSON.stringify(foreign)}),
          temporary: () => writeFileSync(${JSON.stringify(`${ring}.test.tmp`)}, ''),
          elsewhere: () => writeFileSync(${JSON.stringify(join(folder, 'other'))}, ''),
          program: () => spawnSync('true'),
        };
        const answers = {};
        for (const [name, attempt] of Object.entries(attempts)) {
          try { attempt(); answers[name] = 'allowed'; } catch (error) { answers[name] = error.code; }
        }
        return answers;`,
      );
      expect(answers).toEqual({
        ring: 'allowed',
        beside: 'ERR_ACCESS_DENIED',
        folder: 'ERR_ACCESS_DENIED',
        outside: 'ERR_ACCESS_DENIED',
        temporary: 'allowed',
        elsewhere: 'ERR_ACCESS_DENIED',
        program: 'ERR_ACCESS_DENIED',
      });
    });

    test('creates and changes a ring, also where syncing an open file is refused', async () => {
      // Node.js 24.22 refuses it, and npm has no such version yet: here every version does.
      const rings = await run(
        program(),
        where,
        `const file = await require('node:fs/promises').open(require('node:url').fileURLToPath(${MODULE}));
        const refuse = () => { throw Object.assign(new Error('refused'), { code: 'ERR_ACCESS_DENIED' }); };
        Object.assign(Object.getPrototypeOf(file), { sync: refuse, datasync: refuse, chmod: refuse, chown: refuse });
        await file.close();
        const { createKeyring } = await import(${MODULE});
        const keyring = await createKeyring({ rootKey: ${JSON.stringify(`file:${ring}`)}, create: true });
        const first = keyring.rootKeyId;
        const second = await keyring.addRootKey();
        await keyring.retireRootKey(first);
        const retired = await keyring.refreshRing();
        await keyring.restoreRootKey(first);
        await keyring.removeRootKey(first);
        const { ids } = await keyring.refreshRing();
        return [retired.active === second, retired.retired.map(({ id }) => id === first), ids.length];`,
      );
      expect(rings).toEqual([true, [true], 1]);
      expect(await readdir(folder)).toEqual(['root.key']);
    });
  });
});
