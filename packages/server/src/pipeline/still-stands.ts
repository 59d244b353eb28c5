import type { Decision } from '../authz/decide.ts';
import type { Actor } from '../lib/actor.ts';
import type { Organization } from '../lib/model.ts';
import { organizationNotFound } from '../storage/stores/organizations.ts';
import type { Stores } from '../storage/stores.ts';

/** Whether a decision taken before the transaction holds for the organization as it is now, which the transaction holds. */
export async function stillStands(
  stores: Stores,
  now: Organization,
  actor: Actor,
  judge: (organization: Organization) => Decision,
): Promise<boolean> {
  if (now.deletedAtMs !== undefined) throw organizationNotFound();
  if (now.authorityVersion === actor.organization.authorityVersion) return true;
  return (await isStillPresent(stores, actor)) && judge(now).outcome === judge(actor.organization).outcome;
}

/** Whether the caller's user and credential are still there; they may have been deleted since the stamp was checked. */
export async function isStillPresent(stores: Stores, { homeId, userId, credential }: Actor): Promise<boolean> {
  if ((await stores.users.find(homeId, userId)) === undefined) return false;
  switch (credential.kind) {
    case 'api-key':
      return await stores.credentials.exists('api_key', homeId, credential.apiKey.id);
    case 'passkey':
      return await stores.credentials.exists('authenticator', homeId, credential.authenticator.id);
    case 'read-session':
      return false;
  }
}
