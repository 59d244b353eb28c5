import { Command } from 'commander';
import {
  collect,
  describeBackup,
  jsonOf,
  linesOf,
  NOT_DONE,
  reporter,
  SAMPLE_OPTION,
  type SampleFlags,
  sampleIn,
  toStandardError,
  toStandardOutput,
} from '../database-report.ts';
import { fail } from '../fail.ts';
import { removeWhenInterrupted } from '../interruption.ts';

interface DrillFlags extends SampleFlags {
  readonly identity?: readonly string[];
  readonly withKeys?: boolean;
  readonly database?: string;
  readonly json?: boolean;
}

/** `custos drill`: a restore that nobody uses. */
export function drillCommand(): Command {
  return new Command('drill')
    .description(
      'Restore a backup into a place of its own, open every secret, compare addresses, sign once on each curve, verify every mark, and remove the place. The database of the service is not touched. Exit code 1 if anything is wrong with the backup, 2 if the drill could not be done.',
    )
    .argument('<file>', 'file of the backup; - reads it from standard input')
    .option('-i, --identity <file>', 'file with an identity of age that opens the backup; can be repeated', collect)
    .option('--with-keys', 'use the key ring that is in the backup, and not that of this machine')
    .option('--database <url>', 'a PostgreSQL database to load it into, instead of a folder')
    .option(...SAMPLE_OPTION)
    .option('--full', 'derive and compare all of them')
    .option('--json', 'one JSON document a line: each finding, and at last what was looked at')
    .allowExcessArguments(false)
    .action(async (file: string, flags: DrillFlags) => {
      const { identity = [], withKeys = false, database, json = false } = flags;
      try {
        const { describeFinding, drill } = await import('@custos/server/admin');
        const startedAtMs = performance.now();
        const { backup, checked } = await drill(process.env, {
          file,
          identities: identity,
          withKeys,
          databaseUrl: database,
          sample: sampleIn(flags),
          say: toStandardError,
          report: reporter(json, describeFinding),
          onPlace: removeWhenInterrupted,
        });
        const seconds = Math.round((performance.now() - startedAtMs) / 1000);
        if (json) toStandardOutput(jsonOf(checked, { backup, seconds }));
        else {
          toStandardOutput(describeBackup(backup));
          for (const line of linesOf(checked)) toStandardOutput(line);
          const found = checked.findings === 0 ? 'it can be restored' : `${checked.findings} found wrong`;
          toStandardOutput(`drill ended after ${seconds} s: ${found}`);
        }
        process.exitCode = checked.findings === 0 ? 0 : 1;
      } catch (error) {
        fail(error, NOT_DONE);
      }
    });
}
