import { Command } from 'commander';
import { leftAlone, rotateServiceKey } from '../rotate-service-key.ts';

/** `custos webhooks`: care of what webhook deliveries are signed with. Takes the service's own settings. */
export function webhooksCommand(): Command {
  return new Command('webhooks')
    .description('Change the key that webhook deliveries are signed with. Uses the settings of the service.')
    .addCommand(rotateKeyCommand());
}

interface RotateFlags {
  readonly compromised?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

function rotateKeyCommand(): Command {
  return new Command('rotate-key')
    .description(
      'Publish a new signing key while the service runs. It signs 15 minutes later, when every cache of the key set must have it; the old one is published for another day.',
    )
    .option(
      '--compromised',
      'sign with the new key five seconds later and destroy all others; if it is interrupted, run it again',
    )
    .option('--yes', 'do not ask before keys are destroyed')
    .option('--dry-run', 'say what would be done, and change nothing')
    .action(async ({ compromised = false, yes = false, dryRun = false }: RotateFlags) => {
      const rotated = await rotateServiceKey('webhook-signer', { compromised, yes, dryRun });
      if (rotated === undefined) return leftAlone(dryRun);
      const { keyId, signsFromMs, removed } = rotated;
      const gone = removed.length === 0 ? '' : `; destroyed ${removed.join(', ')}`;
      process.stdout.write(
        `published webhook key ${keyId}; it signs from ${new Date(signsFromMs).toISOString()}${gone}\n`,
      );
    });
}
