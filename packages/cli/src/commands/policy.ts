import { Command, type CommanderError, InvalidArgumentError } from 'commander';

/** `custos policy`: what policies decide, found out before anybody relies on them. */
export function policyCommand(): Command {
  return new Command('policy')
    .description('Test policies without a service, or look for policies that do not do what they seem to.')
    .addCommand(testCommand())
    .addCommand(lintCommand());
}

interface TestOptions {
  readonly json?: boolean;
  readonly coverageMin?: number;
}

function testCommand(): Command {
  return new Command('test')
    .description(
      'Run policy tests from files, without a service (docs/guides/testing-policies.md). Exit code 1 if a case fails, 2 if ' +
        'a file is wrong.',
    )
    .argument('<file...>', 'files of policies and cases, in JSON with comments')
    .option('--json', 'print the results as JSON, with the whole decision of each case')
    .option('--coverage-min <percent>', 'fail if fewer sub-expressions were both true and false', percent)
    .exitOverride(misuse)
    .action(async (files: readonly string[], options: TestOptions) => {
      // Loaded here: other commands must not wait for every parser of transactions.
      const { testPolicies } = await import('../policy/test-command.ts');
      process.exitCode = testPolicies(files, options);
    });
}

interface LintOptions {
  readonly json?: boolean;
  readonly credentials?: string;
  readonly url?: string;
}

function lintCommand(): Command {
  return new Command('lint')
    .description(
      'Find policies that never match, always fail, are shadowed or can be bypassed: in files, or without a file in the ' +
        'organization of the credentials. Exit code 1 if anything is found, 2 if the policies cannot be read.',
    )
    .argument('[file...]', 'test files, lists of policies or answers of list_policies')
    .option('--json', 'print the findings as JSON')
    .option('--credentials <file>', 'credentials file (default: root-credentials.json in CUSTOS_DATA_DIR or ./data)')
    .option('--url <address>', 'address of the service, if it is not the one in the file')
    .exitOverride(misuse)
    .action(async (files: readonly string[], options: LintOptions) => {
      const { lintFiles, lintService } = await import('../policy/lint-command.ts');
      process.exitCode = files.length === 0 ? await lintService(options) : lintFiles(files, options);
    });
}

/** Exit code 1 is for what the policies do, so a wrong command line is a 2. */
function misuse({ exitCode }: CommanderError): void {
  process.exit(exitCode === 0 ? 0 : 2);
}

function percent(text: string): number {
  const value = /^[0-9]{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 100) return value;
  throw new InvalidArgumentError('It must be a whole number from 0 to 100.');
}
