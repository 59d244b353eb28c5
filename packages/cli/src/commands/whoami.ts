import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiKeyStamper, CustosError, createClient, NetworkError } from '@custos/sdk';
import { Command } from 'commander';

/** What the command reads of root-credentials.json. */
interface Credentials {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly apiPublicKey: string;
  readonly apiPrivateKey: string;
}

const FIELDS = ['baseUrl', 'organizationId', 'apiPublicKey', 'apiPrivateKey'] as const;

/** `custos whoami`: shows that the service answers, and to whom. */
export function whoamiCommand(): Command {
  return new Command('whoami')
    .description('Ask the service which user and organization the credentials belong to.')
    .option('--credentials <file>', 'credentials file (default: root-credentials.json in CUSTOS_DATA_DIR or ./data)')
    .option('--url <address>', 'address of the service, if it is not the one in the file')
    .action(async (options: { credentials?: string; url?: string }) => {
      const file = options.credentials ?? join(process.env.CUSTOS_DATA_DIR || './data', 'root-credentials.json');
      const { baseUrl, organizationId, apiPublicKey, apiPrivateKey } = readCredentials(file);
      const client = createClient({
        baseUrl: options.url ?? baseUrl,
        organizationId,
        stamper: new ApiKeyStamper({ publicKey: apiPublicKey, privateKey: apiPrivateKey }),
      });
      const answer = await client.whoami().catch(explain);
      process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
    });
}

function readCredentials(file: string): Credentials {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : (code ?? 'it cannot be read');
    throw refuse(`no credentials in ${file}: ${reason} (\`npm start\` writes it; --credentials names another)`);
  }
  const credentials = parse(text);
  for (const field of FIELDS) {
    if (typeof credentials[field] !== 'string') throw refuse(`${file} is not a credentials file: no ${field}`);
  }
  return credentials as unknown as Credentials;
}

function parse(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const refuse = (message: string): CustosError => new CustosError('INVALID_OPTION', message);

function explain(error: unknown): never {
  if (!(error instanceof NetworkError)) throw error;
  throw new CustosError(error.code, `${error.message} (is the service running? \`npm start\` starts it)`);
}
