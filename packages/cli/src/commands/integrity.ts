import { Command } from 'commander';
import { confirmation } from '../confirm.ts';
import { leftAlone } from '../rotate-service-key.ts';

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** `custos integrity`: stored rows are authenticated. Takes the service's own settings. */
export function integrityCommand(): Command {
  return new Command('integrity')
    .description('Authenticate stored rows, so that what others write to the database is refused.')
    .addCommand(enableCommand())
    .addCommand(rotateKeyCommand());
}

function enableCommand(): Command {
  return new Command('enable')
    .description(
      'Mark every stored row of a PostgreSQL database while services run, and refuse rows without a mark from then on. If it is interrupted, run it again. The embedded database, and a new one, need no command.',
    )
    .option('--yes', 'do not ask')
    .option('--dry-run', 'say what would be done, and change nothing')
    .allowExcessArguments(false)
    .action(async ({ yes = false, dryRun = false }: { yes?: boolean; dryRun?: boolean }) => {
      const ask = confirmation({ yes, dryRun }, 'this requires marks on all rows');
      // Loaded here: commands that only talk to a service must not wait for the whole of it to load.
      const { describeViolation, enableRowIntegrity } = await import('@custos/server/admin');
      const enabled = await enableRowIntegrity(process.env, {
        say,
        report: (violation) => process.stdout.write(`not marked by this service: ${describeViolation(violation)}\n`),
        confirm: ({ ring, keyId, isEnabled, processes }) => {
          const live =
            processes.length === 0 ? 'No process is running.' : `${processes.join(', ')} must be of this version.`;
          return ask(
            isEnabled
              ? `Marks are required already. This records in ${ring} that they are (integrity key ${keyId}).`
              : `This marks every row that carries authority with integrity key ${keyId}, as it is now, and records in ${ring} that rows without a mark are refused. There is no way back, and older versions cannot use that key ring any more. ${live}`,
          );
        },
      });
      if (enabled === undefined) return leftAlone(dryRun);
      const { keyId, marked, bad } = enabled;
      if (bad > 0) {
        process.stdout.write(
          `${count(marked, 'row')} marked; ${count(bad, 'row')} with a mark that does not fit: marks are not required yet\n`,
        );
        process.exitCode = 1;
        return;
      }
      process.stdout.write(
        `${count(marked, 'row')} marked; marks under integrity key ${keyId} are required from now on\n`,
      );
      say('Back up the key ring now. Services on other machines record it in theirs within seconds.');
    });
}

function rotateKeyCommand(): Command {
  return new Command('rotate-key')
    .description(
      'Replace the key that stored rows are authenticated under while services run, as after a theft: mark everything with a new key, and refuse the old one. If it is interrupted, run it again.',
    )
    .option('--yes', 'do not ask')
    .option('--dry-run', 'say what would be done, and change nothing')
    .allowExcessArguments(false)
    .action(async ({ yes = false, dryRun = false }: { yes?: boolean; dryRun?: boolean }) => {
      const ask = confirmation({ yes, dryRun }, 'this replaces the key that rows are marked with');
      const { describeViolation, rotateIntegrity } = await import('@custos/server/admin');
      const rotated = await rotateIntegrity(process.env, {
        say,
        report: (violation) => process.stdout.write(`left as it is: ${describeViolation(violation)}\n`),
        confirm: ({ ring, from, resumes, processes }) => {
          const live = processes.length === 0 ? 'no process is running' : `${processes.join(', ')} follow`;
          const what =
            resumes === undefined
              ? `This makes a new integrity key, marks every row with it that verifies under ${from}, and then refuses ${from}`
              : `This ends an interrupted run, or one that somebody pretends: it marks every row with integrity key ${resumes} that verifies under an earlier one. Then it makes another key, which takes the place of ${resumes} in the same way, and no other counts any more`;
          return ask(
            `${what}; ${live}. Until it has ended, whoever has the earlier key and can write to the database can still write rows that become genuine: take that access away first. It records the new key in ${ring}. There is no way back: copy the ring first if you keep backups of the database, which need it as it is now.`,
          );
        },
      });
      if (rotated === undefined) return leftAlone(dryRun);
      const { keyId, marked, bad, withoutRing } = rotated;
      if (bad > 0) {
        process.stdout.write(
          `${count(marked, 'row')} marked; ${bad} that ${bad === 1 ? 'does' : 'do'} not verify: the earlier key stays in use until these are mended and the command is run again\n`,
        );
        process.exitCode = 1;
        return;
      }
      process.stdout.write(
        `${count(marked, 'row')} marked; rows are under integrity key ${keyId}, and no other counts\n`,
      );
      if (withoutRing.length > 0)
        say(`The key ring of ${withoutRing.join(', ')} does not say so: make it writable, or copy this one there.`);
      say(
        'Back up the key ring now, and copy it to machines whose services are off. Copies of before, and backups of the database from before, belong together.',
      );
    });
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
