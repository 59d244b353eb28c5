import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiKeyStamper, type CustosClient, createClient } from '@custos/sdk';

export interface RootAccess {
  readonly client: CustosClient;
  readonly baseUrl: string;
  readonly organizationId: string;
}

/** A client of the first root user: the file is the argument, or lies in CUSTOS_DATA_DIR, or in ./data. */
export function rootAccess(): RootAccess {
  const file = process.argv[2] ?? join(process.env.CUSTOS_DATA_DIR ?? './data', 'root-credentials.json');
  const { baseUrl, organizationId, apiPublicKey, apiPrivateKey } = JSON.parse(readFileSync(file, 'utf8')) as Record<
    'baseUrl' | 'organizationId' | 'apiPublicKey' | 'apiPrivateKey',
    string
  >;
  const stamper = new ApiKeyStamper({ publicKey: apiPublicKey, privateKey: apiPrivateKey });
  return { client: createClient({ baseUrl, organizationId, stamper }), baseUrl, organizationId };
}
