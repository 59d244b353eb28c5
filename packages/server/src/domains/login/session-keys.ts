import { parsePublicKey } from '../../authn/public-key.ts';
import { type Actor, removedBy, sessionProfileIdOf } from '../../core/actor.ts';
import type { ApiKey, ApiKeyType } from '../../core/model.ts';
import type { Place } from '../../core/place.ts';
import { TreeStore } from '../../core/store/tree.ts';
import type { ExecuteContext } from '../../engine/define.ts';
import { ApiError } from '../../lib/errors.ts';
import type { UserId } from '../../lib/ids.ts';
import { LIMITS } from '../../lib/limits.ts';
import { parseExpiration, putSessionKey } from '../users/new-credentials.ts';
import { CredentialStore } from '../users/store/credentials.ts';
import { UserStore } from '../users/store/users.ts';

/** How long a login lasts unless somebody says otherwise (protocol/login 1.2). */
export const SESSION_SECONDS = 900;

/** The seconds that a login asks for, if it does. */
export const parseSessionSeconds = (text: string | undefined): number | undefined =>
  parseExpiration(text, LIMITS.sessionSecondsMax);

/** A session key in its one spelling: compressed, of P-256. */
export const sessionPublicKey = (text: string, field = 'parameters.publicKey'): string =>
  parsePublicKey('P256', text, field);

export interface NewSessionKey {
  readonly type: Extract<ApiKeyType, `CREDENTIAL_TYPE_${string}`>;
  readonly publicKey: string;
  readonly name: string;
  readonly seconds: number;
  readonly sessionProfileId?: string | undefined;
  /** Removes the user's other keys of the same type. */
  readonly invalidateExisting: boolean;
}

/**
 * Registers the key of a login for a user. The same key of the same user is extended rather than refused
 * (protocol/login 1.4).
 */
export async function addSessionKey(
  context: ExecuteContext,
  place: Place,
  userId: UserId,
  key: NewSessionKey,
): Promise<ApiKey> {
  const { store, newId, nowMs } = context;
  const { organizationId } = place;
  await store(UserStore).lock(organizationId, userId, nowMs);
  const own = await store(CredentialStore).keysOfHeldUser(organizationId, userId);
  const family = own.filter(({ type }) => type === key.type);
  const same = family.find(({ publicKey }) => publicKey === key.publicKey);
  requireOwnProfile(context.actor, family, key);
  const removed = key.invalidateExisting ? family.filter((known) => known !== same).map(({ id }) => id) : [];
  await store(CredentialStore).deleteReplacedKeys(organizationId, userId, removed, removedBy(context.actor));
  await store(TreeStore).remove(organizationId, removed);
  const expiresAtMs = nowMs + key.seconds * 1000;
  // A key that has stamped keeps its age: copies of it elsewhere in the tree must not become the older ones.
  const createdAtMs = same?.firstUsedAtMs === undefined ? nowMs : same.createdAtMs;
  const added: ApiKey = {
    // What it voted for stands and falls with the key, however often it is extended.
    id: same?.id ?? newId(),
    userId,
    name: key.name,
    type: key.type,
    publicKey: key.publicKey,
    sessionProfileId: key.sessionProfileId,
    expirationSeconds: Math.round((expiresAtMs - createdAtMs) / 1000),
    expiresAtMs,
    // Whoever extends a key has stamped with it before.
    firstUsedAtMs: same?.firstUsedAtMs,
    createdAtMs,
    updatedAtMs: nowMs,
  };
  const gone = new Set<string>(removed);
  const others = own.filter((known) => known !== same && !gone.has(known.id));
  return await putSessionKey(context, place, { made: added, others, isThere: same !== undefined });
}

/**
 * A session with a profile removes and changes sessions of its own profile only; it must not be able to end a wider
 * one.
 */
export function requireOwnProfile(
  actor: Actor,
  family: readonly ApiKey[],
  { publicKey, invalidateExisting }: Pick<NewSessionKey, 'publicKey' | 'invalidateExisting'>,
): void {
  const profileId = sessionProfileIdOf(actor);
  if (profileId === undefined) return;
  const touched = family.filter((known) => invalidateExisting || known.publicKey === publicKey);
  if (touched.every(({ sessionProfileId }) => sessionProfileId === profileId)) return;
  throw new ApiError(
    'REQUEST_NOT_AUTHORIZED',
    'a session with a profile can only extend or end sessions of the same profile: leave out invalidateExisting, or use another key',
  );
}

/** The name of a key that comes without one. A second key of the same millisecond gets a number when it is added. */
export const sessionKeyName = (kind: string, nowMs: number): string => `${kind} - ${new Date(nowMs).toISOString()}`;
