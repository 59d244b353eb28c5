import type { Decision } from '../authz/decide.ts';
import type { Actor } from '../lib/actor.ts';
import { ApiError } from '../lib/errors.ts';
import type { Organization } from '../lib/model.ts';
import { type LockMode, organizationNotFound } from '../storage/stores/organizations.ts';
import type { Stores } from '../storage/stores.ts';

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

/** Whether a decision taken before the transaction holds for the organization as it is now. */
export function stillStands(now: Organization, actor: Actor, judge: (organization: Organization) => Decision): boolean {
  if (now.authorityVersion === actor.organization.authorityVersion) return true;
  return judge(now).outcome === judge(actor.organization).outcome;
}
