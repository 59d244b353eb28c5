import { OrganizationReader } from '../core/store/organizations.ts';
import type { OrganizationId } from '../lib/ids.ts';
import type { Storage } from '../storage/storage.ts';
import type { Hold } from '../workers/hold.ts';

type FencedStorage = Pick<Storage, 'fence' | 'read'>;

/** Whether nothing may be done for an organization; its row says who its parent is, and is verified. */
export async function isHeld({ fence, read }: FencedStorage, organizationId: string): Promise<boolean> {
  if (!fence.isUp) return false;
  if (fence.isWhole) return true;
  const organization = await read(OrganizationReader).find(organizationId as OrganizationId);
  return organization === undefined || fence.holds(organization);
}

/** The fence, as workers ask about it. */
export const holdOf = (storage: FencedStorage): Hold => ({
  get isUp() {
    return storage.fence.isUp;
  },
  get isWhole() {
    return storage.fence.isWhole;
  },
  holds: (organizationId) => isHeld(storage, organizationId),
});
