import type { Bytes } from '../bytes.ts';
import { BundleError } from '../errors.ts';
import { readAgreement } from './agreement.ts';
import { open } from './hpke.ts';
import { hasMnemonicLength } from './mnemonic.ts';
import { type BundleTrust, readHex, readPoint, readSigned, readUtf8 } from './signed-bundle.ts';

const KEY_BYTES = 32;

export interface OpenBundleOptions extends BundleTrust {
  /** `exportBundle` of an export; of `exportSecrets` one of the `secretPayloads`. */
  readonly exportBundle: string;
  /** The private half of the key that the export was asked for. */
  readonly targetPrivateKey: string;
}

export interface OpenedWallet {
  /** Words with single spaces between them. */
  readonly mnemonic: string;
  /** Empty when there is none. */
  readonly passphrase: string;
}

/** Opens what `exportWallet` answered. */
export async function openWalletBundle(options: OpenBundleOptions): Promise<OpenedWallet> {
  const plaintext = await openBundle(options);
  try {
    const text = readUtf8(plaintext, 'content', 'what the bundle holds');
    const end = text.indexOf('\n');
    const mnemonic = end < 0 ? text : text.slice(0, end);
    if (!hasMnemonicLength(mnemonic)) throw new BundleError('content', 'the bundle does not hold a mnemonic');
    return { mnemonic, passphrase: end < 0 ? '' : text.slice(end + 1) };
  } finally {
    plaintext.fill(0);
  }
}

/** Opens what `exportWalletAccount` or `exportPrivateKey` answered: 32 bytes, for Ed25519 the seed. Wipe them. */
export async function openKeyBundle(options: OpenBundleOptions): Promise<Uint8Array> {
  const plaintext = await openBundle(options);
  if (plaintext.length === KEY_BYTES) return plaintext;
  plaintext.fill(0);
  throw new BundleError('content', 'the bundle does not hold a private key');
}

/** Opens one of the `secretPayloads` that `exportSecrets` answered. */
export async function openSecretBundle(options: OpenBundleOptions): Promise<Uint8Array> {
  return await openBundle(options);
}

/** The private key is not touched before the bundle has passed. */
async function openBundle(options: OpenBundleOptions): Promise<Bytes> {
  const document = await readSigned(options.exportBundle, options);
  const enc = readPoint(document, 'encappedPublic');
  const ciphertext = readHex(document.ciphertext, 'ciphertext');
  return await open(await readAgreement(options.targetPrivateKey), { enc, ciphertext });
}
