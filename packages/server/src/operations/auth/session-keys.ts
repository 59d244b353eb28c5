import { normalizePublicKey } from '../../authn/public-key.ts';
import { type Actor, sessionProfileIdOf } from '../../lib/actor.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { UserId } from '../../lib/ids.ts';
import { LIMITS } from '../../lib/limits.ts';
import { type ApiKey, type ApiKeyType, type SessionProfile, treeRoot } from '../../lib/model.ts';
import type { ReadStores } from '../../storage/stores.ts';
import { insertApiKeys, type Place } from '../credentials/new-credentials.ts';
import type { ExecuteContext } from '../define.ts';

/** How long a login lasts unless somebody says otherwise (AUTH 6.3). */
export const SESSION_SECONDS = 900;

/** The seconds that a login asks for, if it does; the text is the caller's. */
export function parseSessionSeconds(
  text: string | undefined,
  max: number = LIMITS.sessionSecondsMax,
): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^[0-9]{1,12}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > max) {
    throw new ApiError(
      'INVALID_API_KEY_EXPIRATION',
      `invalid api key expiration: expirationSeconds must be a whole number from 1 to ${max}`,
    );
  }
  return seconds;
}

/** A session key in its one spelling: compressed, of P-256. */
export function sessionPublicKey(text: string, field = 'parameters.publicKey'): string {
  try {
    return normalizePublicKey('P256', text);
  } catch (error) {
    if (error instanceof ApiError) throw invalidField(field, error.message, error.code);
    throw error;
  }
}

/**
 * The profile that a session gets. A key with a profile makes sessions of that profile only: it is inherited when none is
 * named, and another is refused (decision 20).
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
  const profile = await read.sessionProfiles.find(treeRoot(actor.organization), id);
  if (profile === undefined) throw invalidField('parameters.sessionProfileId', 'is no session profile of this tree');
  return profile;
}

/** The shorter of what was asked for and what the profile grants; each alone where the other is silent (AUTH 6.3). */
export function sessionSeconds(asked: number | undefined, profile: SessionProfile | undefined): number {
  const given = [asked, profile?.expirationSeconds].filter((seconds) => seconds !== undefined);
  return given.length === 0 ? SESSION_SECONDS : Math.min(...given);
}

export interface NewSessionKey {
  readonly type: Extract<ApiKeyType, `CREDENTIAL_TYPE_${string}`>;
  readonly publicKey: string;
  readonly name: string;
  readonly seconds: number;
  readonly sessionProfileId?: string | undefined;
  /** Removes the user's other keys of the same type. */
  readonly invalidateExisting: boolean;
}

/** Registers the key of a login for a user. The same key of the same user is extended rather than refused (AUTH 6.3). */
export async function addSessionKey(
  context: ExecuteContext,
  place: Place,
  userId: UserId,
  key: NewSessionKey,
): Promise<ApiKey> {
  const { store, newId, nowMs } = context;
  const { organizationId } = place;
  await store.users.lock(organizationId, userId, nowMs);
  const own = await store.credentials.apiKeysOfUser(organizationId, userId);
  const family = own.filter(({ type }) => type === key.type);
  const same = family.find(({ publicKey }) => publicKey === key.publicKey);
  const removed = key.invalidateExisting ? family : family.filter((known) => known === same);
  await store.credentials.deleteCredentials(
    'api_key',
    organizationId,
    removed.map(({ id }) => id),
  );
  await store.tree.remove(
    organizationId,
    removed.map(({ id }) => id),
  );
  const added: ApiKey = {
    id: newId(),
    userId,
    name: key.name,
    type: key.type,
    publicKey: key.publicKey,
    sessionProfileId: key.sessionProfileId,
    expirationSeconds: key.seconds,
    expiresAtMs: nowMs + key.seconds * 1000,
    // Whoever extends a key has stamped with it before.
    firstUsedAtMs: same?.firstUsedAtMs,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  await insertApiKeys(context, place, userId, [added]);
  return added;
}

/** Names of such keys are unique for each user, so that the time alone is not enough. */
export const sessionKeyName = (kind: string, nowMs: number, publicKey: string): string =>
  `${kind} - ${new Date(nowMs).toISOString()} - ${publicKey.slice(-8)}`;
