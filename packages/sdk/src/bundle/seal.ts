import { CustosError } from '../errors.ts';
import type { ImportSecretsParameters } from '../generated/operations.ts';
import { hasMnemonicLength } from './mnemonic.ts';
import { encode, sealTo } from './seal-to.ts';
import { type BundleDocument, type BundleTrust, readSigned, requireText } from './signed-bundle.ts';

const KEY_BYTES = 32;
const PASSPHRASE_SEPARATOR = '\n--PASS--\n';

interface ImportOptions extends BundleTrust {
  /** What `initImportWallet` or `initImportPrivateKey` answered. */
  readonly importBundle: string;
  /** The user who imports. */
  readonly userId: string;
}

export interface SealMnemonicOptions extends ImportOptions {
  /** 12, 15, 18, 21 or 24 words with any white space between them. */
  readonly mnemonic: string;
  /** The passphrase of BIP-39, sometimes called the 25th word. */
  readonly passphrase?: string;
}

export interface SealPrivateKeyOptions extends ImportOptions {
  /** 32 bytes; for Ed25519 the seed. It is not wiped. */
  readonly privateKey: Uint8Array;
}

export interface SealSecretOptions extends BundleTrust {
  /** One of the `enclaveTargetMessages` that `initImportSecrets` answered. */
  readonly targetMessage: string;
  /** At most 64 KiB. Text is taken as UTF-8. */
  readonly secret: Uint8Array | string;
}

/** What `importSecrets` takes for each secret, beside its name. */
export type SealedSecret = Pick<
  ImportSecretsParameters['secrets'][number],
  'secretPayload' | 'targetPublicKey' | 'encryptionSuite'
>;

/** The `encryptedBundle` of `importWallet`, which only the keyring opens. */
export async function sealMnemonic(options: SealMnemonicOptions): Promise<string> {
  const { mnemonic, passphrase = '' } = options;
  const phrase = mnemonic.normalize('NFKD').trim().split(/\s+/u).join(' ');
  if (!hasMnemonicLength(phrase)) {
    throw new CustosError('INVALID_OPTION', 'the mnemonic must have 12, 15, 18, 21 or 24 words');
  }
  const text = passphrase === '' ? phrase : `${phrase}${PASSPHRASE_SEPARATOR}${passphrase}`;
  return (await sealTo(importTarget(options), encode('the passphrase', text))).payload;
}

/** The `encryptedBundle` of `importPrivateKey`, which only the keyring opens. */
export async function sealPrivateKey(options: SealPrivateKeyOptions): Promise<string> {
  const { privateKey } = options;
  if (privateKey.length !== KEY_BYTES) {
    throw new CustosError('INVALID_OPTION', `the private key must have ${KEY_BYTES} bytes`);
  }
  return (await sealTo(importTarget(options), new Uint8Array(privateKey))).payload;
}

/** One secret for `importSecrets`, which only the keyring opens. */
export async function sealSecret(options: SealSecretOptions): Promise<SealedSecret> {
  const { targetMessage, secret } = options;
  const plaintext = typeof secret === 'string' ? encode('the secret', secret) : new Uint8Array(secret);
  const { payload, targetPublicKey } = await sealTo(readSigned(targetMessage, options), plaintext);
  return {
    secretPayload: payload,
    targetPublicKey,
    encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1',
  };
}

async function importTarget(options: ImportOptions): Promise<BundleDocument> {
  const { importBundle, userId } = options;
  requireText('userId', userId);
  return await readSigned(importBundle, options, userId);
}
