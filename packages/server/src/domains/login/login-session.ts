import type { Static, TObject } from 'typebox';
import { type Actor, sessionProfileIdOf } from '../../core/actor.ts';
import { type SessionProfile, treeRoot } from '../../core/model.ts';
import type { ExecuteContext, PrepareContext, ReadAheadContext } from '../../engine/define.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { UserId } from '../../lib/ids.ts';
import type { ReadStores } from '../../storage/stores.ts';
import { CredentialReader, CredentialStore } from '../users/store/credentials.ts';
import {
  addSessionKey,
  parseSessionSeconds,
  requireOwnProfile,
  SESSION_SECONDS,
  sessionKeyName,
  sessionPublicKey,
} from './session-keys.ts';
import type { SESSION_PARAMS } from './shapes/sessions.ts';
import { SessionProfileReader } from './store/session-profiles.ts';

// What stamp_login, otp_login and oauth_login do once it is clear who logs in.

type SessionParams = Static<TObject<typeof SESSION_PARAMS>>;

/** A session that is signed and not registered yet. */
export interface LoginSession {
  readonly userId: UserId;
  readonly key: string;
  readonly seconds: number;
  readonly sessionProfileId: string | undefined;
  readonly session: string;
}

export function checkSession({ publicKey, expirationSeconds }: SessionParams): void {
  sessionPublicKey(publicKey);
  parseSessionSeconds(expirationSeconds);
}

/** What policies may read of a login; empty where no profile is named (protocol/policy-facts 2). */
export const exposeSession = ({ sessionProfileId }: SessionParams) => ({ session_profile_id: sessionProfileId ?? '' });

/** The session as clients read it (protocol/login 1.6). It informs; only stamps of the session key authenticate. */
export async function signLoginSession(
  { read, actor, keyring, nowMs }: PrepareContext,
  { publicKey, expirationSeconds, sessionProfileId, invalidateExisting = false }: SessionParams,
  userId: UserId,
): Promise<LoginSession> {
  const profile = await sessionProfileFor(read, actor, sessionProfileId);
  const seconds = sessionSeconds(parseSessionSeconds(expirationSeconds), profile);
  const key = sessionPublicKey(publicKey);
  if (sessionProfileIdOf(actor) !== undefined) {
    const own = await read(CredentialReader).apiKeysOfUser(actor.organizationId, userId);
    const family = own.filter(({ type }) => type === 'CREDENTIAL_TYPE_LOGIN');
    requireOwnProfile(actor, family, { publicKey: key, invalidateExisting });
  }
  const session = await keyring.signSession({
    expiresAtSeconds: Math.floor(nowMs / 1000) + seconds,
    publicKey: Buffer.from(key, 'hex'),
    userId,
    organizationId: actor.organizationId,
    ...(profile && { profile: { id: profile.id as string, name: profile.name, scope: profile.scope } }),
  });
  return { userId, key, seconds, sessionProfileId: profile?.id, session };
}

/** What `addSessionKey` begins with: holds the user, before the caller's credential is looked for once more. */
export const readLoginAhead = (
  { store, actor }: ReadAheadContext,
  { userId }: Pick<LoginSession, 'userId'>,
): Promise<void> => store(CredentialStore).readKeysAhead(actor.organizationId, userId);

/** Registers the key of the session, and answers with the session. */
export async function openLoginSession(
  context: ExecuteContext,
  { userId, key, seconds, sessionProfileId, session }: LoginSession,
  invalidateExisting = false,
): Promise<{ session: string }> {
  const { organizationId, organization } = context.actor;
  await addSessionKey(context, { organizationId, rootId: treeRoot(organization) }, userId, {
    type: 'CREDENTIAL_TYPE_LOGIN',
    publicKey: key,
    name: sessionKeyName('Login', context.nowMs),
    seconds,
    sessionProfileId,
    invalidateExisting,
  });
  return { session };
}

/**
 * The profile that a session gets. A key with a profile makes sessions of that profile only: it is inherited when none is
 * named, and another is refused (protocol/login 9.4).
 */
export async function sessionProfileFor(
  read: ReadStores,
  actor: Actor,
  asked: string | undefined,
): Promise<SessionProfile | undefined> {
  const own = sessionProfileIdOf(actor);
  const id = asked === undefined || asked === '' ? own : asked;
  if (own !== undefined && id !== own) {
    throw new ApiError('REQUEST_NOT_AUTHORIZED', 'a session with a profile can only make sessions of the same profile');
  }
  if (id === undefined) return undefined;
  const profile = await read(SessionProfileReader).find(treeRoot(actor.organization), id);
  if (profile === undefined) throw invalidField('parameters.sessionProfileId', 'is no session profile of this tree');
  return profile;
}

/**
 * The shorter of what was asked for and what the profile grants; each alone where the other is silent (protocol/login
 * 1.2).
 */
function sessionSeconds(asked: number | undefined, profile: SessionProfile | undefined): number {
  const given = [asked, profile?.expirationSeconds].filter((seconds) => seconds !== undefined);
  return given.length === 0 ? SESSION_SECONDS : Math.min(...given);
}
