// Restores a backup with the settings of the environment, and kills itself at a step.
import { restore } from '../../dist/admin.js';

const [file, identity, last, keys] = process.argv.slice(2);
process.umask(0o077);
await restore(process.env, {
  file,
  identities: [identity],
  withKeys: keys === 'with-keys',
  discard: false,
  exhaust: false,
  acceptsFindings: false,
  sample: 2,
  say: () => {},
  report: () => {},
  confirm: async () => true,
  at: (step) => {
    if (step === last) process.kill(process.pid, 'SIGKILL');
  },
});
