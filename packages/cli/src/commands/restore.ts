import { CustosError } from '@custos/sdk';
import type { RestorePlan } from '@custos/server/admin';
import { Command } from 'commander';
import { confirmation } from '../confirm.ts';
import {
  collect,
  count,
  describeBackup,
  linesOf,
  reporter,
  SAMPLE_OPTION,
  type SampleFlags,
  sampleIn,
  timeOf,
  toStandardError,
  toStandardOutput,
} from '../database-report.ts';
import { removeWhenInterrupted } from '../interruption.ts';
import { leftAlone } from '../rotate-service-key.ts';
import { acceptCommand } from './restore-accept.ts';
import { reviewCommand } from './restore-review.ts';

interface RestoreFlags extends SampleFlags {
  readonly identity?: readonly string[];
  readonly withKeys?: boolean;
  readonly discard?: boolean;
  readonly exhaust?: boolean;
  readonly acceptFindings?: boolean;
  readonly anotherDeployment?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** `custos restore`: puts a backup in the place of the database. Takes the service's own settings. */
export function restoreCommand(): Command {
  return (
    new Command('restore')
      .description(
        'Restore a backup into the database of the settings: into an empty one, or over that of a service that is stopped. Everything is loaded and verified beside it first; if it is interrupted, the database is as it was, or as the backup has it. The service then starts fenced.',
      )
      .argument('<file>', 'file of the backup; - reads it from standard input')
      .option('-i, --identity <file>', 'file with an identity of age that opens the backup; can be repeated', collect)
      .option('--with-keys', 'write the key ring that is in the backup, where this machine has none')
      .option('--exhaust', 'count every velocity window as full until it has passed the restore')
      .option('--discard', 'keep nothing of the database that is replaced')
      .option(...SAMPLE_OPTION)
      .option('--full', 'derive and compare all of them')
      .option('--accept-findings', 'restore although something in the backup does not verify')
      .option('--another-deployment', 'with --yes: the database may be that of another deployment than the backup')
      .option('--yes', 'do not ask')
      .option('--dry-run', 'load and verify it, say what would be replaced, and change nothing')
      // What stands behind the name of a command in it is for that one.
      .enablePositionalOptions()
      .addCommand(acceptCommand())
      .addCommand(reviewCommand())
      .allowExcessArguments(false)
      .action(async (file: string, flags: RestoreFlags) => {
        const { identity = [], yes = false, dryRun = false } = flags;
        const { describeFinding, restore } = await import('@custos/server/admin');
        const isInput = file === '-';
        const ask = (question: string): Promise<boolean> => confirmation({ yes, dryRun }, REPLACES)(question);
        const restored = await restore(process.env, {
          file,
          identities: identity,
          withKeys: flags.withKeys ?? false,
          discard: flags.discard ?? false,
          exhaust: flags.exhaust ?? false,
          acceptsFindings: flags.acceptFindings ?? false,
          sample: sampleIn(flags),
          say: toStandardError,
          report: reporter(false, describeFinding, toStandardError),
          onPlace: removeWhenInterrupted,
          // Before anything is loaded: nobody could answer, or the answer would be looked for in the backup.
          onTarget: ({ present }) => {
            if (present === undefined || yes || dryRun) return;
            if (isInput)
              throw new CustosError(
                'INVALID_OPTION',
                `${REPLACES}, and nobody can answer while the backup comes from standard input: run it again with --yes (or --dry-run)`,
              );
            confirmation({ yes, dryRun }, REPLACES);
          },
          confirm: async (plan) => {
            for (const line of linesOf(plan.checked)) toStandardError(line);
            if (plan.isOther && yes && flags.anotherDeployment !== true)
              throw new CustosError(
                'INVALID_OPTION',
                `${describeOther(plan)} If you mean it, run it again with --another-deployment too; nothing was changed`,
              );
            if (plan.present !== undefined) return await ask(describePlan(plan, flags));
            toStandardError(describePlan(plan, flags));
            return !dryRun;
          },
        });
        if (restored === undefined) return leftAlone(dryRun);
        const { backup, target, kept } = restored;
        toStandardOutput(`restored ${describeBackup(backup)}, into ${target}`);
        if (kept !== undefined)
          toStandardError(`What was there before is kept as ${kept.place}. When you need it no more: ${kept.remove}`);
        const against = kept?.against === undefined ? '' : ` --against ${kept.against}`;
        toStandardError(
          `Start the service: it is fenced, so it answers queries and does nothing else. \`custos restore review${against}\` lists what to look at; \`custos restore accept\` lifts the fence.`,
        );
      })
  );
}

const REPLACES = 'this replaces the database';

function describePlan(plan: RestorePlan, { discard = false }: RestoreFlags): string {
  const { target, backup, present, isOther, writesRing, checked } = plan;
  const wrong = checked.findings === 0 ? 'everything in it verifies' : `${checked.findings} found wrong in it`;
  const what = `${describeBackup(backup)}; ${wrong}.`;
  const ring = writesRing === undefined ? '' : ` It writes the key ring of the backup to ${writesRing}.`;
  if (present === undefined) return `This restores into ${target}, which is empty: ${what}${ring}`;
  const last = present.lastAtMs === undefined ? '' : `, last changed at ${timeOf(present.lastAtMs)}`;
  const there = `organization ${present.organizationName ?? '?'} (${present.organizationId ?? '?'}), ${count(present.organizations, 'organization')} in all${last}`;
  const other = isOther ? ` ${describeOther(plan)}` : '';
  const rest = discard ? 'Nothing of it is kept.' : 'It is kept beside the new one.';
  return `This replaces ${target} (${there}) by ${what} What was done since then is not in it. ${rest}${ring}${other}`;
}

function describeOther({ backup, present }: RestorePlan): string {
  const { organizationId: there, organizationName } = present ?? {};
  const { organizationId: here, organizationName: name } = backup.described;
  return `THE BACKUP IS OF ANOTHER DEPLOYMENT: it began with organization ${name ?? '?'} (${here ?? '?'}), and the database with ${organizationName ?? '?'} (${there ?? '?'}).`;
}
