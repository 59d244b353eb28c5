import { type Agreement, agree, newAgreement } from '../bundle/agreement.ts';
import { encode } from '../bundle/seal-to.ts';
import { requireText, requireUncompressed } from '../bundle/signed-bundle.ts';
import { type Bytes, concat, fromHex, toHex, toUtf8 } from '../bytes.ts';
import { type ServiceKey, trustedKeys } from '../service-keys.ts';

const NONCE_BYTES = 12;
const POINT_BYTES = 65;
const HMAC = { name: 'HMAC', hash: 'SHA-512' } as const;
const HMAC_MESSAGE = toUtf8('qos_encryption_hmac_message');

export interface SealClientSecretOptions {
  /** What the provider of OAuth 2.0 gave the application. */
  readonly clientSecret: string;
  /** The `oauth-secret` key of the service, pinned. */
  readonly oauthSecretPublicKey?: string;
  /** What `fetchServiceKeys` answered, in place of a pinned key. */
  readonly serviceKeys?: readonly ServiceKey[];
}

/** The `encryptedClientSecret` of `createOauth2Credential`, which only the keyring opens. */
export async function sealClientSecret(options: SealClientSecretOptions): Promise<string> {
  const { clientSecret, oauthSecretPublicKey, serviceKeys } = options;
  requireText('clientSecret', clientSecret);
  const plaintext = encode('the client secret', clientSecret);
  const name = 'oauthSecretPublicKey';
  const [receiver = ''] = trustedKeys('oauth-secret', name, oauthSecretPublicKey, serviceKeys);
  requireUncompressed(name, receiver);
  try {
    return toHex(await sealEnvelope(fromHex(receiver) as Bytes, plaintext));
  } finally {
    plaintext.fill(0);
  }
}

/** protocol/bundles 4.1 and 4.2. The ephemeral key and the nonce are for published vectors. */
export async function sealEnvelope(
  receiver: Bytes,
  plaintext: Bytes,
  ephemeral?: Agreement,
  nonce: Bytes = globalThis.crypto.getRandomValues(new Uint8Array(NONCE_BYTES)),
): Promise<Bytes> {
  const own = ephemeral ?? (await newAgreement());
  const { subtle } = globalThis.crypto;
  const shared = await agree(own, receiver);
  const preMaster = concat(own.publicKey, receiver, shared);
  const master = new Uint8Array(
    await subtle.sign(HMAC, await subtle.importKey('raw', preMaster, HMAC, false, ['sign']), HMAC_MESSAGE),
  );
  const key = await subtle.importKey('raw', master.subarray(0, 32), 'AES-GCM', false, ['encrypt']);
  for (const bytes of [shared, preMaster, master]) bytes.fill(0);
  const length = Uint8Array.of(POINT_BYTES);
  const additionalData = concat(own.publicKey, length, receiver, length);
  const ciphertext = new Uint8Array(
    await subtle.encrypt({ name: 'AES-GCM', iv: nonce, additionalData }, key, plaintext),
  );
  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, ciphertext.length, true);
  return concat(nonce, own.publicKey, size, ciphertext);
}
