import type { JWK } from 'jose';

/** The algorithms we accept and the keys that go with them: never `none`, never a shared secret. */
const ALGORITHMS: ReadonlyMap<string, { readonly kty: string; readonly crv?: string }> = new Map([
  ['RS256', { kty: 'RSA' }],
  ['RS384', { kty: 'RSA' }],
  ['RS512', { kty: 'RSA' }],
  ['PS256', { kty: 'RSA' }],
  ['PS384', { kty: 'RSA' }],
  ['PS512', { kty: 'RSA' }],
  ['ES256', { kty: 'EC', crv: 'P-256' }],
  ['ES384', { kty: 'EC', crv: 'P-384' }],
  ['ES512', { kty: 'EC', crv: 'P-521' }],
  ['EdDSA', { kty: 'OKP', crv: 'Ed25519' }],
]);

const KEYS_MAX = 32;
/** Keys with the same name, or tokens without one, are tried in turn, but not for ever. */
const CANDIDATES_MAX = 4;
const TEXT_LENGTH_MAX = 1400;
const CURVES: ReadonlySet<string> = new Set(['P-256', 'P-384', 'P-521', 'Ed25519']);
const RSA_BITS_MIN = 2048;
/** Beyond this a signature costs us more than anybody gains. */
const RSA_BITS_MAX = 8192;
const RSA_EXPONENT_BYTES_MAX = 8;

/** A key of an issuer that may verify signatures. */
export interface IssuerKey {
  readonly kid: string | undefined;
  /** The only algorithm it is for, if its issuer says so. */
  readonly alg: string | undefined;
  /** Its public members. */
  readonly jwk: JWK & { readonly kty: string };
}

export const isAcceptedAlgorithm = (alg: unknown): alg is string => typeof alg === 'string' && ALGORITHMS.has(alg);

/** The keys of a JSON Web Key Set (RFC 7517) that can verify for us; undefined if the document is none. */
export function readKeySet(document: unknown): readonly IssuerKey[] | undefined {
  const listed = isRecord(document) ? document.keys : undefined;
  if (!Array.isArray(listed)) return undefined;
  return listed.slice(0, KEYS_MAX).flatMap((entry) => readKey(entry) ?? []);
}

/** The keys that may have signed a token with this header. */
export function candidates(keys: readonly IssuerKey[], alg: string, kid: string | undefined): readonly IssuerKey[] {
  const needed = ALGORITHMS.get(alg);
  return keys
    .filter(({ jwk }) => jwk.kty === needed?.kty && jwk.crv === needed?.crv)
    .filter((key) => (key.alg === undefined || key.alg === alg) && (kid === undefined || key.kid === kid))
    .slice(0, CANDIDATES_MAX);
}

function readKey(entry: unknown): IssuerKey | undefined {
  if (!isRecord(entry)) return undefined;
  const { kid, alg, use, key_ops: operations } = entry;
  if (use !== undefined && use !== 'sig') return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return undefined;
  if (!isOptionalText(kid) || !isOptionalText(alg)) return undefined;
  const jwk = publicMembers(entry);
  return jwk === undefined ? undefined : { kid, alg, jwk };
}

function publicMembers({ kty, crv, n, e, x, y }: Readonly<Record<string, unknown>>): IssuerKey['jwk'] | undefined {
  if (kty === 'RSA' && isText(n) && isText(e)) return isSoundRsa(n, e) ? { kty, n, e } : undefined;
  if (!isText(crv) || !CURVES.has(crv)) return undefined;
  if (kty === 'EC' && isText(x) && isText(y)) return { kty, crv, x, y };
  if (kty === 'OKP' && isText(x)) return { kty, crv, x };
  return undefined;
}

function isSoundRsa(n: string, e: string): boolean {
  const bytes = Buffer.from(n, 'base64url');
  const start = bytes.findIndex((byte) => byte !== 0);
  if (start < 0) return false;
  const bits = (bytes.length - start) * 8 - (Math.clz32(bytes[start] ?? 0) - 24);
  return bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX && Buffer.from(e, 'base64url').length <= RSA_EXPONENT_BYTES_MAX;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** The modulus of the largest key that is accepted has 1366 characters. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= TEXT_LENGTH_MAX;
const isOptionalText = (value: unknown): value is string | undefined => value === undefined || isText(value);
