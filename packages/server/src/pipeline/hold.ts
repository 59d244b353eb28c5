import type { Actor } from '../lib/actor.ts';
import { ApiError } from '../lib/errors.ts';
import type { Organization } from '../lib/model.ts';
import { type LockMode, organizationNotFound } from '../storage/stores/organizations.ts';
import type { Stores } from '../storage/stores.ts';

/** What was decided before the transaction no longer holds in it: nothing is done, and it is decided anew. */
export class Stale extends Error {}

/**
 * Holds the organization for the rest of the transaction and makes sure that the caller may still act: the credential
 * may have been deleted, or replaced by a newer one, since its stamp was checked.
 */
export async function lockFor(stores: Stores, actor: Actor, mode: LockMode): Promise<Organization> {
  const { homeId, credential } = actor;
  // Sent together; on PostgreSQL the second statement sees what the first waited for.
  const [organization, isPresent] = await Promise.all([
    stores.organizations.lock(actor.organizationId, mode),
    credential.kind === 'api-key'
      ? stores.credentials.exists('api_key', homeId, credential.apiKey.id)
      : credential.kind === 'passkey' &&
        stores.credentials.exists('authenticator', homeId, credential.authenticator.id),
  ]);
  if (organization.deletedAtMs !== undefined) throw organizationNotFound();
  if (!isPresent) {
    throw new ApiError('UNAUTHENTICATED', 'the credential was removed while the request was being handled');
  }
  return organization;
}
