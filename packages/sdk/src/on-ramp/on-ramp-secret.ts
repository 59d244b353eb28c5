import { toBase58Check } from '../base58.ts';
import { seal } from '../bundle/hpke.ts';
import { encode } from '../bundle/seal-to.ts';
import { requireText } from '../bundle/signed-bundle.ts';
import { concat, fromHex } from '../bytes.ts';
import { CustosError } from '../errors.ts';
import { compress, invalidKey, uncompress } from '../p256.ts';
import { type ServiceKey, trustedKeys } from '../service-keys.ts';

/** What the service takes; base58 costs the square of its length. */
const SECRET_BYTES_MAX = 1920;

export interface SealOnRampSecretOptions {
  /** What the on-ramp provider gave the application: a secret key, or a private key as it came. */
  readonly secret: string;
  /** The `on-ramp-secret` key of the service, pinned. */
  readonly onRampSecretPublicKey?: string;
  /** What `fetchServiceKeys` answered, in place of a pinned key. */
  readonly serviceKeys?: readonly ServiceKey[];
}

/**
 * The `encryptedSecretApiKey` or `encryptedPrivateApiKey` of `createFiatOnRampCredential`, which only the keyring
 * opens.
 */
export async function sealOnRampSecret(options: SealOnRampSecretOptions): Promise<string> {
  const { secret, onRampSecretPublicKey, serviceKeys } = options;
  requireText('secret', secret);
  const plaintext = encode('the secret', secret);
  try {
    if (plaintext.length > SECRET_BYTES_MAX) {
      throw new CustosError('INVALID_OPTION', `the secret is longer than ${SECRET_BYTES_MAX} bytes`);
    }
    const name = 'onRampSecretPublicKey';
    const [receiver = ''] = trustedKeys('on-ramp-secret', name, onRampSecretPublicKey, serviceKeys);
    if (!/^0[23][0-9a-f]{64}$/.test(receiver)) {
      throw invalidKey(`${name} must be the compressed key of the service in lower-case hex, as it publishes it`);
    }
    const { enc, ciphertext } = await seal(uncompress(receiver), plaintext);
    return await toBase58Check(concat(fromHex(compress(enc)) ?? new Uint8Array(0), ciphertext));
  } finally {
    plaintext.fill(0);
  }
}
