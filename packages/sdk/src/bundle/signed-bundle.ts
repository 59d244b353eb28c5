import { type Bytes, fromHex } from '../bytes.ts';
import { BundleError, CustosError } from '../errors.ts';
import { importPublicKey, invalidKey, readPublicKey, verifyDer } from '../p256.ts';

const VERSION = 'v1.0.0';
const UNCOMPRESSED = /^04[0-9a-f]{128}$/;

export type BundleDocument = Readonly<Record<string, unknown>>;

/** What every bundle of the service is checked against. */
export interface BundleTrust {
  /** The organization that the bundle has to be for. */
  readonly organizationId: string;
  /**
   * The `bundle-signer` of `fetchServiceKeys`, as it is spelled there. Pin it in your application: who fetches it each
   * time over the connection that brings the bundle trusts that connection with the keys. Several while the service
   * replaces its key.
   */
  readonly bundleSigner: string | readonly string[];
}

/**
 * The document in a bundle that the service signed, after every check of the envelope and of whom it is for. Of two
 * spellings of the same bytes only the service's own, in lower case, is taken.
 */
export async function readSigned(
  bundle: string,
  { bundleSigner, organizationId }: BundleTrust,
  userId?: string,
): Promise<BundleDocument> {
  requireText('organizationId', organizationId);
  const signers: readonly string[] = Array.isArray(bundleSigner) ? bundleSigner : [bundleSigner];
  const document = await readSignedBy(signers, 'bundleSigner', bundle);
  if (document.organizationId !== organizationId) {
    throw new BundleError('organization', 'the bundle is for another organization');
  }
  if (userId !== undefined && document.userId !== userId) {
    throw new BundleError('user', 'the bundle is for another user');
  }
  return document;
}

/** The document in a bundle that one of these keys signed. `name` is what the caller calls them. */
export async function readSignedBy(signers: readonly string[], name: string, bundle: string): Promise<BundleDocument> {
  for (const signer of signers) requireUncompressed(name, signer);
  const envelope = parseObject(bundle, 'the bundle');
  if (envelope.version !== VERSION) throw new BundleError('version', `the version of the bundle is not ${VERSION}`);
  const signer = signers.find((known) => known === envelope.enclaveQuorumPublic);
  if (signer === undefined) throw new BundleError('signer', `the bundle names another signer than ${name}`);
  const data = readHex(envelope.data, 'data');
  const signature = readHex(envelope.dataSignature, 'dataSignature');
  if (!(await verifyDer(await importPublicKey(readPublicKey(signer)), signature, data))) {
    throw new BundleError('signature', `the signature of the bundle is not by ${name} over its data`);
  }
  return parseObject(readUtf8(data, 'form', 'the data of the bundle'), 'the data of the bundle');
}

/** A key of the service in the spelling that it publishes, which is what bundles are compared with. */
export function requireUncompressed(name: string, key: unknown): void {
  if (typeof key !== 'string' || !UNCOMPRESSED.test(key)) {
    throw invalidKey(`${name} must be the uncompressed key of the service in lower-case hex, as it publishes it`);
  }
  readPublicKey(key);
}

/** The uncompressed key in a member of a document. */
export function readPoint(document: BundleDocument, member: string): Bytes {
  const text = document[member];
  try {
    if (typeof text === 'string' && UNCOMPRESSED.test(text) && readPublicKey(text)) return fromHex(text) as Bytes;
  } catch {
    // Not on the curve.
  }
  throw new BundleError('key', `${member} in the bundle is not an uncompressed P-256 key`);
}

export function readHex(text: unknown, member: string): Bytes {
  const bytes = typeof text === 'string' && text === text.toLowerCase() ? fromHex(text) : undefined;
  if (bytes === undefined) throw new BundleError('form', `${member} in the bundle is not lower-case hex`);
  return bytes;
}

/** Text from UTF-8 that is exactly that. */
export function readUtf8(bytes: Uint8Array, check: 'form' | 'content', name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new BundleError(check, `${name} is not UTF-8`);
  }
}

/** A caller without types could leave it out, and what is absent on both sides would count as equal. */
export function requireText(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  throw new CustosError('INVALID_OPTION', `${name} must be a text that is not empty`);
}

function parseObject(text: string, name: string): BundleDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Refused below.
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as BundleDocument;
  throw new BundleError('form', `${name} is not a JSON object`);
}
