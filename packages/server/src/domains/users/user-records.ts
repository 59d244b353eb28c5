import type { User } from '../../core/model.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { lruCache } from '../../lib/lru.ts';
import type { ReadStores } from '../../storage/stores.ts';
import type { UserRecord } from './model.ts';
import { renderUser, type WireUser } from './render/user.ts';
import { UserReader } from './store/users.ts';

const ENTRIES_MAX = 10_000;
/** A user who keeps changing is shown as it was in between. */
const READ_AGAIN_MAX = 3;

/** Wire records of users, kept by revision: every change to a user raises it, so a hit is never stale. */
export class UserRecords {
  readonly #cache = lruCache<WireUser>(ENTRIES_MAX);

  async get(read: ReadStores, organizationId: OrganizationId, user: User): Promise<WireUser> {
    const key = `${organizationId} ${user.id} ${user.revision}`;
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const atHand = read(UserReader).knownRecord(organizationId, user);
    if (atHand !== undefined) return this.#keep(key, { ...atHand, mfaPolicies: [] });
    let record = await read(UserReader).record(organizationId, user.id);
    for (let again = 0; !record.isWhole && again < READ_AGAIN_MAX; again += 1) {
      record = await read(UserReader).record(organizationId, user.id);
    }
    // A vote is not the place for what its voter has to prove elsewhere.
    const shown = { ...record, mfaPolicies: [] };
    const isSame = record.isWhole && record.user.revision === user.revision;
    return isSame ? this.#keep(key, shown) : renderUser(shown);
  }

  #keep(key: string, record: UserRecord): WireUser {
    const wire = renderUser(record);
    this.#cache.set(key, wire);
    return wire;
  }
}
