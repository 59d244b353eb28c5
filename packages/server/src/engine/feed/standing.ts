import { type Actor, publicKeyOf } from '../../core/actor.ts';
import { Credentials, Principals, Users } from '../../core/directory.ts';
import type { Organization } from '../../core/model.ts';
import { OrganizationReader } from '../../core/store/organizations.ts';
import { sha256Hex } from '../../lib/encoding.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { ReadStores } from '../../storage/stores.ts';
import type { AccessRulesCache } from '../access-rules.ts';
import { isAllowedFrom } from '../rules/allowlist.ts';

/** Who follows, and from where. */
export interface Follower {
  readonly actor: Actor;
  readonly address: string | undefined;
  /** The token of a read-only session. */
  readonly sessionToken: string | undefined;
}

/** Why a stream ends, as its last line says it. */
export interface FeedEnd {
  readonly code: ErrorCode;
  readonly message: string;
}

interface Parts {
  readonly read: ReadStores;
  readonly accessRules: AccessRulesCache;
}

/** The organizations that streams depend on, each read once however many streams there are. */
export async function organizationsOf(
  read: ReadStores,
  followers: readonly Follower[],
): Promise<ReadonlyMap<string, Organization>> {
  const ids = new Set<OrganizationId>(followers.flatMap(({ actor }) => [actor.organizationId, actor.homeId]));
  const found = await Promise.all([...ids].map((id) => read(OrganizationReader).find(id)));
  return new Map(
    found.flatMap((organization) => (organization === undefined ? [] : [[organization.id, organization]])),
  );
}

/** Why a follower may follow no longer; undefined while it may. What versions say cannot have changed is not read again. */
export async function endOf(
  { read, accessRules }: Parts,
  follower: Follower,
  organizations: ReadonlyMap<string, Organization>,
  seen: { readonly authorityVersion: number; readonly rulesVersion: number },
  nowMs: number,
): Promise<FeedEnd | undefined> {
  const { actor } = follower;
  const target = organizations.get(actor.organizationId);
  const home = organizations.get(actor.homeId);
  if (
    target === undefined ||
    home === undefined ||
    target.deletedAtMs !== undefined ||
    home.deletedAtMs !== undefined
  ) {
    return { code: 'ORGANIZATION_NOT_FOUND', message: 'the organization was deleted' };
  }
  const { credential } = actor;
  if (credential.kind === 'api-key' && isPast(credential.apiKey.expiresAtMs, nowMs)) {
    return { code: 'API_KEY_EXPIRED', message: 'the session or API key has expired' };
  }
  if (credential.kind === 'read-session' || home.authorityVersion !== seen.authorityVersion) {
    const isThere = await exists(read, follower, nowMs);
    if (!isThere) return { code: 'UNAUTHENTICATED', message: 'the credential or its user is gone' };
  }
  if (home.rulesVersion !== seen.rulesVersion) {
    const lists = await accessRules.allowlistsOf(home, read);
    if (lists.length > 0 && !isAllowedFrom(lists, publicKeyOf(actor), follower.address)) {
      return { code: 'IP_NOT_ALLOWED', message: 'requests from this address are not allowed' };
    }
  }
  return undefined;
}

const isPast = (atMs: number | undefined, nowMs: number): boolean => atMs !== undefined && atMs <= nowMs;

async function exists(read: ReadStores, { actor, sessionToken }: Follower, nowMs: number): Promise<boolean> {
  const { homeId, userId, credential } = actor;
  switch (credential.kind) {
    case 'api-key':
      return await read(Credentials).exists('api_key', homeId, credential.apiKey.id);
    case 'passkey':
      return await read(Credentials).exists('authenticator', homeId, credential.authenticator.id);
    case 'read-session': {
      const session = await read(Principals).byReadSession(homeId, sha256Hex(sessionToken ?? ''));
      return session !== undefined && session.user.id === userId && session.expiresAtMs > nowMs;
    }
    case 'attested':
      return (await read(Users).find(homeId, userId)) !== undefined;
  }
}
