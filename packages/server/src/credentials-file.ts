import { createECDH, createPrivateKey, sign } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
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

const FILE_BYTES_MAX = 65_536;

export const credentialsPath = (dataDir: string): string => join(dataDir, 'root-credentials.json');

/** That file, and those of other organizations that were moved aside, as far as they are there. */
export function credentialsFiles(dataDir: string): string[] {
  try {
    const names = readdirSync(dataDir).filter((name) => /^root-credentials(-.+)?\.json$/.test(name));
    return names.sort().map((name) => join(dataDir, name));
  } catch {
    return [];
  }
}

/** A fresh P-256 key pair in the hex form that the public SDKs take. */
export function newApiKeyPair(): { readonly publicKey: string; readonly privateKey: string } {
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys('hex', 'compressed');
  return { publicKey, privateKey: ecdh.getPrivateKey('hex').padStart(64, '0') };
}

/** Writes the file whole and synced. A file of another organization is moved aside, never overwritten. */
export function writeCredentials(dataDir: string, credentials: RootCredentials): void {
  const path = credentialsPath(dataDir);
  const isAnothers = existsSync(path) && organizationIn(path) !== credentials.organizationId;
  if (isAnothers) renameSync(path, join(dataDir, `root-credentials-${organizationIn(path)}.json`));
  const temporary = `${path}.${process.pid}.tmp`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(credentials, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncFolder(dataDir);
}

/** What the file says; undefined where there is none, or none that could be used. */
export function readCredentials(dataDir: string): RootCredentials | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readOwnFile(credentialsPath(dataDir)));
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { organizationId, userId, apiPublicKey, apiPrivateKey } = value as Partial<Record<string, unknown>>;
  const isUsable =
    isId(organizationId) &&
    isId(userId) &&
    typeof apiPublicKey === 'string' &&
    /^0[23][0-9a-f]{64}$/.test(apiPublicKey) &&
    typeof apiPrivateKey === 'string' &&
    /^[0-9a-f]{64}$/.test(apiPrivateKey);
  return isUsable ? (value as RootCredentials) : undefined;
}

/** Whether something stands in the place of the file that this service would neither read nor delete. */
export function isForeignFile(dataDir: string): boolean {
  try {
    return !isOwnFile(lstatSync(credentialsPath(dataDir)));
  } catch {
    return false;
  }
}

/** Deletes the name alone: a link that somebody put there meanwhile is not followed. */
export function deleteCredentials(dataDir: string): void {
  unlinkSync(credentialsPath(dataDir));
  syncFolder(dataDir);
}

/** A regular file that belongs to who runs the service. A link, or a file of somebody else, would say who signs in. */
function isOwnFile(stats: Stats): boolean {
  const ownId = process.geteuid?.();
  return stats.isFile() && (ownId === undefined || stats.uid === ownId);
}

function readOwnFile(path: string): string {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!isOwnFile(stats) || stats.size > FILE_BYTES_MAX) throw new Error(`${path} is not a file of this service`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** The X-Stamp of a body, with the file's key (protocol/stamps 2.1). */
export function stampWith({ apiPublicKey, apiPrivateKey }: RootCredentials, body: Uint8Array): string {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(apiPrivateKey, 'hex');
  const point = ecdh.getPublicKey();
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: Buffer.from(apiPrivateKey, 'hex').toString('base64url'),
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  });
  const signature = sign('sha256', body, key).toString('hex');
  const stamp = { publicKey: apiPublicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature };
  return Buffer.from(JSON.stringify(stamp)).toString('base64url');
}

function syncFolder(dataDir: string): void {
  const folder = openSync(dataDir, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value);

function organizationIn(path: string): string {
  try {
    const { organizationId } = JSON.parse(readFileSync(path, 'utf8')) as Partial<RootCredentials>;
    if (isId(organizationId)) return organizationId;
  } catch {
    // An unreadable file is moved aside all the same.
  }
  return `before-${Date.now()}`;
}
