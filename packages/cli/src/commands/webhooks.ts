import { Command } from 'commander';

/** `custos webhooks`: care of what webhook deliveries are signed with. Takes the service's own settings. */
export function webhooksCommand(): Command {
  return new Command('webhooks')
    .description('Change the key that webhook deliveries are signed with. Uses the settings of the service.')
    .addCommand(rotateKeyCommand());
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
    .action(async ({ compromised = false }: { compromised?: boolean }) => {
      // Loaded here: commands that only talk to a service must not wait for the whole of it to load.
      const { rotateWebhookSigner } = await import('@custos/server/admin');
      const { keyId, signsFromMs, removed } = await rotateWebhookSigner(process.env, {
        isCompromised: compromised,
        say: (line) => process.stderr.write(`${line}\n`),
      });
      const gone = removed.length === 0 ? '' : `; destroyed ${removed.join(', ')}`;
      process.stdout.write(
        `published webhook key ${keyId}; it signs from ${new Date(signsFromMs).toISOString()}${gone}\n`,
      );
    });
}
