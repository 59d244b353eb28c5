import type { VerificationToken } from '@custos/keyring';
import { contactKindOf } from '../../authn/identity/tokens.ts';
import { ApiError } from '../../lib/errors.ts';
import { parseUrl } from '../../lib/url.ts';
import type { SignUpProxyConfig } from './model.ts';
import { type AuthMethod, OTHER_ISSUERS, SOCIAL_METHODS } from './settings.ts';
import type { Visit } from './visit.ts';

/** Any one of the methods must be turned on. */
export interface Demand {
  readonly anyOf: readonly AuthMethod[];
}

const SOCIAL: ReadonlySet<AuthMethod> = new Set([...SOCIAL_METHODS, OTHER_ISSUERS]);

export const demand = (...anyOf: AuthMethod[]): Demand => ({ anyOf });

export function requireMethods(
  { allowedAuthMethods }: SignUpProxyConfig['settings'],
  demands: readonly Demand[],
): void {
  for (const { anyOf } of demands) {
    if (anyOf.some((method) => allowedAuthMethods.includes(method))) continue;
    const isSocial = anyOf.every((method) => SOCIAL.has(method));
    throw new ApiError(
      'AUTH_METHOD_DISALLOWED',
      // Client packages know the beginning of the first text.
      `${isSocial ? 'OAUTH disallowed' : 'authentication method disallowed'}: this sign-up proxy configuration has not turned on ${anyOf.join(' or ')}`,
    );
  }
}

/** A code came by mail, or to a phone. */
export const ofContact = (type: string): Demand => demand(type === 'OTP_TYPE_EMAIL' ? 'email' : 'sms');

export const ofVerification = (token: VerificationToken): Demand =>
  demand(contactKindOf(token) === 'email' ? 'email' : 'sms');

/** Whose token it claims to be: what it claims is verified where it is used. */
export function ofOidcToken(visit: Visit, token: string): Demand {
  const { iss, sub } = claimsOf(token);
  return ofIssuer(visit, iss, sub);
}

export function ofIssuer({ app }: Visit, issuer: unknown, subject: unknown): Demand {
  const host = hostOf(issuer);
  if (host === 'accounts.google.com') return demand('google');
  if (host === 'appleid.apple.com') return demand('apple');
  if (host === 'facebook.com' || host.endsWith('.facebook.com')) return demand('facebook');
  if (issuer === app.ownIssuer().issuer && typeof subject === 'string') {
    if (subject.startsWith('x:')) return demand('x');
    if (subject.startsWith('discord:')) return demand('discord');
  }
  return demand(OTHER_ISSUERS);
}

/** One issuer has written itself without a scheme (protocol/login 7.1). */
function hostOf(issuer: unknown): string {
  if (typeof issuer !== 'string') return '';
  const url = /^https?:\/\//.test(issuer) ? issuer : `https://${issuer}`;
  return parseUrl(url)?.hostname ?? '';
}

function claimsOf(token: string): { readonly iss?: unknown; readonly sub?: unknown } {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? claims : {};
  } catch {
    return {};
  }
}
