import { type AttestedKey, toActor } from '../core/actor.ts';
import { Identities, Users } from '../core/directory.ts';
import { type OauthIdentity, type Organization, treeRoot, type User } from '../core/model.ts';
import { ActivityReader } from '../core/store/activity-reader.ts';
import { OrganizationReader, organizationNotFound } from '../core/store/organizations.ts';
import { oidcTreeValue, TreeReader } from '../core/store/tree.ts';
import { ApiError } from '../lib/errors.ts';
import { issuersForStrangers } from './identity/known-issuers.ts';
import { contactKindOf, requireIssuedFor, useOf } from './identity/tokens.ts';
import { claimedIdentities } from './oidc/claimed-identities.ts';
import { isBoundTo } from './oidc/nonce.ts';
import { keyObject, verifyOnPool } from './public-key.ts';
import type { AttestedStamp } from './stamp-headers.ts';
import type { Authenticated, AuthenticationParts, StampedRequest } from './stamped.ts';

/** Whom a token stands for, where, and how it proves it. */
interface Attested {
  readonly organization: Organization;
  readonly user: User;
  readonly method: AttestedKey['method'];
  readonly token: NonNullable<AttestedKey['token']>;
  readonly contact: string | undefined;
  readonly providerId: string | undefined;
}

/** A key that signs the body and a token that says whose key it is (protocol/stamps 5). */
export async function byAttestedKey(
  app: AuthenticationParts,
  request: StampedRequest,
  stamp: AttestedStamp,
): Promise<Authenticated> {
  if (!request.acceptsAttested) {
    throw new ApiError('UNAUTHENTICATED', 'an attested stamp can only log in and prove a factor');
  }
  const key = { key: keyObject('P256', stamp.publicKey), dsaEncoding: 'ieee-p1363' as const };
  if (!(await verifyOnPool('sha256', request.body, key, stamp.signature))) {
    throw new ApiError('SIGNATURE_INVALID', 'could not verify the signature of the attested stamp');
  }
  const named = await app.storage.read(OrganizationReader).find(request.organizationId);
  if (named === undefined || named.deletedAtMs !== undefined) throw organizationNotFound();
  const { organization, user, ...proof } =
    stamp.by === 'oidc' ? await byOidc(app, request, stamp, named) : await byContact(app, request, stamp, named);
  const { fingerprint } = request;
  const existingActivityId =
    fingerprint === undefined
      ? undefined
      : await app.storage.read(ActivityReader).idByFingerprint(organization.id, fingerprint);
  return {
    actor: toActor(organization, organization, user, {
      kind: 'attested',
      attested: { publicKey: stamp.publicKey, ...proof },
    }),
    evidence: {
      publicKey: stamp.publicKey,
      signature: stamp.signatureText,
      scheme: 'SIGNATURE_SCHEME_TK_ATTESTED_P256',
      credentialId: proof.providerId ?? proof.token.tokenId,
      webauthn: undefined,
    },
    existingActivityId,
  };
}

async function byContact(
  app: AuthenticationParts,
  { findsSubOrganization }: StampedRequest,
  stamp: AttestedStamp,
  named: Organization,
): Promise<Attested> {
  const { read } = app.storage;
  const token = refusedAs401(() => app.tokens.verification(stamp.token, app.clock()));
  const bound = token.publicKey && Buffer.from(token.publicKey).toString('hex');
  if (bound !== stamp.publicKey) throw refuse('the verification token is bound to another key');
  const contact = contactKindOf(token);
  const found = async (organization: Organization): Promise<Attested | undefined> => {
    const user = await read(Users).byContact(organization.id, contact, token.contact);
    if (user !== undefined) await requireCodeLogin(app, organization, contact);
    return (
      user && {
        organization,
        user,
        method: { type: contact === 'email' ? 'AUTHENTICATION_TYPE_EMAIL_OTP' : 'AUTHENTICATION_TYPE_SMS_OTP' },
        token: useOf(token),
        contact: token.contact,
        providerId: undefined,
      }
    );
  };
  refusedAs401(() => requireIssuedFor(token, named));
  const here = await found(named);
  if (here !== undefined) return here;
  // Through a parent's id only who has proven the contact before is found: anybody can enter another's address.
  const kind = contact === 'email' ? 'VERIFIED_EMAIL' : 'VERIFIED_PHONE_NUMBER';
  const child =
    findsSubOrganization && named.parentId === undefined && token.organizationId === named.id
      ? await onlyHolder(app, named, kind, token.contact)
      : undefined;
  const there = child && (await found(child));
  if (there === undefined) throw notFound('contact');
  return there;
}

/**
 * Codes log in only where the organization has turned that on; a parent has not unless it says so
 * (protocol/organizations 2.3).
 */
async function requireCodeLogin(
  app: AuthenticationParts,
  { id }: Organization,
  contact: 'email' | 'phone',
): Promise<void> {
  const feature = contact === 'email' ? 'FEATURE_NAME_OTP_EMAIL_AUTH' : 'FEATURE_NAME_SMS_AUTH';
  const value = await app.storage.read(OrganizationReader).feature(id, feature);
  if (value === undefined || value === 'false') throw refuse(`${feature} is not on in the organization`);
}

async function byOidc(
  app: AuthenticationParts,
  { findsSubOrganization }: StampedRequest,
  stamp: AttestedStamp,
  named: Organization,
): Promise<Attested> {
  const { read } = app.storage;
  const searchesTree = findsSubOrganization && named.parentId === undefined;
  const isKnown = async (identity: OauthIdentity): Promise<boolean> =>
    (await read(Identities).findProvider(named.id, identity)) !== undefined ||
    (searchesTree && (await read(TreeReader).uniqueHolder(named.id, 'OIDC', oidcTreeValue(identity))) !== undefined);
  const claimed = await Promise.all(refusedAs401(() => claimedIdentities(stamp.token)).map(isKnown));
  // Nobody has it, whether or not it is genuine: no issuer is asked for a stranger's sake.
  if (!claimed.includes(true)) throw notFound('OAuth identity');
  const mayAsk = issuersForStrangers(read, treeRoot(named));
  const token = await app.tokens.oidc(stamp.token, mayAsk).catch((error: unknown) => {
    throw error instanceof ApiError && error.code === 'INVALID_OIDC_TOKEN' ? refuse(error.message) : error;
  });
  if (!isBoundTo(token, stamp.publicKeyText) && !isBoundTo(token, stamp.publicKey)) {
    throw refuse('the OIDC token is bound to another key');
  }
  const found = async (organization: Organization): Promise<Attested | undefined> => {
    const provider = await read(Identities).findProvider(organization.id, token);
    const user = provider && (await read(Users).find(organization.id, provider.userId));
    return (
      provider &&
      user && {
        organization,
        user,
        method: { type: 'AUTHENTICATION_TYPE_OAUTH', id: provider.id },
        token: { issuerId: treeRoot(organization), tokenId: token.tokenId, expiresAtMs: token.expiresAtMs },
        contact: undefined,
        providerId: provider.id,
      }
    );
  };
  const here = await found(named);
  if (here !== undefined) return here;
  const child = searchesTree ? await onlyHolder(app, named, 'OIDC', oidcTreeValue(token)) : undefined;
  const there = child && (await found(child));
  if (there === undefined) throw notFound('OAuth identity');
  return there;
}

/** The one sub-organization with a value that is unique in its tree. */
async function onlyHolder(
  app: AuthenticationParts,
  root: Organization,
  kind: 'VERIFIED_EMAIL' | 'VERIFIED_PHONE_NUMBER' | 'OIDC',
  value: string,
): Promise<Organization | undefined> {
  const { read } = app.storage;
  const holderId = await read(TreeReader).uniqueHolder(root.id, kind, value);
  const organization = holderId && (await read(OrganizationReader).find(holderId));
  return organization === undefined || organization.deletedAtMs !== undefined ? undefined : organization;
}

const refuse = (why: string): ApiError => new ApiError('SIGNATURE_INVALID', `could not verify attested stamp: ${why}`);

const notFound = (what: string): ApiError =>
  new ApiError('CREDENTIAL_NOT_FOUND', `could not find a user with this ${what} in the organization`);

/** A token that does not count here is a failed authentication, whatever else is wrong with it. */
function refusedAs401<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof ApiError) throw refuse(error.message);
    throw error;
  }
}
