// `npm run test:long`: the random and fault tests with ten times their seeds, cases and kills, which is too long for every
// change. TEST_EFFORT sets another factor; arguments name other tests.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SUITES = [
  'compat/restore-sends',
  'compat/send-faults',
  'examples/programs',
  'packages/server/test/backup/beside',
  'packages/server/test/faults/keyring-death',
  'packages/server/test/faults/keyring-organization',
  'packages/server/test/faults/keyring-retire',
  'packages/server/test/faults/keyring-rotation',
  'packages/server/test/faults/keyring-steps',
  'packages/server/test/faults/kill',
  'packages/server/test/faults/webhook-loss',
  'packages/server/test/fence/killed-accept',
  'packages/server/test/hostile/bad-input/bytes',
  'packages/server/test/integrity/rotate-key',
  'packages/server/test/policy-reference/differential',
  'packages/server/test/restore/kill',
];
const given = process.argv.slice(2);
const { status, error } = spawnSync(process.execPath, ['scripts/test.mjs', ...(given.length > 0 ? given : SUITES)], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, TEST_EFFORT: process.env.TEST_EFFORT ?? '10', TEST_DATABASES: 'both' },
});
if (error) throw error;
process.exitCode = status ?? 1;
