import { ApiError } from '../../lib/errors.ts';

/** What a verified ID token says. */
export interface IdToken {
  readonly issuer: string;
  readonly subject: string;
  readonly audience: string;
  /**
   * From `tknonce` if there is one, for issuers that keep `nonce` for themselves; else from `nonce` (protocol/login
   * 7.3).
   */
  readonly nonce: string | undefined;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  /** Undefined where the issuer does not say. */
  readonly issuedAtMs: number | undefined;
  readonly expiresAtMs: number;
  /** Names the token wherever it may be used once: of what was signed, since anybody can respell a signature. */
  readonly tokenId: string;
}

export type Claims = Readonly<Record<string, unknown>>;

/** By how much the clock of an issuer may be ahead. */
export const CLOCK_LEEWAY_MS = 60_000;
const SUBJECT_LENGTH_MAX = 255;
const AUDIENCE_LENGTH_MAX = 255;
const ISSUER_LENGTH_MAX = 512;
const EMAIL_LENGTH_MAX = 254;
export const GOOGLE = 'https://accounts.google.com';
/** Control characters and halves of a surrogate pair: nobody is called so, and not every database can hold them. */
const UNUSABLE = /[\p{Cc}\p{Cs}]/u;

/** The caller's token or issuer is at fault. The text never repeats what an issuer answered (protocol/http 5.3). */
export function refuseToken(message: string, cause?: unknown): ApiError {
  return new ApiError('INVALID_OIDC_TOKEN', message, { cause });
}

/** The issuer of a token may not be asked for its keys, for the sake of the caller who brought the token. */
export class UnknownIssuerError extends ApiError {
  constructor() {
    super(
      'INVALID_OIDC_TOKEN',
      'the issuer of the OIDC token is not known here: name it in oidcIssuers of the sign-up proxy configuration (update_auth_proxy_config)',
    );
  }
}

/** Who issued a token. One issuer has written itself with and without its scheme, yet is one (protocol/login 7.1). */
export function readIssuer({ iss }: Claims): string {
  if (iss === 'accounts.google.com') return GOOGLE;
  if (!isIssuer(iss)) {
    throw refuseToken(
      'the OIDC token has no usable iss: it must be an http or https URL without a query or a fragment',
    );
  }
  return iss;
}

/** The spelling that an issuer may have: a plain URL. */
export const isIssuer = (iss: unknown): iss is string =>
  typeof iss === 'string' && iss.length <= ISSUER_LENGTH_MAX && /^https?:\/\/[!-~]+$/.test(iss) && !/[?#\\]/.test(iss);

/** Checks the claims of a token whose signature is good (protocol/login 7.1). */
export function readIdToken(claims: Claims, nowMs: number): Omit<IdToken, 'tokenId'> {
  const expiresAtMs = readExpiry(claims, nowMs);
  refuseFuture(claims, 'nbf', 'is not valid yet', nowMs);
  refuseFuture(claims, 'iat', 'was issued in the future', nowMs);
  return {
    issuer: readIssuer(claims),
    subject: readSubject(claims),
    audience: readAudience(claims),
    nonce: readText(claims.tknonce) ?? readText(claims.nonce),
    email: readEmail(claims),
    // Some issuers write the boolean as a string.
    emailVerified: claims.email_verified === true || claims.email_verified === 'true',
    issuedAtMs: isNumericDate(claims.iat) ? Math.floor(claims.iat * 1000) : undefined,
    expiresAtMs,
  };
}

function readExpiry({ exp }: Claims, nowMs: number): number {
  if (!isNumericDate(exp)) throw refuseToken('the OIDC token has no usable exp');
  if (exp * 1000 <= nowMs) throw refuseToken('the OIDC token has expired');
  return Math.floor(exp * 1000);
}

function refuseFuture(claims: Claims, name: 'nbf' | 'iat', problem: string, nowMs: number): void {
  const value = claims[name];
  if (value === undefined) return;
  if (!isNumericDate(value)) throw refuseToken(`the OIDC token has no usable ${name}`);
  if (value * 1000 > nowMs + CLOCK_LEEWAY_MS) throw refuseToken(`the OIDC token ${problem}`);
}

/** Seconds since the epoch, as far as a date can hold them. */
const isNumericDate = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= 8_640_000_000_000;

function readSubject({ sub }: Claims): string {
  if (typeof sub === 'string' && sub !== '' && sub.length <= SUBJECT_LENGTH_MAX && !UNUSABLE.test(sub)) return sub;
  throw refuseToken(`the OIDC token has no usable sub: it must be a text of 1 to ${SUBJECT_LENGTH_MAX} characters`);
}

/** A token for several audiences is only for the one that it names as its authorized party. */
function readAudience({ aud, azp }: Claims): string {
  const listed: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (listed.length === 0 || !listed.every(isAudience)) throw refuseToken('the OIDC token has no usable aud');
  const [first = ''] = listed;
  if (listed.length === 1) return first;
  if (typeof azp === 'string' && listed.includes(azp)) return azp;
  throw refuseToken('the OIDC token has several audiences and its azp names none of them');
}

const isAudience = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= AUDIENCE_LENGTH_MAX && !UNUSABLE.test(value);

const readText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const readEmail = ({ email }: Claims): string | undefined =>
  typeof email === 'string' && email !== '' && email.length <= EMAIL_LENGTH_MAX ? email : undefined;
