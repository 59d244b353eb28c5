import type { User } from '../../core/model.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { lruCache } from '../../lib/lru.ts';
import type { ReadStores } from '../../storage/stores.ts';
import { renderUser, type WireUser } from './render/user.ts';
import { UserReader } from './store/users.ts';

const ENTRIES_MAX = 10_000;

/** Wire records of users, kept by revision: every change to a user raises it, so a hit is never stale. */
export class UserRecords {
  readonly #cache = lruCache<WireUser>(ENTRIES_MAX);

  async get(read: ReadStores, organizationId: OrganizationId, user: User): Promise<WireUser> {
    const key = `${organizationId} ${user.id} ${user.revision}`;
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const record = await read(UserReader).record(organizationId, user.id);
    // A vote is not the place for what its voter has to prove elsewhere.
    const wire = renderUser({ ...record, mfaPolicies: [] });
    if (record.isWhole && record.user.revision === user.revision) this.#cache.set(key, wire);
    return wire;
  }
}
