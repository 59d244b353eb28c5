import { createRequire } from 'node:module';
import { Command } from 'commander';
import { activitiesCommand } from './commands/activities.ts';
import { apiCommand } from './commands/api.ts';
import { backupCommand } from './commands/backup.ts';
import { chainsCommand } from './commands/chains.ts';
import { consoleCommand } from './commands/console.ts';
import { describeCommand } from './commands/describe.ts';
import { drillCommand } from './commands/drill.ts';
import { initCommand } from './commands/init.ts';
import { integrityCommand } from './commands/integrity.ts';
import { keyringCommand } from './commands/keyring.ts';
import { policyCommand } from './commands/policy.ts';
import { recoveryCommand } from './commands/recovery.ts';
import { recoveryKitCommand } from './commands/recovery-kit.ts';
import { restoreCommand } from './commands/restore.ts';
import { statusCommand } from './commands/status.ts';
import { verifyCommand } from './commands/verify.ts';
import { webhooksCommand } from './commands/webhooks.ts';
import { whoamiCommand } from './commands/whoami.ts';
import { fail } from './fail.ts';

// Whatever this process writes is for its own user alone.
process.umask(0o077);

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
const program = new Command('custos')
  .description('Operate a Custos service.')
  .version(version)
  .showHelpAfterError()
  // `custos restore accept --yes`: what stands behind the name of a command is for that one, also where those above it have an
  // option of the same name. Commander takes it so only if each of them says so.
  .enablePositionalOptions();
program.addCommand(activitiesCommand());
program.addCommand(apiCommand());
program.addCommand(backupCommand());
program.addCommand(chainsCommand());
program.addCommand(consoleCommand());
program.addCommand(describeCommand());
program.addCommand(drillCommand());
program.addCommand(initCommand());
program.addCommand(integrityCommand());
program.addCommand(keyringCommand());
program.addCommand(policyCommand());
program.addCommand(restoreCommand());
program.addCommand(recoveryKitCommand());
program.addCommand(recoveryCommand());
program.addCommand(statusCommand());
program.addCommand(verifyCommand());
program.addCommand(webhooksCommand());
program.addCommand(whoamiCommand());

program.parseAsync(process.argv).catch((error: unknown) => fail(error));
