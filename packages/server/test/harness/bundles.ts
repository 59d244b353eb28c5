import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHash,
  createHmac,
  createPublicKey,
  ECDH,
  verify,
} from 'node:crypto';
import type { TestClient } from './client.ts';

// What a client does with the bundles of imports and exports: HPKE of RFC 9180 in base mode, DHKEM(P-256, HKDF-SHA256),
// HKDF-SHA256, AES-256-GCM, written again here so that nothing is checked against itself.

const INFO = Buffer.from('turnkey_hpke');
const KEM = Buffer.from('KEM\x00\x10', 'latin1');
const HPKE = Buffer.from('HPKE\x00\x10\x00\x01\x00\x02', 'latin1');
const NOTHING = Buffer.alloc(0);
const TAG_BYTES = 16;

const hmac = (key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer =>
  createHmac('sha256', key).update(Buffer.concat(parts)).digest();
const labeled = (suite: Uint8Array, label: string): Buffer =>
  Buffer.concat([Buffer.from('HPKE-v1'), suite, Buffer.from(label)]);
const extract = (suite: Uint8Array, salt: Uint8Array, label: string, input: Uint8Array): Buffer =>
  hmac(salt, labeled(suite, label), input);
/** One block is enough for every length here. */
const expand = (suite: Uint8Array, key: Uint8Array, label: string, info: Uint8Array, length: number): Buffer =>
  hmac(key, Buffer.of(0, length), labeled(suite, label), info, Buffer.of(1)).subarray(0, length);

function schedule(own: ECDH, peer: Uint8Array, bothKeys: Uint8Array): { key: Buffer; nonce: Buffer } {
  const shared = expand(KEM, extract(KEM, NOTHING, 'eae_prk', own.computeSecret(peer)), 'shared_secret', bothKeys, 32);
  const context = Buffer.concat([
    Buffer.of(0),
    extract(HPKE, NOTHING, 'psk_id_hash', NOTHING),
    extract(HPKE, NOTHING, 'info_hash', INFO),
  ]);
  const secret = extract(HPKE, shared, 'secret', NOTHING);
  return { key: expand(HPKE, secret, 'key', context, 32), nonce: expand(HPKE, secret, 'base_nonce', context, 12) };
}

/** What a client sends to be imported: the plaintext, encrypted to an uncompressed key. */
export function encryptTo(targetPublicKey: string, plaintext: string | Uint8Array): string {
  const ephemeral = createECDH('prime256v1');
  const enc = ephemeral.generateKeys();
  const target = Buffer.from(targetPublicKey, 'hex');
  const bothKeys = Buffer.concat([enc, target]);
  const { key, nonce } = schedule(ephemeral, target, bothKeys);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bothKeys);
  const bytes = typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext;
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  return JSON.stringify({ encappedPublic: enc.toString('hex'), ciphertext: ciphertext.toString('hex') });
}

/** The receiver of exports. */
export class Receiver {
  readonly #key = createECDH('prime256v1');
  /** Uncompressed, as every public client sends it. */
  readonly publicKey = this.#key.generateKeys('hex');

  /** Opens a bundle that was signed for this organization; throws for any other. */
  open(bundle: string, organizationId: string): Buffer {
    const document = readSigned(bundle);
    if (document.organizationId !== organizationId) throw new Error('the bundle is for another organization');
    return this.#decrypt(
      Buffer.from(document.encappedPublic ?? '', 'hex'),
      Buffer.from(document.ciphertext ?? '', 'hex'),
    );
  }

  /** Opens a credential bundle: base58check of a compressed key and the ciphertext (protocol/bundles 2.1). */
  openCredential(bundle: string): Buffer {
    const bytes = fromBase58Check(bundle);
    const enc = ECDH.convertKey(bytes.subarray(0, 33), 'prime256v1', undefined, undefined, 'uncompressed') as Buffer;
    return this.#decrypt(enc, bytes.subarray(33));
  }

  #decrypt(enc: Buffer, ciphertext: Buffer): Buffer {
    const bothKeys = Buffer.concat([enc, this.#key.getPublicKey()]);
    const { key, nonce } = schedule(this.#key, enc, bothKeys);
    const tag = ciphertext.subarray(-TAG_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(bothKeys)
      .setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext.subarray(0, -TAG_BYTES)), decipher.final()]);
  }
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The bytes before the checksum; a wrong checksum throws. None of our bundles starts with a zero byte. */
function fromBase58Check(text: string): Buffer {
  const value = [...text].reduce((sum, letter) => sum * 58n + BigInt(BASE58.indexOf(letter)), 0n).toString(16);
  const bytes = Buffer.from(value.length % 2 === 0 ? value : `0${value}`, 'hex');
  const [payload, checksum] = [bytes.subarray(0, -4), bytes.subarray(-4)];
  const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest();
  if (!sha256(sha256(payload)).subarray(0, 4).equals(checksum)) throw new Error('the checksum is wrong');
  return payload;
}

/** What signed bundles hold. */
export interface SignedDocument {
  readonly organizationId?: string;
  readonly userId?: string;
  readonly targetPublic?: string;
  readonly encappedPublic?: string;
  readonly ciphertext?: string;
}

/** The document of a signed bundle; throws if the signature is not by the key that the bundle names. */
export function readSigned(bundle: string): SignedDocument {
  const { data, dataSignature, enclaveQuorumPublic } = JSON.parse(bundle);
  const bytes = Buffer.from(data, 'hex');
  const point = Buffer.from(enclaveQuorumPublic, 'hex');
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  if (!verify('sha256', bytes, key, Buffer.from(dataSignature, 'hex'))) throw new Error('the signature is wrong');
  return JSON.parse(bytes.toString('utf8'));
}

/** The key inside the answer of an init_import operation. */
export const targetOf = (bundle: string): string => readSigned(bundle).targetPublic as string;

/** Starts an import by this client's user and answers with the key to encrypt to. */
export async function newImportTarget(client: TestClient, kind: 'wallet' | 'private_key'): Promise<string> {
  return targetOf((await client.run(`init_import_${kind}`, { userId: client.userId })).importBundle);
}

/** Starts an import of secrets and answers with one key per secret. */
export async function newSecretTargets(client: TestClient, numSecrets = 1): Promise<string[]> {
  const { enclaveTargetMessages } = await client.run('init_import_secrets', {
    encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1',
    numSecrets,
  });
  return enclaveTargetMessages.map(targetOf);
}

/** A mnemonic and the Ethereum address at m/44'/60'/0'/0/0 that every other wallet gives it (protocol/wallets 3). */
export const KNOWN_WALLET = {
  mnemonic: `${'abandon '.repeat(11)}about`,
  address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
} as const;
