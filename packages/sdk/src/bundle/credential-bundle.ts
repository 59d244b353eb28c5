import type { ApiKeyPair } from '../api-key.ts';
import { fromBase58Check } from '../base58.ts';
import { type Bytes, toHex } from '../bytes.ts';
import { BundleError } from '../errors.ts';
import { compress, uncompress } from '../p256.ts';
import { readAgreement } from './agreement.ts';
import { open } from './hpke.ts';
import { readUtf8 } from './signed-bundle.ts';

const POINT_BYTES = 33;
const KEY_BYTES = 32;

export interface OpenCredentialBundleOptions {
  /** `credentialBundle` of a result, or what stood in a message. */
  readonly credentialBundle: string;
  /** The private half of the `targetPublicKey` of the request. */
  readonly targetPrivateKey: string;
}

export interface OpenBearerTokenOptions {
  /** The `encrypted_bearer_token` of an OIDC token. */
  readonly bearerToken: string;
  /** The private half of the `bearerTokenTargetPublicKey` of the request. */
  readonly targetPrivateKey: string;
}

/**
 * Opens what `otpAuth`, `oauth` or `createReadWriteSession` answered, or what was mailed: a key for `ApiKeyStamper`.
 */
export async function openCredentialBundle(options: OpenCredentialBundleOptions): Promise<ApiKeyPair> {
  const plaintext = await openBundle(options.credentialBundle, options.targetPrivateKey);
  try {
    if (plaintext.length !== KEY_BYTES) throw new BundleError('content', 'the bundle does not hold a private key');
    const privateKey = toHex(plaintext);
    return { publicKey: compress((await readAgreement(privateKey)).publicKey), privateKey };
  } finally {
    plaintext.fill(0);
  }
}

/** The access token that `oauth2Authenticate` got from the provider, for calls to the provider. */
export async function openBearerToken({ bearerToken, targetPrivateKey }: OpenBearerTokenOptions): Promise<string> {
  const plaintext = await openBundle(bearerToken, targetPrivateKey);
  try {
    return readUtf8(plaintext, 'content', 'what the bundle holds');
  } finally {
    plaintext.fill(0);
  }
}

/** A compressed key and a ciphertext, in base58 with a checksum (protocol/bundles 2.1). */
async function openBundle(text: string, targetPrivateKey: string): Promise<Bytes> {
  const bytes = await fromBase58Check(text);
  if (bytes === undefined || bytes.length <= POINT_BYTES) {
    throw new BundleError('form', 'this is not a credential bundle');
  }
  const enc = pointOf(bytes.subarray(0, POINT_BYTES));
  return await open(await readAgreement(targetPrivateKey), { enc, ciphertext: bytes.slice(POINT_BYTES) });
}

function pointOf(compressed: Bytes): Bytes {
  try {
    return uncompress(toHex(compressed));
  } catch {
    throw new BundleError('key', 'the key in the bundle is not one of P-256');
  }
}
