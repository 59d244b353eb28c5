import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiKeyStamper, type CustosClient, CustosError, createClient } from '@custos/sdk';

/** Where a command finds the service, and as whom it asks. */
export interface ServiceOptions {
  readonly credentials?: string;
  readonly url?: string;
}

/** What is read of root-credentials.json. */
interface Credentials {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly apiPublicKey: string;
  readonly apiPrivateKey: string;
}

const FIELDS = ['baseUrl', 'organizationId', 'apiPublicKey', 'apiPrivateKey'] as const;

/** A client with the credentials of the options, or with those that the first start wrote. */
export function openService(options: ServiceOptions): {
  readonly client: CustosClient;
  readonly organizationId: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly stamper: ApiKeyStamper;
} {
  const file = options.credentials ?? join(process.env.CUSTOS_DATA_DIR || './data', 'root-credentials.json');
  const { organizationId, apiPublicKey, apiPrivateKey, ...named } = readCredentials(file);
  const stamper = new ApiKeyStamper({ publicKey: apiPublicKey, privateKey: apiPrivateKey });
  const baseUrl = (options.url ?? named.baseUrl).replace(/\/+$/, '');
  const client = createClient({
    baseUrl,
    organizationId,
    stamper,
    // Somebody waits at a terminal to hear that the service is not there.
    retryAttempts: 1,
  });
  return { client, organizationId, baseUrl, stamper };
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
