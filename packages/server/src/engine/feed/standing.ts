import { type Actor, credentialIdOf, publicKeyOf } from '../../core/actor.ts';
import { type ApiKeyPlace, Credentials, Principals, Users } from '../../core/directory.ts';
import type { Standing } from '../../core/store/changes.ts';
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

/** Under what a follower was last found to be allowed. */
export interface Seen {
  readonly authorityVersion: number;
  readonly rulesVersion: number;
  /** Of a read-only session, once it is known. */
  readonly sessionEndsAtMs: number | undefined;
}

interface Parts {
  readonly read: ReadStores;
  readonly accessRules: AccessRulesCache;
  readonly nowMs: number;
}

/** The organizations that streams depend on, each once however many streams there are. */
export const organizationIdsOf = (followers: readonly Follower[]): OrganizationId[] => [
  ...new Set(followers.flatMap(({ actor }) => [actor.organizationId, actor.homeId])),
];

/** The API keys that streams depend on. A login replaces some without a trace in the organization, so each is looked for. */
export const apiKeysOf = (followers: readonly Follower[]): ApiKeyPlace[] => [
  ...new Map(
    followers.flatMap(({ actor: { credential, homeId } }) =>
      credential.kind === 'api-key'
        ? [[credential.apiKey.id, { organizationId: homeId, id: credential.apiKey.id }]]
        : [],
    ),
  ).values(),
];

/** What was read for all followers together. */
interface Read {
  readonly standings: readonly Standing[];
  /** Of the API keys that are there, when each ends. */
  readonly keyEnds: ReadonlyMap<string, number | undefined>;
}

/** Judges whether followers may still follow; those of one credential are judged once. */
export class Judge {
  readonly #parts: Parts;
  readonly #standings: ReadonlyMap<string, Standing>;
  readonly #keyEnds: ReadonlyMap<string, number | undefined>;
  readonly #lives = new Map<string, Promise<Life | undefined>>();

  constructor(parts: Parts, { standings, keyEnds }: Read) {
    this.#parts = parts;
    this.#keyEnds = keyEnds;
    this.#standings = new Map(standings.map((standing) => [standing.id, standing]));
  }

  /** Under what it may follow from now on, or why it may no longer. What cannot have changed is not read again. */
  async judge(follower: Follower, seen: Seen): Promise<Seen | FeedEnd> {
    const { actor } = follower;
    const { nowMs } = this.#parts;
    const target = this.#standings.get(actor.organizationId);
    const home = this.#standings.get(actor.homeId);
    if (target === undefined || home === undefined || target.isDeleted || home.isDeleted) {
      return { code: 'ORGANIZATION_NOT_FOUND', message: 'the organization was deleted' };
    }
    const { credential } = actor;
    if (credential.kind === 'api-key') {
      const { id, expiresAtMs } = credential.apiKey;
      if (isPast(expiresAtMs, nowMs) || isPast(this.#keyEnds.get(id), nowMs)) {
        return { code: 'API_KEY_EXPIRED', message: 'the session or API key has expired' };
      }
      if (!this.#keyEnds.has(id)) return GONE;
    }
    let { sessionEndsAtMs } = seen;
    const isNewSession = credential.kind === 'read-session' && sessionEndsAtMs === undefined;
    if (isNewSession || home.authorityVersion !== seen.authorityVersion) {
      const life = await this.#lifeOf(follower);
      if (life === undefined) return GONE;
      sessionEndsAtMs = life.endsAtMs;
    }
    // Nobody ends a read-only session before its time, save with its user.
    if (isPast(sessionEndsAtMs, nowMs)) return GONE;
    if (home.rulesVersion !== seen.rulesVersion) {
      const { accessRules, read } = this.#parts;
      const lists = await accessRules.allowlistsOf(home, read);
      if (lists.length > 0 && !isAllowedFrom(lists, publicKeyOf(actor), follower.address)) {
        return { code: 'IP_NOT_ALLOWED', message: 'requests from this address are not allowed' };
      }
    }
    const { authorityVersion, rulesVersion } = home;
    return { authorityVersion, rulesVersion, sessionEndsAtMs };
  }

  #lifeOf(follower: Follower): Promise<Life | undefined> {
    const key = credentialKeyOf(follower);
    const known = this.#lives.get(key);
    if (known !== undefined) return known;
    const life = findLife(this.#parts.read, follower);
    this.#lives.set(key, life);
    return life;
  }
}

const GONE: FeedEnd = { code: 'UNAUTHENTICATED', message: 'the credential or its user is gone' };

/** A credential that is there, and when it ends if the actor does not say so. */
interface Life {
  readonly endsAtMs: number | undefined;
}

/** Tells the credential of a follower from every other. */
const credentialKeyOf = ({ actor, sessionToken }: Follower): string =>
  `${actor.userId} ${credentialIdOf(actor) ?? sha256Hex(sessionToken ?? '')}`;

const isPast = (atMs: number | undefined, nowMs: number): boolean => atMs !== undefined && atMs <= nowMs;

async function findLife(read: ReadStores, { actor, sessionToken }: Follower): Promise<Life | undefined> {
  const { homeId, userId, credential } = actor;
  const whileThere = (isThere: boolean): Life | undefined => (isThere ? { endsAtMs: undefined } : undefined);
  switch (credential.kind) {
    // It is looked for each time.
    case 'api-key':
      return whileThere(true);
    case 'passkey':
      return whileThere(await read(Credentials).exists('authenticator', homeId, credential.authenticator.id));
    case 'read-session': {
      const session = await read(Principals).byReadSession(homeId, sha256Hex(sessionToken ?? ''));
      return session?.user.id === userId ? { endsAtMs: session.expiresAtMs } : undefined;
    }
    case 'attested':
      return whileThere((await read(Users).find(homeId, userId)) !== undefined);
  }
}
