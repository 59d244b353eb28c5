import { Command } from 'commander';
import { initCommand } from './commands/init.ts';
import { whoamiCommand } from './commands/whoami.ts';
import { fail } from './fail.ts';

const program = new Command('custos').description('Operate a Custos service.').showHelpAfterError();
program.addCommand(initCommand());
program.addCommand(whoamiCommand());

program.parseAsync(process.argv).catch(fail);
