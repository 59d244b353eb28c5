import { type AddressFormat, hasFormat } from './address/index.ts';
import type { Claim } from './bundle/id-token.ts';
import { normalizeOtpCode } from './bundle/otp.ts';
import type { Session, SessionProfile } from './bundle/session-jwt.ts';
import type { VerificationToken } from './bundle/verification-token.ts';
import { CURVES, type Curve } from './curve.ts';
import { invalid } from './derive/check.ts';
import { effectivePath } from './derive/derive.ts';
import { MNEMONIC_LANGUAGES, type MnemonicLanguage } from './derive/mnemonic.ts';
import { formatPath, parsePath } from './derive/path.ts';
import {
  type AccountSpec,
  type Holder,
  type OtpAttempt,
  SERVICE_ROLES,
  type SealedServiceKey,
  type SealedTarget,
  type ServiceRole,
  type SigningKey,
  type SigningScheme,
  type StoredSecret,
} from './keyring.ts';
import { checkBytes, checkName, PLAINTEXT_BYTES_MAX } from './seal/layout.ts';
import { listOf, membersOf } from './shape.ts';

// The arguments of the keyring, whatever came in their place. Answers are checked copies, so that what was checked is
// what is used, also when the caller changes its object or its bytes meanwhile.

const ACCOUNTS_MAX = 10_000;
const FORMATS_MAX = 64;
const PAYLOADS_MAX = 1000;
const TARGETS_MAX = 64;
const SECRET_TARGETS_MAX = 256;
/** A role may have many: what deliveries are signed with is replaced from time to time. */
const SERVICE_KEYS_MAX = 256;
const STORED_SECRETS_MAX = 1000;
const BUNDLE_LENGTH_MAX = 256 * 1024;
const PROOF_LENGTH_MAX = 1024 * 1024;
/** Longer than any name, contact or scope that the service takes. */
const TEXT_LENGTH_MAX = 1024;
const SCOPE_LENGTH_MAX = 64 * 1024;
const CLAIMS_MAX = 32;
const CLAIM_LIST_MAX = 16;
/** Of all claims as JSON. An encrypted bearer token, the longest, has less than 3000 characters. */
const CLAIMS_LENGTH_MAX = 16 * 1024;
/** A seed with the longest passphrase is far below, and a secret of 64 KiB with its frame as well. */
const SEALED_BYTES_MAX = 256 * 1024;

/** After normalisation, which leaves no small letter. */
const OTP_CODE = /^[0-9A-Z]{1,64}$/;
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

export function checkOtpCode(code: unknown): string {
  if (typeof code !== 'string' || !OTP_CODE.test(normalizeOtpCode(code))) {
    throw invalid('a one-time code must be 1 to 64 digits and letters');
  }
  return code;
}

/** A text of any kind is an attempt: what is no code is a wrong one. */
export function checkOtpAttempt(attempt: unknown): OtpAttempt {
  const { code, encryptedBundle } = membersOf<{ code: unknown; encryptedBundle: unknown }>(attempt, 'the attempt');
  if (typeof code === 'string' && encryptedBundle === undefined) return { code };
  if (typeof encryptedBundle === 'string' && code === undefined) return { encryptedBundle };
  throw invalid('an attempt has a code or an encrypted bundle');
}

/** Its expiry and whether its key is a point are checked where it is signed. */
export function checkSession(session: unknown): Session {
  const { expiresAtSeconds, publicKey, userId, organizationId, profile } = membersOf<Session>(session, 'the session');
  checkBytes(publicKey, 'publicKey');
  return {
    expiresAtSeconds: expiresAtSeconds as number,
    publicKey: copyOf(publicKey),
    userId: checkNonEmpty(userId, 'userId'),
    organizationId: checkNonEmpty(organizationId, 'organizationId'),
    ...(profile !== undefined && { profile: checkSessionProfile(profile) }),
  };
}

/** As for a session. */
export function checkVerificationToken(token: unknown): VerificationToken {
  const { id, verificationType, contact, organizationId, expiresAtMs, publicKey } = membersOf<VerificationToken>(
    token,
    'the token',
  );
  if (publicKey !== undefined) checkBytes(publicKey, 'publicKey');
  return {
    id: checkNonEmpty(id, 'id'),
    verificationType: checkNonEmpty(verificationType, 'verificationType'),
    contact: checkNonEmpty(contact, 'contact'),
    organizationId: checkNonEmpty(organizationId, 'organizationId'),
    expiresAtMs: expiresAtMs as number,
    ...(publicKey !== undefined && { publicKey: copyOf(publicKey) }),
  };
}

export function checkClaims(claims: unknown): Record<string, Claim> {
  const entries = Array.isArray(claims) ? [] : Object.entries(membersOf<object>(claims, 'claims'));
  if (entries.length === 0 || entries.length > CLAIMS_MAX) throw invalid(`claims are an object of 1 to ${CLAIMS_MAX}`);
  const known = Object.fromEntries(entries.map(([name, value]) => [checkNonEmpty(name, 'a claim'), checkClaim(value)]));
  if (JSON.stringify(known).length > CLAIMS_LENGTH_MAX) {
    throw invalid(`claims are longer than ${CLAIMS_LENGTH_MAX} characters`);
  }
  return known;
}

/** Whether it opens is another question, and a longer one does not. */
export function checkEncryptedSecret(text: unknown): string {
  if (typeof text !== 'string') throw invalid('the encrypted secret must be text');
  return text;
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

function checkSessionProfile(profile: unknown): SessionProfile {
  const { id, name, scope } = membersOf<SessionProfile>(profile, 'the profile');
  return {
    id: checkNonEmpty(id, 'the id of the profile'),
    name: checkNonEmpty(name, 'the name of the profile'),
    scope: checkText(scope, 'the scope', SCOPE_LENGTH_MAX),
  };
}

function checkClaim(value: unknown): Claim {
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return value as boolean | number;
  if (!Array.isArray(value)) return checkText(value, 'a claim', CLAIMS_LENGTH_MAX);
  return listOf(value, 'a claim', 1, CLAIM_LIST_MAX).map((text) => checkText(text, 'a claim', CLAIMS_LENGTH_MAX));
}

function checkNonEmpty(text: unknown, name: string): string {
  const known = checkText(text, name, TEXT_LENGTH_MAX);
  if (known === '') throw invalid(`${name} must not be empty`);
  return known;
}

function checkText(text: unknown, name: string, lengthMax: number): string {
  if (typeof text !== 'string' || LONE_SURROGATE.test(text)) throw invalid(`${name} must be well-formed text`);
  if (text.length > lengthMax) throw invalid(`${name} is longer than ${lengthMax} characters`);
  return text;
}
