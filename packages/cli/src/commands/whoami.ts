import { Command } from 'commander';
import { openService, type ServiceOptions } from '../credentials.ts';
import { explainAbsence } from '../fail.ts';

/** `custos whoami`: shows that the service answers, and to whom. */
export function whoamiCommand(): Command {
  return new Command('whoami')
    .description('Ask the service which user and organization the credentials belong to.')
    .option('--credentials <file>', 'credentials file (default: root-credentials.json in CUSTOS_DATA_DIR or ./data)')
    .option('--url <address>', 'address of the service, if it is not the one in the file')
    .action(async (options: ServiceOptions) => {
      const { client } = openService(options);
      const answer = await client.whoami().catch((error: unknown) => {
        throw explainAbsence(error);
      });
      process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
    });
}
