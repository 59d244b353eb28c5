import { Command } from 'commander';

/** `custos init`: the first organization of a production database, without ever holding its private key. */
export function initCommand(): Command {
  return new Command('init')
    .description('Create the first organization. The service then creates none and writes no credentials.')
    .requiredOption('--organization <name>', 'name of the organization')
    .requiredOption('--public-key <hex>', 'P-256 public key of the first root user, compressed hex')
    .option('--user-name <name>', 'name of the first root user', 'Root user')
    .action(async (options: { organization: string; publicKey: string; userName: string }) => {
      // Loaded here: commands that only talk to a service must not wait for the whole of it to load.
      const { initialize, readProtection } = await import('@custos/server/admin');
      const created = await initialize(process.env, {
        organizationName: options.organization,
        userName: options.userName,
        publicKey: options.publicKey,
      });
      process.stdout.write(`${JSON.stringify(created, null, 2)}\n`);
      const { together, moves } = await readProtection(process.env);
      if (together.length === 0) return;
      const lines = [
        ...together.map((sentence) => `together    ${sentence}`),
        ...moves.map((move) => `before use  ${move}`),
      ];
      process.stderr.write(`${lines.join('\n')}\n`);
    });
}
