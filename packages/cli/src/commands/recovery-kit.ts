import { CustosError } from '@custos/sdk';
import { Command } from 'commander';
import { openService, type ServiceOptions } from '../credentials.ts';
import { explainAbsence } from '../fail.ts';

interface KitFlags extends ServiceOptions {
  readonly recipient?: string[];
  readonly out: string;
  readonly activity?: string;
  readonly wait: boolean;
}

/** The activity is stored and waits for others, as with `custos api`. */
const EXIT_PENDING = 3;

/** `custos recovery-kit`: all keys of an organization in one file that opens without Custos. */
export function recoveryKitCommand(): Command {
  return new Command('recovery-kit')
    .description(
      'Export all wallets and private keys of the organization into one file, encrypted to age recipients. The root quorum has to approve it; the command waits for that, and --activity goes on where it was interrupted.',
    )
    .option('--recipient <age1...>', 'who can open it; may be given several times', collect)
    .requiredOption('--out <file>', 'the file to write, for its owner alone')
    .option('--activity <id>', 'wait for, or fetch, the kit of an activity that was submitted before')
    .option('--no-wait', 'do not wait for approvals: exit with 3 instead')
    .option('--credentials <file>', 'credentials file (default: root-credentials.json in CUSTOS_DATA_DIR or ./data)')
    .option('--url <address>', 'address of the service, if it is not the one in the file')
    .allowExcessArguments(false)
    .action(async ({ recipient = [], out, activity, wait, ...service }: KitFlags) => {
      if (activity === undefined && recipient.length === 0) {
        throw new CustosError(
          'INVALID_OPTION',
          'who is to open it? Name at least one --recipient (`age-keygen` makes an identity with its recipient)',
        );
      }
      if (activity !== undefined && recipient.length > 0) {
        throw new CustosError('INVALID_OPTION', 'the recipients of --activity are fixed: leave out --recipient');
      }
      const { makeKit } = await import('../recovery/make-kit.ts');
      const isDone = await makeKit(openService(service).client, {
        recipients: recipient,
        out,
        activityId: activity,
        waits: wait,
      }).catch((error: unknown) => {
        throw explainAbsence(error);
      });
      if (!isDone) process.exitCode = EXIT_PENDING;
    });
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];
