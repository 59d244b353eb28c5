import { Command } from 'commander';
import {
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

interface VerifyFlags extends SampleFlags {
  readonly json?: boolean;
  readonly acceptLostLog?: boolean;
}

/** `custos verify`: what a drill does, on the database of the service. Takes the service's own settings. */
export function verifyCommand(): Command {
  return new Command('verify')
    .description(
      'Verify every stored row that carries authority, open every secret, compare addresses and sign once on each curve, beside a running service. Reports rows that a service did not write, or that are missing where a set says what there is, and a database file that was copied without its log. Changes nothing; exit code 1 if anything is found, 2 if it could not be done.',
    )
    .option(...SAMPLE_OPTION)
    .option('--full', 'derive and compare all of them')
    .option('--json', 'one JSON document a line: each finding, and at last what was looked at')
    .option(
      '--accept-lost-log',
      'let a service start with a database file that was copied without its log: what was committed last is gone, and the service starts fenced, as after a restore',
    )
    .allowExcessArguments(false)
    .action(async (flags: VerifyFlags) => {
      const { json = false, acceptLostLog = false } = flags;
      try {
        const { describeFinding, verifyAll } = await import('@custos/server/admin');
        const { checked, accepted } = await verifyAll(process.env, {
          sample: sampleIn(flags),
          acceptsLostLog: acceptLostLog,
          // Whoever reads the output of a script wants findings alone.
          say: process.stderr.isTTY ? toStandardError : () => {},
          report: reporter(json, describeFinding),
        });
        if (json) toStandardOutput(jsonOf(checked, accepted ? { acceptedLostLog: true } : {}));
        else for (const line of linesOf(checked)) toStandardOutput(line);
        if (!checked.isRequired && !json)
          toStandardOutput(
            `marks are not required yet, and ${checked.unmarked} rows have none: rows that others insert are not found (\`custos integrity enable\`)`,
          );
        if (accepted)
          toStandardError(
            'the service can start with this database; it starts fenced: `custos restore review` lists what to look at, `custos restore accept` lifts the fence',
          );
        process.exitCode = checked.findings === 0 ? 0 : 1;
      } catch (error) {
        fail(error, NOT_DONE);
      }
    });
}
