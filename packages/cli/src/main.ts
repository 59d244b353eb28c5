import { createRequire } from 'node:module';
import { Command } from 'commander';
import { activitiesCommand } from './commands/activities.ts';
import { apiCommand } from './commands/api.ts';
import { chainsCommand } from './commands/chains.ts';
import { consoleCommand } from './commands/console.ts';
import { describeCommand } from './commands/describe.ts';
import { initCommand } from './commands/init.ts';
import { keyringCommand } from './commands/keyring.ts';
import { policyCommand } from './commands/policy.ts';
import { webhooksCommand } from './commands/webhooks.ts';
import { whoamiCommand } from './commands/whoami.ts';
import { fail } from './fail.ts';

// Whatever this process writes is for its own user alone.
process.umask(0o077);

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
const program = new Command('custos').description('Operate a Custos service.').version(version).showHelpAfterError();
program.addCommand(activitiesCommand());
program.addCommand(apiCommand());
program.addCommand(chainsCommand());
program.addCommand(consoleCommand());
program.addCommand(describeCommand());
program.addCommand(initCommand());
program.addCommand(keyringCommand());
program.addCommand(policyCommand());
program.addCommand(webhooksCommand());
program.addCommand(whoamiCommand());

program.parseAsync(process.argv).catch(fail);
