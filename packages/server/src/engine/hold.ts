import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../core/actor.ts';
import { Credentials, Identities, Users } from '../core/directory.ts';
import type { Organization } from '../core/model.ts';
import { type LockMode, OrganizationStore, organizationNotFound } from '../core/store/organizations.ts';
import { isSameKey } from '../core/store/sealed.ts';
import { ApiError } from '../lib/errors.ts';
import type { OrganizationId } from '../lib/ids.ts';
import { together } from '../lib/together.ts';
import type { Fenced } from '../storage/fence.ts';
import type { WriteOptions } from '../storage/storage.ts';
import type { Stores } from '../storage/stores.ts';
import type { Intent } from './intent.ts';

/** What was decided before the transaction no longer holds in it: nothing is done, and it is decided anew. */
export class Stale extends Error {}

/**
 * Who decides what happens where: the two differ where a parent runs a login in its sub-organization
 * (protocol/consensus 5.2).
 */
export interface Authority {
  /** Whose users, policies and quorum decide. */
  readonly decider: Organization;
  /** The organization acted on. */
  readonly target: Organization;
}

/** Whether nothing that a decision reads has changed between the two. */
export const isSameAuthority = (one: Authority, other: Authority): boolean =>
  one.decider.authorityVersion === other.decider.authorityVersion &&
  one.target.authorityVersion === other.target.authorityVersion;

/**
 * Begins anew where the organization has another key by now than it was known with: what was sealed under the earlier one
 * must not be stored, since that key goes when nothing is under it any more (docs/decisions/0058).
 */
export function requireSameKey(known: Organization | undefined, { target }: Authority): void {
  if (known !== undefined && !isSameKey(known.wrappedKey, target.wrappedKey)) throw new Stale();
}

/**
 * Decides anew, from authentication on, where a user was changed since: its contacts, tags and credentials are read.
 */
export async function requireUnchanged(stores: Stores, { homeId, user }: Actor): Promise<void> {
  const current = await stores(Users).find(homeId, user.id);
  if (current?.revision !== user.revision) throw new Stale();
}

/** Decides anew where the transaction finds the parameters to be about something else than what was prepared. */
export async function requireSameDescription(prepared: Intent, inside: Intent): Promise<void> {
  if (!isDeepStrictEqual(await inside.describe(), await prepared.describe())) throw new Stale();
}

/** Whether this request has noted its attempt yet: it does so once, however often it is decided anew. */
export interface AttemptNote {
  isNoted: boolean;
  /** What was done outside for the request and cannot be done again. */
  done?: Promise<unknown>;
}

/** Whether something was done for a request that stands, or happened elsewhere, whatever becomes of it here. */
export const hasBegun = ({ isNoted, done }: AttemptNote): boolean => isNoted || done !== undefined;

/** How a unit that begins with `lockFor` asks for its transaction. */
export const inTurn = (
  { organizationId, organization }: Actor,
  { mode, isLong, note }: { readonly mode: LockMode; readonly isLong: boolean; readonly note: AttemptNote },
): WriteOptions & { readonly of: Fenced } => ({
  of: organization,
  turn: { organizationId, mode },
  isLong,
  isIrrevocable: hasBegun(note),
});

interface LockOptions {
  /** The organization that decides, where it is not the caller's own. */
  readonly authorityId?: OrganizationId;
  /** What is taken and read as soon as the organizations are held. */
  readonly alongside?: () => Promise<unknown> | undefined;
}

/**
 * Holds the organization, and the one that decides, for the rest of the transaction and makes sure that the caller may
 * still act: the credential may have been deleted, or replaced by a newer one, since its stamp was checked.
 */
export async function lockFor(
  stores: Stores,
  actor: Actor,
  mode: LockMode,
  { authorityId = actor.homeId, alongside }: LockOptions = {},
): Promise<Authority> {
  // Sent together and done in this order. The parent first, always: who holds a sub-organization never waits for its
  // parent. On PostgreSQL each statement sees what those before it waited for.
  // The credential is looked for last: whoever removes it without holding the organization holds its user, whom `alongside`
  // waits for where the credential could be used to make another one.
  const [parent, target, , isPresent] = await together([
    authorityId === actor.organizationId ? undefined : stores(OrganizationStore).lock(authorityId, 'shared'),
    stores(OrganizationStore).lock(actor.organizationId, mode),
    alongside?.(),
    credentialExists(stores, actor),
  ]);
  if (target.deletedAtMs !== undefined || parent?.deletedAtMs !== undefined) throw organizationNotFound();
  if (!isPresent) throw credentialRemoved();
  return { decider: parent ?? target, target };
}

/** Takes something after `lockFor`, which others may have held meanwhile: the caller may still act. */
export async function takeLater(stores: Stores, actor: Actor, take: Promise<void>): Promise<void> {
  const [, isPresent] = await together([take, credentialExists(stores, actor)]);
  if (!isPresent) throw credentialRemoved();
}

const credentialRemoved = (): ApiError =>
  new ApiError('UNAUTHENTICATED', 'the credential was removed while the request was being handled');

async function credentialExists(stores: Stores, { homeId, userId, credential }: Actor): Promise<boolean> {
  switch (credential.kind) {
    case 'api-key':
      return await stores(Credentials).exists('api_key', homeId, credential.apiKey.id);
    case 'passkey':
      return await stores(Credentials).exists('authenticator', homeId, credential.authenticator.id);
    case 'attested': {
      const { providerId } = credential.attested;
      return providerId === undefined
        ? (await stores(Users).find(homeId, userId)) !== undefined
        : await stores(Identities).hasProvider(homeId, providerId);
    }
    case 'read-session':
      return false;
  }
}
