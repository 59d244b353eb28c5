import { ADDRESS_FORMATS, type AddressFormat, hasFormat } from '../address/index.ts';
import { CURVES, type Curve } from '../curve.ts';
import { invalid } from '../derive/check.ts';
import { MNEMONIC_LANGUAGES, type MnemonicLanguage } from '../derive/languages.ts';
import { effectivePath, formatPath, parsePath } from '../derive/path.ts';
import type { AccountSpec, Holder, SigningKey, SigningScheme } from '../keyring.ts';
import { checkBytes, PLAINTEXT_BYTES_MAX } from '../seal/layout.ts';
import { bytesOf, copyOf, listOf, membersOf, nameOf } from './shape.ts';

// What calls about wallets and private keys are given.

const ACCOUNTS_MAX = 10_000;
const FORMATS_MAX = 64;
const PAYLOADS_MAX = 1000;
/** A seed with the longest passphrase is far below, and a secret of 64 KiB with its frame as well. */
const SEALED_BYTES_MAX = 256 * 1024;

const SCHEMES: Readonly<Record<Curve, readonly SigningScheme[]>> = {
  CURVE_SECP256K1: ['ecdsa', 'schnorr', 'taproot'],
  CURVE_ED25519: ['eddsa'],
  CURVE_P256: ['ecdsa'],
};

/** An account that can be derived: its path is parsed, and its curve can have the format. */
export interface AccountPlan {
  readonly curve: Curve;
  readonly indices: readonly number[];
  readonly path: string;
  readonly pathKey: string;
  readonly addressFormat: AddressFormat;
}

export function checkHolder(holder: unknown): Holder {
  const { organizationKey, organizationId, ownerId } = membersOf<Holder>(holder, 'the holder');
  return {
    organizationKey: bytesOf(organizationKey, 'organizationKey'),
    organizationId: nameOf(organizationId, 'organizationId'),
    ownerId: nameOf(ownerId, 'ownerId'),
  };
}

export function checkSealed(sealed: unknown, name: string): Uint8Array {
  checkBytes(sealed, name);
  if (sealed.length > SEALED_BYTES_MAX) throw invalid(`${name} is longer than ${SEALED_BYTES_MAX} bytes`);
  return copyOf(sealed);
}

function checkCurve(curve: unknown): Curve {
  const known = CURVES.find((candidate) => candidate === curve);
  if (known === undefined) throw invalid('unknown curve');
  return known;
}

export function checkAccounts(accounts: unknown): AccountPlan[] {
  return listOf(accounts, 'accounts', 0, ACCOUNTS_MAX).map((account) => {
    const { curve, path, addressFormat } = membersOf<AccountSpec>(account, 'an account');
    const known = checkCurve(curve);
    const indices = parsePath(path as string);
    return {
      curve: known,
      indices,
      path: formatPath(indices),
      pathKey: effectivePath(known, path as string),
      addressFormat: checkFormat(known, addressFormat),
    };
  });
}

/** A curve, and formats that its keys can have. */
export function checkKeyFormats(curve: unknown, formats: unknown): [Curve, AddressFormat[]] {
  const known = checkCurve(curve);
  return [known, listOf(formats, 'addressFormats', 0, FORMATS_MAX).map((format) => checkFormat(known, format))];
}

export function checkWords(words: unknown): number {
  if (words !== 12 && words !== 15 && words !== 18 && words !== 21 && words !== 24) {
    throw invalid('a mnemonic has 12, 15, 18, 21 or 24 words');
  }
  return words;
}

export function checkLanguage(language: unknown): MnemonicLanguage | undefined {
  if (language === undefined) return undefined;
  const known = MNEMONIC_LANGUAGES.find((candidate) => candidate === language);
  if (known === undefined) throw invalid('unknown mnemonic language');
  return known;
}

export function checkSigningKey(key: unknown): SigningKey {
  const { kind, sealed, curve, path } = membersOf<{ kind: unknown; sealed: unknown; curve: unknown; path: unknown }>(
    key,
    'the key',
  );
  const common = { sealed: checkSealed(sealed, 'the sealed key'), curve: checkCurve(curve) };
  if (kind === 'private-key') return { kind, ...common };
  if (kind === 'wallet') return { kind, ...common, path: formatPath(parsePath(path as string)) };
  throw invalid('unknown kind of key');
}

/** A key, and a scheme of its curve. */
export function checkSigning(key: unknown, scheme: unknown): [SigningKey, SigningScheme] {
  const signing = checkSigningKey(key);
  const schemes = SCHEMES[signing.curve];
  const known = schemes.find((candidate) => candidate === scheme);
  if (known === undefined) throw invalid(`${signing.curve} signs with ${schemes.join(', ')}`);
  return [signing, known];
}

export function checkPayloads(payloads: unknown): Uint8Array[] {
  let length = 0;
  return listOf(payloads, 'payloads', 1, PAYLOADS_MAX).map((payload) => {
    checkBytes(payload, 'a payload');
    length += payload.length;
    if (length > PLAINTEXT_BYTES_MAX) throw invalid(`payloads are longer than ${PLAINTEXT_BYTES_MAX} bytes`);
    return copyOf(payload);
  });
}

/** Of whichever curve. */
export function checkFormatName(format: unknown): AddressFormat {
  const known = ADDRESS_FORMATS.find((candidate) => candidate === format);
  if (known === undefined) throw invalid('the address format is unknown');
  return known;
}

function checkFormat(curve: Curve, format: unknown): AddressFormat {
  const known = format as AddressFormat;
  if (!hasFormat(curve, known)) throw invalid(`the address format is unknown, or not one of ${curve}`);
  return known;
}
