import { Command } from 'commander';
import { initCommand } from './commands/init.ts';
import { fail } from './fail.ts';

const program = new Command('custos').description('Operate a Custos service.').showHelpAfterError();
program.addCommand(initCommand());

program.parseAsync(process.argv).catch(fail);
