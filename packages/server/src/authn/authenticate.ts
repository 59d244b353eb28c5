import { type Credential, toActor } from '../core/actor.ts';
import { CredentialUses, type Principal, Principals } from '../core/directory.ts';
import { type ApiKey, type Authenticator, type Organization, treeRoot } from '../core/model.ts';
import { OrganizationReader, organizationNotFound } from '../core/store/organizations.ts';
import { TreeReader } from '../core/store/tree.ts';
import { sha256Hex, toBase64url } from '../lib/encoding.ts';
import { ApiError } from '../lib/errors.ts';
import type { OrganizationId } from '../lib/ids.ts';
import { LIMITS } from '../lib/limits.ts';
import type { Fenced } from '../storage/fence.ts';
import { verifyApiKeyStamp } from './api-key-stamp.ts';
import { byAttestedKey } from './attested-stamp.ts';
import type { ApiKeyStamp, SessionStamp, WebauthnStamp } from './stamp-headers.ts';
import type { Authenticated, AuthenticationParts, StampEvidence, StampedRequest } from './stamped.ts';
import { allowedOrigins } from './webauthn-origins.ts';

/** How long an unused key counts when a parent's id is to be resolved to one sub-organization (protocol/stamps 7.2). */
export const FRESH_KEY_MS = 15 * 60 * 1000;

/** Stamp to credential to user, in the named organization or its parent (protocol/stamps 7.1 and 7.2). */
export async function authenticate(app: AuthenticationParts, request: StampedRequest): Promise<Authenticated> {
  const { stamp } = request;
  switch (stamp.kind) {
    case 'api-key':
      return await byApiKey(app, request, stamp);
    case 'webauthn':
      return await byPasskey(app, request, stamp);
    case 'session':
      return await byReadSession(app, request, stamp);
    case 'attested':
      return await byAttestedKey(app, request, stamp);
  }
}

async function byApiKey(app: AuthenticationParts, request: StampedRequest, stamp: ApiKeyStamp): Promise<Authenticated> {
  // The stamp names its key, so the signature is checked while the database looks the key up.
  const [verified, principal] = await Promise.all([
    verifyApiKeyStamp(stamp, request.body),
    findPrincipal(app, request, 'PUBLIC_KEY', stamp.publicKey, (organizationId) => {
      const principals = app.storage.read(Principals);
      const fingerprint = request.fingerprint ?? '';
      return request.byService
        ? principals.byKeyOfTreeRoot(organizationId, stamp.publicKey, fingerprint)
        : principals.byApiKey(organizationId, stamp.publicKey, fingerprint);
    }),
  ]);
  if (principal?.holder === undefined) {
    throw new ApiError(
      'PUBLIC_KEY_NOT_FOUND',
      `could not find public key in organization or its parent organization: ${stamp.publicKey}`,
    );
  }
  if (!verified) throw new ApiError('SIGNATURE_INVALID', 'could not verify api key signature');
  const { credential: apiKey } = principal.holder;
  if (!stampFitsKey(stamp, apiKey))
    throw new ApiError('SIGNATURE_INVALID', 'the signature scheme does not fit the curve of this API key');
  const nowMs = app.clock();
  if (apiKey.expiresAtMs !== undefined && apiKey.expiresAtMs <= nowMs) {
    // The odd wording is what the public clients look for to end a session.
    throw new ApiError(
      'API_KEY_EXPIRED',
      `authentication failed: rpc error: code = Unauthenticated desc = expired api key publicKey=${apiKey.publicKey}`,
    );
  }
  // It may have been ended after the backup was made.
  if (isSession(apiKey) && apiKey.updatedAtMs <= app.storage.fence.restoredAtMs) {
    throw new ApiError(
      'API_KEY_EXPIRED',
      `authentication failed: rpc error: code = Unauthenticated desc = expired api key publicKey=${apiKey.publicKey}: the session is from before the database was restored from a backup; log in again`,
    );
  }
  const { organizationId } = principal.holder;
  const of = placeOf(principal.organization, organizationId);
  if (apiKey.firstUsedAtMs === undefined && !app.storage.fence.holds(of)) {
    const place = { organizationId, userId: apiKey.userId, id: apiKey.id };
    await app.storage.write((store) => store(CredentialUses).markUsed('api_key', place, nowMs), { of });
  }
  return await authenticated(
    app,
    principal,
    { kind: 'api-key', apiKey },
    {
      publicKey: apiKey.publicKey,
      signature: stamp.signatureText,
      scheme: stamp.scheme,
      credentialId: apiKey.id,
      webauthn: undefined,
    },
  );
}

/** Whether a login made the key: all that anybody registers are of other types. */
const isSession = ({ type }: ApiKey): boolean => !type.startsWith('CREDENTIAL_TYPE_API_KEY_');

/** The organization of a credential: the one that was named, its parent, or one of its children. */
function placeOf(named: Organization, holderId: OrganizationId): Fenced {
  if (holderId === named.id) return named;
  return { id: holderId, parentId: holderId === named.parentId ? undefined : named.id };
}

function stampFitsKey(stamp: ApiKeyStamp, key: ApiKey): boolean {
  switch (key.type) {
    case 'CREDENTIAL_TYPE_API_KEY_SECP256K1':
      return stamp.curve === 'SECP256K1';
    case 'CREDENTIAL_TYPE_API_KEY_ED25519':
      return stamp.curve === 'ED25519';
    default:
      return stamp.curve === 'P256';
  }
}

async function byPasskey(
  app: AuthenticationParts,
  request: StampedRequest,
  stamp: WebauthnStamp,
): Promise<Authenticated> {
  const principal = await findPrincipal(app, request, 'CREDENTIAL_ID', stamp.credentialId, (organizationId) =>
    app.storage.read(Principals).byAuthenticator(organizationId, stamp.credentialId, request.fingerprint ?? ''),
  );
  if (principal?.holder === undefined) {
    throw new ApiError(
      'CREDENTIAL_NOT_FOUND',
      'could not find webauthn credential in organization or its parent organization',
    );
  }
  const { credential: authenticator, organizationId } = principal.holder;
  // Loaded with the first passkey: decoding its keys needs a library that a start should not wait for.
  const { verifyWebauthnStamp } = await import('./webauthn-stamp.ts');
  const origins = await webauthnOrigins(app, organizationId, principal.organization);
  const check = await verifyWebauthnStamp(stamp, request.body, {
    publicKey: authenticator.publicKey,
    rpIdHash: authenticator.rpIdHash,
    origins,
  });
  if (!check.ok) throw new ApiError('SIGNATURE_INVALID', `could not verify WebAuthN signature: ${check.reason}`);
  const of = placeOf(principal.organization, organizationId);
  // Behind the fence queries go on, and write nothing.
  if (!app.storage.fence.holds(of))
    await rememberUse(app, organizationId, authenticator, { of, signCount: check.signCount });
  return await authenticated(
    app,
    principal,
    { kind: 'passkey', authenticator },
    {
      publicKey: Buffer.from(authenticator.publicKey).toString('hex'),
      signature: stamp.signatureText,
      scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN',
      credentialId: authenticator.id,
      webauthn: {
        credentialId: stamp.credentialId,
        authenticatorData: toBase64url(stamp.authenticatorData),
        clientDataJson: toBase64url(stamp.clientDataJson),
      },
    },
  );
}

async function rememberUse(
  app: AuthenticationParts,
  organizationId: OrganizationId,
  authenticator: Authenticator,
  { of, signCount }: { readonly of: Fenced; readonly signCount: number },
): Promise<void> {
  if (signCount !== 0 && signCount < authenticator.signCount) {
    app.observe.signCountDecreased(organizationId, authenticator.id);
  }
  const firstUse = authenticator.firstUsedAtMs === undefined;
  if (!firstUse && signCount <= authenticator.signCount) return;
  const place = { organizationId, userId: authenticator.userId, id: authenticator.id };
  await app.storage.write(
    async (store) => {
      if (firstUse) await store(CredentialUses).markUsed('authenticator', place, app.clock());
      await store(CredentialUses).raiseSignCount(place, signCount);
    },
    { of },
  );
}

/**
 * The origins that a passkey of this organization may be used from; the parent's feature governs its tree
 * (protocol/stamps 4.4).
 */
async function webauthnOrigins(
  app: AuthenticationParts,
  holderId: OrganizationId,
  target: Organization,
): Promise<readonly string[] | null> {
  // The holder is the target, or its parent, or (through a parent's id) one of its sub-organizations.
  const rootId = holderId === target.id ? treeRoot(target) : target.parentId === holderId ? holderId : target.id;
  const value = await app.storage.read(OrganizationReader).feature(rootId, 'FEATURE_NAME_WEBAUTHN_ORIGINS');
  return allowedOrigins(value);
}

async function byReadSession(
  app: AuthenticationParts,
  request: StampedRequest,
  stamp: SessionStamp,
): Promise<Authenticated> {
  if (request.fingerprint !== undefined) {
    throw new ApiError('UNAUTHENTICATED', 'a read-only session cannot submit activities');
  }
  const { read } = app.storage;
  const organization = await read(OrganizationReader).find(request.organizationId);
  if (organization === undefined || organization.deletedAtMs !== undefined) throw organizationNotFound();
  const session = await read(Principals).byReadSession(organization.id, sha256Hex(stamp.token));
  if (session === undefined || session.expiresAtMs <= app.clock()) {
    throw new ApiError('UNAUTHENTICATED', 'the read-only session is unknown in this organization or has expired');
  }
  if (session.expiresAtMs - LIMITS.readSessionSeconds * 1000 <= app.storage.fence.restoredAtMs) {
    throw new ApiError(
      'UNAUTHENTICATED',
      'the read-only session is from before the database was restored from a backup, and may have been ended since: make another one',
    );
  }
  const actor = toActor(organization, organization, session.user, { kind: 'read-session' });
  return { actor, evidence: undefined, existingActivityId: undefined };
}

async function authenticated(
  app: AuthenticationParts,
  principal: Principal<unknown>,
  credential: Credential,
  evidence: StampEvidence,
): Promise<Authenticated> {
  const { organization, holder, activityId } = principal;
  if (holder === undefined) throw new Error('a principal without holder was authenticated');
  const home =
    holder.organizationId === organization.id
      ? organization
      : await app.storage.read(OrganizationReader).get(holder.organizationId);
  return {
    actor: toActor(organization, home, holder.user, credential),
    evidence,
    existingActivityId: activityId,
  };
}

/**
 * The credential's holder in the named organization or its parent; where the operation allows it, in one of its
 * children.
 */
async function findPrincipal<Held extends ApiKey | Authenticator>(
  app: AuthenticationParts,
  request: StampedRequest,
  kind: 'PUBLIC_KEY' | 'CREDENTIAL_ID',
  value: string,
  load: (organizationId: OrganizationId) => Promise<Principal<Held> | undefined>,
): Promise<Principal<Held> | undefined> {
  const principal = await load(request.organizationId);
  if (principal === undefined) throw organizationNotFound();
  const { organization, holder } = principal;
  // A deleted sub-organization stays readable to its parent and to nobody else.
  if (organization.deletedAtMs !== undefined && (request.fingerprint !== undefined || holder === undefined)) {
    throw organizationNotFound();
  }
  if (holder !== undefined || !request.findsSubOrganization || organization.parentId !== undefined) return principal;
  const freshSinceMs = app.clock() - FRESH_KEY_MS;
  const [first, second] = await Promise.all(
    (await app.storage.read(TreeReader).candidates(organization.id, kind, value, freshSinceMs)).map(load),
  );
  if (first?.holder === undefined) return principal;
  const isProven = first.holder.credential.firstUsedAtMs !== undefined;
  if (!isProven && second?.holder !== undefined) {
    throw new ApiError('CREDENTIAL_CONFLICT', 'more than one suborg associated with a credential');
  }
  return first;
}
