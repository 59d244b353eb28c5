import Type from 'typebox';
import { FRESH_KEY_MS } from '../../../authn/authenticate.ts';
import { canonicalPublicKey } from '../../../authn/public-key.ts';
import { OidcTokenShape, VerificationTokenShape } from '../../../authn/shapes.ts';
import { oidcTreeValue, TreeReader } from '../../../core/store/tree.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { textShape } from '../../../lib/shapes.ts';
import { linkedEmail } from '../../users/social-linking.ts';
import { PrincipalReader } from '../../users/store/principals.ts';
import { holderOfToken, readOidcToken, readVerification } from '../accounts.ts';
import { defineProxyCall } from '../define.ts';
import type { Visit } from '../visit.ts';

const FILTERS = [
  'EMAIL',
  'PHONE_NUMBER',
  'OIDC_TOKEN',
  'OIDC_CLAIMS',
  'PUBLIC_KEY',
  'CREDENTIAL_ID',
  'NAME',
  'USERNAME',
] as const;

const FILTER_LENGTH_MAX = 64 * 1024;
/** Users are called by their email or phone number unless they say otherwise. */
const LOOKS_LIKE_CONTACT = /@|^\+?\d[\d ().-]{6,}$/;

const BodyShape = Type.Object({
  filterType: Type.Enum([...FILTERS]),
  filterValue: textShape(FILTER_LENGTH_MAX),
  verificationToken: Type.Optional(VerificationTokenShape),
  oidcToken: Type.Optional(OidcTokenShape),
});
type Body = Type.Static<typeof BodyShape>;

/** No match is an empty object, so that a client goes on to sign up; several are none, too. */
export const account = defineProxyCall({
  name: 'account',
  summary:
    'The sub-organization that holds a proven contact, a credential or a name; an empty object if there is none.',
  body: BodyShape,
  reply: Type.Object({ organizationId: Type.Optional(Type.String()) }),
  onlyReads: true,
  async answer(visit, body) {
    const value = body.filterValue.trim();
    if (value === '') throw invalidField('filterValue', 'is required');
    const organizationId = await find(visit, body, value);
    return organizationId === undefined ? {} : { organizationId };
  },
});

async function find(visit: Visit, body: Body, value: string): Promise<OrganizationId | undefined> {
  const { app, parent } = visit;
  const tree = app.storage.read(TreeReader);
  switch (body.filterType) {
    case 'EMAIL':
      if (!(await isProven(visit, body, 'email', value))) return undefined;
      return await tree.uniqueHolder(parent.id, 'VERIFIED_EMAIL', value);
    case 'PHONE_NUMBER':
      if (!(await isProven(visit, body, 'phone', value))) return undefined;
      return await tree.uniqueHolder(parent.id, 'VERIFIED_PHONE_NUMBER', value);
    case 'OIDC_TOKEN':
      return await holderOfToken(visit, value);
    case 'OIDC_CLAIMS':
      return await tree.uniqueHolder(parent.id, 'OIDC', oidcTreeValue(claimsOf(value)));
    case 'CREDENTIAL_ID':
      return await tree.uniqueHolder(parent.id, 'CREDENTIAL_ID', value);
    case 'PUBLIC_KEY':
      return await byPublicKey(visit, canonicalPublicKey(value) ?? value);
    case 'NAME':
    case 'USERNAME':
      if (LOOKS_LIKE_CONTACT.test(value)) {
        if (!(await isProven(visit, body, value.includes('@') ? 'email' : 'phone', value))) return undefined;
      }
      return await byName(visit, body.filterType, value);
  }
}

/**
 * Who has an account is nobody's business but the owner's of the contact (verificationTokenRequiredForGetAccountPii). What
 * does not prove it is refused, but for a token of an unknown issuer: such a caller is told that there is no account.
 */
async function isProven(visit: Visit, body: Body, kind: 'email' | 'phone', value: string): Promise<boolean> {
  if (!visit.config.settings.verificationTokenRequiredForGetAccountPii) return true;
  const { verificationToken, oidcToken } = body;
  if (verificationToken) {
    requireVerified(visit, verificationToken, kind, value);
    return true;
  }
  if (oidcToken && kind === 'email') return await isProvenByGoogle(visit, oidcToken, value);
  throw invalidField(
    'verificationToken',
    `is required to look an account up by ${kind === 'email' ? 'an email, unless oidcToken proves it' : 'a phone number'}`,
  );
}

function requireVerified(visit: Visit, text: string, kind: 'email' | 'phone', value: string): void {
  const token = readVerification(visit, text);
  const isSame =
    kind === 'email'
      ? token.verificationType === 'OTP_TYPE_EMAIL' && token.contact.toLowerCase() === value.toLowerCase()
      : token.verificationType !== 'OTP_TYPE_EMAIL' && token.contact === value;
  if (!isSame) {
    throw new ApiError('INVALID_VERIFICATION_TOKEN', 'the verification token was issued for another contact');
  }
}

/** Another application's token says nothing about a wish to be found here. */
async function isProvenByGoogle(visit: Visit, text: string, value: string): Promise<boolean> {
  const token = await readOidcToken(visit, text);
  if (token === undefined) return false;
  if (linkedEmail(visit.config, token)?.toLowerCase() !== value.toLowerCase()) {
    throw new ApiError(
      'INVALID_OIDC_TOKEN',
      'the OIDC token does not prove this email: it takes one of Google with the same verified email, for a client id of socialLinkingClientIds',
    );
  }
  return true;
}

function claimsOf(text: string): { issuer: string; subject: string; audience: string } {
  let claims: unknown;
  try {
    claims = JSON.parse(text);
  } catch {
    // Refused below, like everything else that is no claims.
  }
  const { iss, sub, aud } = (claims ?? {}) as { readonly [name: string]: unknown };
  if (typeof iss !== 'string' || typeof sub !== 'string' || typeof aud !== 'string') {
    throw invalidField('filterValue', 'must be a JSON object with the texts iss, sub and aud');
  }
  return { issuer: iss, subject: sub, audience: aud };
}

/**
 * Anybody may register a stranger's key: one that has stamped stands before those that have not (protocol/sign-up-proxy
 * 3.1).
 */
async function byPublicKey(visit: Visit, publicKey: string): Promise<OrganizationId | undefined> {
  const { app, parent, nowMs } = visit;
  const tree = app.storage.read(TreeReader);
  const principals = app.storage.read(PrincipalReader);
  const candidates = await tree.candidates(parent.id, 'PUBLIC_KEY', publicKey, nowMs - FRESH_KEY_MS);
  const [first] = candidates;
  if (first === undefined || candidates.length === 1) return first;
  const principal = await principals.byApiKey(first, publicKey, '');
  return principal?.holder?.credential.firstUsedAtMs === undefined ? ambiguous(visit, 'PUBLIC_KEY') : first;
}

async function byName(visit: Visit, kind: 'NAME' | 'USERNAME', value: string): Promise<OrganizationId | undefined> {
  const { app, parent } = visit;
  const { items } = await app.storage
    .read(TreeReader)
    .subOrganizations(parent.id, { kinds: [kind], value }, { kind: 'page', limit: 2 }, () => Promise.resolve(true));
  return items.length > 1 ? ambiguous(visit, kind) : items[0]?.id;
}

function ambiguous({ app, parent }: Visit, filterType: string): undefined {
  app.observe.ambiguousAccount(parent.id, filterType);
  return undefined;
}
