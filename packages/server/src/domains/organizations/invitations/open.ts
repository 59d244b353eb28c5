import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import { TagReader } from '../../users/store/tags.ts';
import { UserReader } from '../../users/store/users.ts';
import type { Invitation } from '../model.ts';

const ASK = 'ask for a new one';

/** Refuses an invitation that can no longer be accepted; whoever has the link is told why. */
export async function requireOpen(
  read: ReadStores,
  organizationId: OrganizationId,
  { status, link, senderUserId, receiverUserTags }: Invitation,
  nowMs: number,
): Promise<void> {
  if (status === 'INVITATION_STATUS_ACCEPTED') throw over('this invitation has been accepted already');
  if (status === 'INVITATION_STATUS_REVOKED') throw over(`this invitation was revoked; ${ASK}`);
  if (link === undefined || link.expiresAtMs <= nowMs) throw over(`this invitation has expired; ${ASK}`);
  // What somebody has started who is no longer trusted does not go on.
  if ((await read(UserReader).find(organizationId, senderUserId)) === undefined) {
    throw over(`the user who sent this invitation has been deleted; ${ASK}`);
  }
  try {
    await read(TagReader).requireAll(organizationId, 'TAG_TYPE_USER', receiverUserTags);
  } catch (error) {
    // A user without a tag may be allowed more than one with it.
    if (error instanceof ApiError) throw over(`a tag that this invitation names has been deleted; ${ASK}`);
    throw error;
  }
}

const over = (why: string): ApiError => new ApiError('FAILED_PRECONDITION', why);
