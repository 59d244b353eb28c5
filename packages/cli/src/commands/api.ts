import { readFileSync } from 'node:fs';
import { text as readText } from 'node:stream/consumers';
import { ActivityError, ActivityPendingError, type CustosClient, CustosError } from '@custos/sdk';
import { Command } from 'commander';
import { openService, type ServiceOptions } from '../credentials.ts';
import { explainAbsence } from '../fail.ts';
import { findOperation, type NamedOperation, OPERATION_LIST } from '../operations.ts';
import { describeOperation } from '../parameters-help.ts';

interface ApiOptions extends ServiceOptions {
  readonly parameters?: string;
  readonly organization?: string;
  readonly list?: boolean;
  readonly help?: boolean;
}

type Parameters = Record<string, unknown>;

/** The activity is stored and waits for others: neither done nor refused. */
const EXIT_PENDING = 3;

/** `custos api OPERATION`: any operation of the service. */
export function apiCommand(): Command {
  const command: Command = new Command('api')
    .description(
      'Call any operation of the service and print its answer as JSON. Exits with 0 when it is done, with 3 when it waits for approvals, with 1 when it is refused.',
    )
    .argument('[operation]', 'its name, such as create_wallet or createWallet')
    .option('--parameters <json>', 'parameters as JSON, @FILE to read a file, - to read standard input (default: {})')
    .option('--organization <id>', 'organization to act on, if it is not the one of the credentials')
    .option('--credentials <file>', 'credentials file (default: root-credentials.json in CUSTOS_DATA_DIR or ./data)')
    .option('--url <address>', 'address of the service, if it is not the one in the file')
    .option('--list', 'list every operation')
    .helpOption(false)
    .option('-h, --help', 'show help; with an operation, what it takes')
    .action(async (name: string | undefined, options: ApiOptions) => {
      if (options.list) return void process.stdout.write(listOperations());
      if (name === undefined) {
        if (options.help) return void process.stdout.write(command.helpInformation());
        throw new CustosError('INVALID_OPTION', 'which operation? `custos api --list` lists them all');
      }
      const operation = findOperation(name);
      const service = openService(options);
      if (options.help) return void process.stdout.write(await describeOperation(service.baseUrl, operation));
      await call(service.client, operation, await readParameters(options.parameters), options);
    });
  return command;
}

const listOperations = (): string =>
  OPERATION_LIST.map(({ kind, name, method }) => `${kind.padEnd(8)} ${name.padEnd(44)} ${method}\n`).join('');

async function call(
  client: CustosClient,
  { method, name, kind }: NamedOperation,
  { organizationId, ...parameters }: Parameters,
  { organization }: ApiOptions,
): Promise<void> {
  // A body that was copied whole has it among the parameters.
  const named = organization ?? (kind === 'query' && typeof organizationId === 'string' ? organizationId : undefined);
  const given = kind === 'query' || organizationId === undefined ? parameters : { ...parameters, organizationId };
  const run = client[method] as (parameters: Parameters, options: { organizationId?: string }) => Promise<unknown>;
  try {
    print(await run(given, named === undefined ? {} : { organizationId: named }));
  } catch (error) {
    if (!(error instanceof ActivityError)) throw explainAbsence(error);
    print({ activity: error.activity });
    if (!(error instanceof ActivityPendingError)) throw error;
    process.stderr.write(`custos: ${name} is not done: ${waitsFor(error)}\n`);
    process.exitCode = EXIT_PENDING;
  }
}

function waitsFor({ status, activity, fingerprint }: ActivityPendingError): string {
  if (status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') return `the activity ${activity.id} is ${status}`;
  return `activity ${activity.id} waits for approvals; somebody else approves it with: custos api approve_activity --organization ${activity.organizationId} --parameters '{"fingerprint":"${fingerprint}"}'`;
}

const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);

async function readParameters(option: string | undefined): Promise<Parameters> {
  if (option === undefined) return {};
  const [source, content] = await readSource(option);
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw new CustosError('INVALID_OPTION', `${source} is no JSON: ${(error as Error).message}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Parameters;
  throw new CustosError('INVALID_OPTION', `${source} must be a JSON object`);
}

async function readSource(option: string): Promise<readonly [source: string, content: string]> {
  if (option === '-') return ['standard input', await readText(process.stdin)];
  if (!option.startsWith('@')) return ['--parameters', option];
  const file = option.slice(1);
  try {
    return [file, readFileSync(file, 'utf8')];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CustosError(
      'INVALID_OPTION',
      `cannot read ${file}: ${code === 'ENOENT' ? 'there is no such file' : message}`,
    );
  }
}
