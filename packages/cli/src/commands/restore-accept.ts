import type { AcceptPlan } from '@custos/server/admin';
import { Command } from 'commander';
import { confirmation } from '../confirm.ts';
import { leftAlone } from '../rotate-service-key.ts';
import { plain, time } from '../unverified.ts';

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

interface AcceptFlags {
  readonly organization?: string;
  readonly send?: readonly string[];
  readonly holdUndecided?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** `custos restore accept`: lifts the fence of a restored database. Takes the service's own settings. */
export function acceptCommand(): Command {
  return new Command('accept')
    .description(
      'Lift the fence of a restored database, beside running services or without any: settle its sends by what their chains say, and let requests and work go on. Look at `custos restore review` first. If it is interrupted, run it again.',
    )
    .option('--organization <id>', 'accept it for this organization and its sub-organizations alone')
    .option(
      '--send <id=what...>',
      'your decision on a send that Custos cannot settle: ID=landed:HASH, ID=failed, or ID=resend to send it',
    )
    .option('--hold-undecided', 'accept although sends are undecided; those stay held until you decide')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'say what would be done, and change nothing')
    .allowExcessArguments(false)
    .action(async (flags: AcceptFlags) => {
      const { organization, send = [], holdUndecided = false, yes = false, dryRun = false } = flags;
      const ask = confirmation({ yes, dryRun }, 'this lets a restored service act again');
      // Loaded here: commands that only talk to a service must not wait for the whole of it to load.
      const { acceptRestored } = await import('@custos/server/admin');
      const accepted = await acceptRestored(process.env, {
        organizationId: organization,
        decisions: send,
        holdsUndecided: holdUndecided,
        say,
        confirm: (plan) => ask(describePlan(plan)),
      });
      if (accepted === undefined) return leftAlone(dryRun);
      const { settled, held, acceptedBy, organizationId } = accepted;
      const sends = `${count(settled, 'send')} settled${held > 0 ? `, ${held} held until you decide (--send)` : ''}`;
      const whom = organizationId === undefined ? 'all organizations' : `organization ${organizationId}`;
      process.stdout.write(
        acceptedBy === undefined
          ? `${sends}; the restore was accepted before\n`
          : `accepted for ${whom} by ${acceptedBy}; ${sends}\n`,
      );
      if (acceptedBy !== undefined)
        say('Running services follow within a second. What was issued before the restore is refused for ever.');
    });
}

function describePlan({ restorations, organization, sends, undecided, altered, processes }: AcceptPlan): string {
  const held = undecided === 0 ? '' : ` ${undecided} of them stay held, because nobody knows what became of them.`;
  const left =
    altered === 0
      ? ''
      : ` It leaves ${count(altered, 'altered send')} as they are: they do not go out, but one whose row is repaired after this may, although it landed since the backup. Repair them first (\`custos verify\` names their rows).`;
  const settles = `${sends === 0 ? 'No send is in question.' : `It settles ${count(sends, 'send')} by what their chains say.${held}`}${left}`;
  if (restorations.length === 0) return `The restore is accepted already. ${settles}`;
  const restored = restorations.map(
    ({ backupId, snapshotAtMs, restoredAtMs }) =>
      `restored ${time(restoredAtMs)} from backup ${plain(backupId)} of ${time(snapshotAtMs)}`,
  );
  const whom =
    organization === undefined
      ? 'every organization'
      : `organization ${organization.id} (${plain(organization.name)}) and its ${count(organization.subOrganizations, 'sub-organization')}`;
  const live =
    processes.length === 0
      ? 'No process is running.'
      : `${processes.join(', ')} ${processes.length === 1 ? 'follows' : 'follow'} within a second.`;
  return `The database was ${restored.join(', and before that ')}. Whatever happened in between is missing, unless you have brought it back. This accepts that for ${whom}: requests are decided again, and what waits goes out (sends, mails, webhooks). ${settles} ${live} There is no way back.`;
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
