import { createECDH } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What the first start writes for whoever runs the service. */
export interface RootCredentials {
  readonly baseUrl: string;
  readonly authProxyUrl: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly apiPublicKey: string;
  readonly apiPrivateKey: string;
  readonly authProxyConfigId: string;
}

export const credentialsPath = (dataDir: string): string => join(dataDir, 'root-credentials.json');

/** A fresh P-256 key pair in the hex form that the public SDKs take. */
export function newApiKeyPair(): { readonly publicKey: string; readonly privateKey: string } {
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys('hex', 'compressed');
  return { publicKey, privateKey: ecdh.getPrivateKey('hex').padStart(64, '0') };
}

/** Writes the file whole and synced. A file of another organization is moved aside, never overwritten. */
export function writeCredentials(dataDir: string, credentials: RootCredentials): void {
  const path = credentialsPath(dataDir);
  if (existsSync(path)) renameSync(path, join(dataDir, `root-credentials-${organizationIn(path)}.json`));
  const temporary = `${path}.${process.pid}.tmp`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(credentials, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  const folder = openSync(dataDir, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function organizationIn(path: string): string {
  try {
    const { organizationId } = JSON.parse(readFileSync(path, 'utf8')) as Partial<RootCredentials>;
    if (typeof organizationId === 'string' && /^[0-9a-f-]{36}$/.test(organizationId)) return organizationId;
  } catch {
    // An unreadable file is moved aside all the same.
  }
  return `before-${Date.now()}`;
}
