import type { VerifiedAuthenticator } from '../../authn/attestations.ts';
import { type KeyCurve, parsePublicKey } from '../../authn/public-key.ts';
import { allowedOrigins } from '../../authn/webauthn-origins.ts';
import { type ApiKey, type ApiKeyType, type Authenticator, treeRoot } from '../../core/model.ts';
import type { Place } from '../../core/place.ts';
import { OrganizationReader } from '../../core/store/organizations.ts';
import { type TreeEntry, TreeStore } from '../../core/store/tree.ts';
import type { ExecuteContext, PrepareContext } from '../../engine/define.ts';
import { isLastingKey, LASTING_MS } from '../../engine/rules/lasting-key.ts';
import { firstDuplicate } from '../../lib/collections.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { freeName } from '../../lib/free-name.ts';
import type { OrganizationId, UserId } from '../../lib/ids.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { ApiKeyParams, AuthenticatorParams } from './shapes/credentials.ts';
import { CredentialStore } from './store/credentials.ts';

const CURVES: Readonly<Record<ApiKeyParams['curveType'], { readonly curve: KeyCurve; readonly type: ApiKeyType }>> = {
  API_KEY_CURVE_P256: { curve: 'P256', type: 'CREDENTIAL_TYPE_API_KEY_P256' },
  API_KEY_CURVE_SECP256K1: { curve: 'SECP256K1', type: 'CREDENTIAL_TYPE_API_KEY_SECP256K1' },
  API_KEY_CURVE_ED25519: { curve: 'ED25519', type: 'CREDENTIAL_TYPE_API_KEY_ED25519' },
};

/** The rules on new API keys that need no database; throws at the first that is broken. */
export function checkApiKeys(keys: readonly ApiKeyParams[], field: string): void {
  const publicKeys = keys.map((key, index) => {
    parseExpiration(key.expirationSeconds);
    return canonicalKey(key, `${field}.${index}.publicKey`);
  });
  if (firstDuplicate(publicKeys) !== undefined) throw invalidField(field, 'names the same public key twice');
  if (firstDuplicate(keys.map((key) => key.apiKeyName)) !== undefined)
    throw invalidField(field, 'names two keys alike');
}

export function checkAuthenticators(authenticators: readonly AuthenticatorParams[], field: string): void {
  const names = authenticators.map((authenticator) => authenticator.authenticatorName);
  if (firstDuplicate(names) !== undefined) throw invalidField(field, 'names two authenticators alike');
}

export const curveOf = ({ curveType }: Pick<ApiKeyParams, 'curveType'>): KeyCurve => CURVES[curveType].curve;

const canonicalKey = ({ curveType, publicKey }: ApiKeyParams, field: string): string =>
  parsePublicKey(CURVES[curveType].curve, publicKey, field);

/** The seconds that a key is to last, if it is to end; the text is the caller's. */
export function parseExpiration(text: string | undefined, max: number = LIMITS.apiKeySecondsMax): number | undefined {
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

/** What verifying new credentials takes of a context. */
export interface VerifyContext extends Pick<PrepareContext, 'read' | 'attestations'> {
  readonly actor: Pick<PrepareContext['actor'], 'organization'>;
}

/** What storing new credentials takes of a context. */
export type AddContext = Pick<ExecuteContext, 'store' | 'newId' | 'nowMs' | 'config'>;

/** Verifies registrations against the origins that the tree's parent allows (protocol/stamps 4.4). */
export async function verifyAuthenticators(
  { read, attestations, actor }: VerifyContext,
  authenticators: readonly AuthenticatorParams[],
): Promise<VerifiedAuthenticator[]> {
  if (authenticators.length === 0) return [];
  const value = await read(OrganizationReader).feature(treeRoot(actor.organization), 'FEATURE_NAME_WEBAUTHN_ORIGINS');
  const origins = allowedOrigins(value);
  return await Promise.all(
    authenticators.map(({ challenge, attestation }) =>
      attestations.verify(
        {
          challenge,
          credentialId: attestation.credentialId,
          clientDataJson: attestation.clientDataJson,
          attestationObject: attestation.attestationObject,
        },
        origins,
      ),
    ),
  );
}

/**
 * Registers API keys for a user whose row the transaction holds. Expiring keys beyond ten replace the oldest
 * (protocol/organizations 5.3).
 */
export async function addApiKeys(
  context: AddContext,
  place: Place,
  userId: UserId,
  params: readonly ApiKeyParams[],
): Promise<readonly ApiKey[]> {
  const { newId, nowMs } = context;
  if (params.length === 0) return [];
  const keys = params.map((key): ApiKey => {
    const seconds = parseExpiration(key.expirationSeconds);
    return {
      id: newId(),
      userId,
      name: key.apiKeyName,
      type: CURVES[key.curveType].type,
      publicKey: canonicalKey(key, 'publicKey'),
      sessionProfileId: undefined,
      expirationSeconds: seconds,
      expiresAtMs: seconds === undefined ? undefined : nowMs + seconds * 1000,
      firstUsedAtMs: undefined,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
  });
  return await insertApiKeys(context, place, userId, keys);
}

/** What becomes of a name that a live credential of the user has: it is refused, or gets a number. */
type Naming = 'refuse-taken' | 'number-taken';

/** The same for keys that are made already. The name of an expired key is free: that key makes room for the new one. */
export async function insertApiKeys(
  { store, nowMs, config }: AddContext,
  { organizationId, rootId }: Place,
  userId: UserId,
  made: readonly ApiKey[],
): Promise<readonly ApiKey[]> {
  const existing = await store(CredentialStore).apiKeysOfUser(organizationId, userId);
  const place = { organizationId, userId };
  const keys = await makeRoom({ store, nowMs, config }, place, existing, made, 'refuse-taken');
  await store(CredentialStore).insertApiKeys(organizationId, keys);
  await store(TreeStore).add(rootId, organizationId, keys.map(treeEntryOf));
  return keys;
}

/**
 * The same for the one key of a login, whose user's other keys are at hand. A key that is there under the same id is
 * extended, and stays where it is in the tree.
 */
export async function putSessionKey(
  { store, nowMs, config }: AddContext,
  { organizationId, rootId }: Place,
  { made, others, isThere }: { readonly made: ApiKey; readonly others: readonly ApiKey[]; readonly isThere: boolean },
): Promise<ApiKey> {
  const place = { organizationId, userId: made.userId };
  const [key = made] = await makeRoom({ store, nowMs, config }, place, others, [made], 'number-taken');
  if (isThere) {
    await store(CredentialStore).extendApiKey(organizationId, key);
    return key;
  }
  await store(CredentialStore).insertApiKeys(organizationId, [key]);
  await store(TreeStore).add(rootId, organizationId, [treeEntryOf(key)]);
  return key;
}

const treeEntryOf = ({ id, publicKey }: ApiKey): TreeEntry => ({ kind: 'PUBLIC_KEY', value: publicKey, ownerId: id });

/** Removes what new keys replace; answers with the names that they get. */
async function makeRoom(
  { store, nowMs, config }: Pick<AddContext, 'store' | 'nowMs' | 'config'>,
  { organizationId, userId }: { readonly organizationId: OrganizationId; readonly userId: UserId },
  existing: readonly ApiKey[],
  made: readonly ApiKey[],
  naming: Naming,
): Promise<readonly ApiKey[]> {
  const surplus = chooseEvicted(existing, made, nowMs);
  const live = existing.filter((key) => !isExpired(key, nowMs) && !surplus.includes(key.id));
  const keys = named(made, live, naming);
  const names = new Set(keys.map(({ name }) => name));
  const replaced = existing.filter((key) => isExpired(key, nowMs) && names.has(key.name)).map(({ id }) => id);
  const evicted = [...new Set<string>([...surplus, ...replaced])];
  const lasting = [...existing, ...keys].filter((key) => key.expiresAtMs === undefined).length;
  const addsLasting = keys.some((key) => key.expiresAtMs === undefined);
  if (addsLasting && config.limitApiKeys !== undefined && lasting > config.limitApiKeys) {
    throw new ApiError(
      'RESOURCE_LIMIT_EXCEEDED',
      `a user can have at most ${config.limitApiKeys} API keys without expiry`,
    );
  }
  await store(CredentialStore).deleteReplacedKeys(organizationId, userId, evicted, () => 'replaced');
  await store(TreeStore).remove(organizationId, evicted);
  return keys;
}

const isExpired = ({ expiresAtMs }: ApiKey, nowMs: number): boolean =>
  expiresAtMs !== undefined && expiresAtMs <= nowMs;

/** Where names are numbered, each credential by itself: the index of the store refuses any other that is taken. */
function named<Credential extends { readonly name: string }>(
  made: readonly Credential[],
  live: readonly { readonly name: string }[],
  naming: Naming,
): readonly Credential[] {
  if (naming === 'refuse-taken') return made;
  const taken = new Set(live.map(({ name }) => name));
  return made.map((credential) => {
    const name = freeName(credential.name, taken);
    taken.add(name);
    return { ...credential, name };
  });
}

function chooseEvicted(existing: readonly ApiKey[], added: readonly ApiKey[], nowMs: number): string[] {
  const isExpiring = (key: ApiKey): boolean => key.expiresAtMs !== undefined;
  const coming = added.filter(isExpiring).length;
  if (coming > LIMITS.expiringApiKeysPerUser) {
    throw new ApiError(
      'RESOURCE_LIMIT_EXCEEDED',
      `a user can have at most ${LIMITS.expiringApiKeysPerUser} expiring API keys`,
    );
  }
  const present = existing.filter(isExpiring);
  const surplus = present.length + coming - LIMITS.expiringApiKeysPerUser;
  if (surplus <= 0 || coming === 0) return [];
  const isOver = (key: ApiKey): boolean => isExpired(key, nowMs);
  const order = [...present.filter(isOver), ...present.filter((key) => !isOver(key))];
  const spared = lastingKeyToSpare(existing, added, nowMs);
  if (spared !== undefined && surplus >= present.length) {
    throw new ApiError(
      'RESOURCE_LIMIT_EXCEEDED',
      `so many expiring keys at once would replace every one that the user has, also the last that is no session; add fewer at a time`,
    );
  }
  return order
    .filter((key) => key !== spared)
    .slice(0, surplus)
    .map((key) => key.id);
}

/**
 * Logins must not use up the key that a user comes back with. Of the keys that somebody registered to keep, the one that
 * lasts longest stays, unless another that does not expire, or one that comes now, lasts as long.
 */
function lastingKeyToSpare(existing: readonly ApiKey[], added: readonly ApiKey[], nowMs: number): ApiKey | undefined {
  const lifeOf = ({ expiresAtMs = Number.POSITIVE_INFINITY }: ApiKey): number => expiresAtMs;
  const [longest] = existing
    .filter((key) => isLastingKey(key, nowMs, 0))
    .sort((one, other) => lifeOf(other) - lifeOf(one));
  if (longest === undefined || longest.expiresAtMs === undefined) return undefined;
  const needed = Math.min(lifeOf(longest), nowMs + LASTING_MS);
  const isCovered = added.some((key) => isLastingKey(key, nowMs, 0) && lifeOf(key) >= needed);
  return isCovered ? undefined : longest;
}

/** Registers verified passkeys for a user whose row the transaction holds. */
export async function addAuthenticators(
  { store, newId, nowMs, config }: AddContext,
  { organizationId, rootId }: Place,
  userId: UserId,
  params: readonly AuthenticatorParams[],
  verified: readonly VerifiedAuthenticator[],
  naming: Naming = 'refuse-taken',
): Promise<readonly Authenticator[]> {
  if (params.length === 0) return [];
  const made = params.map(({ authenticatorName, attestation }, index): Authenticator => {
    const passkey = verified[index] as VerifiedAuthenticator;
    return {
      id: newId(),
      userId,
      name: authenticatorName,
      credentialId: passkey.credentialId,
      publicKey: passkey.publicKey,
      rpIdHash: passkey.rpIdHash,
      aaguid: passkey.aaguid,
      attestationType: passkey.attestationType,
      transports: attestation.transports,
      signCount: passkey.signCount,
      firstUsedAtMs: undefined,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
  });
  const existing = await store(CredentialStore).authenticatorsOfUser(organizationId, userId);
  const authenticators = named(made, existing, naming);
  const count = existing.length + authenticators.length;
  if (config.limitAuthenticators !== undefined && count > config.limitAuthenticators) {
    throw new ApiError(
      'RESOURCE_LIMIT_EXCEEDED',
      `a user can have at most ${config.limitAuthenticators} authenticators`,
    );
  }
  await store(CredentialStore).insertAuthenticators(organizationId, authenticators);
  await store(TreeStore).add(
    rootId,
    organizationId,
    authenticators.map((authenticator) => ({
      kind: 'CREDENTIAL_ID',
      value: authenticator.credentialId,
      ownerId: authenticator.id,
    })),
  );
  return authenticators;
}
