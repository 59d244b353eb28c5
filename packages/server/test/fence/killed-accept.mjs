// Accepts a restore with the settings of the environment, and kills itself at one of the moments between what it writes.
import { acceptRestored } from '../../dist/admin.js';

const [last, ...decisions] = process.argv.slice(2);
let left = Number(last);
await acceptRestored(process.env, {
  decisions,
  holdsUndecided: true,
  confirm: async () => true,
  at: (step) => {
    left -= 1;
    if (left > 0) return;
    process.stdout.write(step, () => process.kill(process.pid, 'SIGKILL'));
    return new Promise(() => {});
  },
});
