import { Command, InvalidArgumentError } from 'commander';

const WAIT_SECONDS_MAX = 86_400;

/** `custos keyring`: care of the root key and of what is sealed under it. Takes the service's own settings. */
export function keyringCommand(): Command {
  return new Command('keyring')
    .description('Change the root key, or check that every stored secret opens. Uses the settings of the service.')
    .addCommand(rotateCommand())
    .addCommand(verifyCommand());
}

function rotateCommand(): Command {
  return new Command('rotate')
    .description(
      'Move everything to a new root key while the service runs, then destroy the old one. If it is interrupted, run it again.',
    )
    .option('--wait <seconds>', 'how long running processes are given to hold the new key', seconds, 60)
    .action(async ({ wait }: { wait: number }) => {
      // Loaded here: commands that only talk to a service must not wait for the whole of it to load.
      const { rotate } = await import('@custos/server/admin');
      const say = (line: string): void => {
        process.stderr.write(`${line}\n`);
      };
      const { rootKeyId, rewrapped, removed, resumed } = await rotate(process.env, { waitSeconds: wait, say });
      const did = resumed ? 'finished the rotation' : 'rotated';
      const gone = removed.length === 0 ? '' : `; removed ${removed.join(', ')}`;
      process.stdout.write(
        `${did} to root key ${rootKeyId}: ${count(rewrapped, 'organization key')} re-wrapped${gone}\n`,
      );
    });
}

function verifyCommand(): Command {
  return new Command('verify')
    .description(
      'Open every stored secret and report what does not open. Changes nothing; exit code 1 if any does not.',
    )
    .action(async () => {
      const { verify } = await import('@custos/server/admin');
      const { organizations, secrets, unopened } = await verify(process.env, ({ table, organizationId, id }) => {
        process.stdout.write(`not opened: ${table} ${id} of organization ${organizationId}\n`);
      });
      const outcome = unopened === 0 ? 'all open' : `${unopened} not opened`;
      process.stdout.write(
        `verified ${count(secrets, 'secret')} of ${count(organizations, 'organization')}: ${outcome}\n`,
      );
      process.exitCode = unopened === 0 ? 0 : 1;
    });
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

function seconds(text: string): number {
  const value = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= WAIT_SECONDS_MAX) return value;
  throw new InvalidArgumentError(`It must be a whole number of seconds from 0 to ${WAIT_SECONDS_MAX}.`);
}
