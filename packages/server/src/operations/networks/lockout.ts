import { isAllowedFrom } from '../../authz/allowlist.ts';
import { ApiError } from '../../lib/errors.ts';
import type { IpAllowlist } from '../../lib/model.ts';
import type { ExecuteContext } from '../define.ts';

/** The one whose call makes the lists take effect must still be let in afterwards (protocol/stamps 10.3). */
export function refuseLockout({ caller }: ExecuteContext, lists: readonly IpAllowlist[]): void {
  if (!isAllowedFrom(lists, caller.publicKey, caller.address)) {
    throw new ApiError(
      'IP_LOCKOUT',
      'the address of this request would not be allowed afterwards; allowLockout makes it so all the same',
    );
  }
}
