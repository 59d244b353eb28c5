import { type AddressFormat, hasFormat } from './address/index.ts';
import { CURVES, type Curve } from './curve.ts';
import { invalid } from './derive/check.ts';
import { effectivePath } from './derive/derive.ts';
import { MNEMONIC_LANGUAGES, type MnemonicLanguage } from './derive/mnemonic.ts';
import { formatPath, parsePath } from './derive/path.ts';
import {
  type AccountSpec,
  type Holder,
  SERVICE_ROLES,
  type SealedServiceKey,
  type SealedTarget,
  type ServiceRole,
  type SigningKey,
  type SigningScheme,
  type StoredSecret,
} from './keyring.ts';
import { checkBytes, checkName, PLAINTEXT_BYTES_MAX } from './seal/layout.ts';

// The arguments of the keyring, whatever came in their place. Answers are checked copies, so that what was checked is
// what is used, also when the caller changes its object or its bytes meanwhile.

const ACCOUNTS_MAX = 10_000;
const FORMATS_MAX = 64;
const PAYLOADS_MAX = 1000;
const TARGETS_MAX = 64;
const SECRET_TARGETS_MAX = 256;
const SERVICE_KEYS_MAX = 64;
const STORED_SECRETS_MAX = 1000;
const BUNDLE_LENGTH_MAX = 256 * 1024;
const PROOF_LENGTH_MAX = 1024 * 1024;
/** A seed with the longest passphrase is far below, and a secret of 64 KiB with its frame as well. */
const SEALED_BYTES_MAX = 256 * 1024;

const LONE_SURROGATE = /\p{Surrogate}/u;

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
  checkBytes(organizationKey, 'organizationKey');
  checkName(organizationId, 'organizationId');
  checkName(ownerId, 'ownerId');
  return { organizationKey: copyOf(organizationKey), organizationId, ownerId };
}

export function checkSealed(sealed: unknown, name: string): Uint8Array {
  checkBytes(sealed, name);
  if (sealed.length > SEALED_BYTES_MAX) throw invalid(`${name} is longer than ${SEALED_BYTES_MAX} bytes`);
  return copyOf(sealed);
}

export function checkCurve(curve: unknown): Curve {
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

export function checkFormats(curve: Curve, formats: unknown): AddressFormat[] {
  return listOf(formats, 'addressFormats', 0, FORMATS_MAX).map((format) => checkFormat(curve, format));
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

export function checkScheme(scheme: unknown, curve: Curve): SigningScheme {
  const known = SCHEMES[curve].find((candidate) => candidate === scheme);
  if (known === undefined) throw invalid(`${curve} signs with ${SCHEMES[curve].join(', ')}`);
  return known;
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

export function checkTarget(target: unknown): SealedTarget {
  const { id, sealed } = membersOf<SealedTarget>(target, 'a target');
  checkName(id, 'the id of a target');
  return { id, sealed: checkSealed(sealed, 'a sealed target') };
}

export function checkTargets(targets: unknown): SealedTarget[] {
  return listOf(targets, 'targets', 0, TARGETS_MAX).map(checkTarget);
}

export function checkTargetCount(count: unknown): number {
  if (!Number.isInteger(count) || (count as number) < 1 || (count as number) > SECRET_TARGETS_MAX) {
    throw invalid(`the number of targets is 1 to ${SECRET_TARGETS_MAX}`);
  }
  return count as number;
}

export function checkBundle(bundle: unknown): string {
  return checkText(bundle, 'the bundle', BUNDLE_LENGTH_MAX);
}

export function checkProofPayload(payload: unknown): string {
  return checkText(payload, 'the payload', PROOF_LENGTH_MAX);
}

export function checkRole(role: unknown): ServiceRole {
  const known = SERVICE_ROLES.find((candidate) => candidate === role);
  if (known === undefined) throw invalid('unknown role of a service key');
  return known;
}

export function checkServiceKeys(keys: unknown): SealedServiceKey[] {
  return listOf(keys, 'keys', 0, SERVICE_KEYS_MAX).map((key) => {
    const { role, keyId, sealed } = membersOf<SealedServiceKey>(key, 'a service key');
    checkName(keyId, 'keyId');
    return { role: checkRole(role), keyId, sealed: checkSealed(sealed, 'a sealed service key') };
  });
}

/** The bytes may be of any length: what is too long does not open. */
export function checkStoredSecrets(secrets: unknown): StoredSecret[] {
  return listOf(secrets, 'secrets', 0, STORED_SECRETS_MAX).map((secret) => {
    const { ownerId, kind, sealed } = membersOf<StoredSecret>(secret, 'a secret');
    checkName(ownerId, 'ownerId');
    checkName(kind, 'kind');
    checkBytes(sealed, 'sealed');
    return { ownerId, kind, sealed: copyOf(sealed) };
  });
}

/** Not by slice, which shares memory when the caller's array is a Buffer. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

function checkFormat(curve: Curve, format: unknown): AddressFormat {
  const known = format as AddressFormat;
  if (!hasFormat(curve, known)) throw invalid(`the address format is unknown, or not one of ${curve}`);
  return known;
}

function checkText(text: unknown, name: string, lengthMax: number): string {
  if (typeof text !== 'string' || LONE_SURROGATE.test(text)) throw invalid(`${name} must be well-formed text`);
  if (text.length > lengthMax) throw invalid(`${name} is longer than ${lengthMax} characters`);
  return text;
}

function membersOf<T>(value: unknown, name: string): { readonly [K in keyof T]?: unknown } {
  if (typeof value !== 'object' || value === null) throw invalid(`${name} must be an object`);
  return value;
}

function listOf(list: unknown, name: string, min: number, max: number): unknown[] {
  if (!Array.isArray(list) || list.length < min || list.length > max) {
    throw invalid(`${name} must be a list of ${min} to ${max}`);
  }
  // Holes of a sparse list become undefined, which map would pass over.
  return Array.from(list as unknown[]);
}
