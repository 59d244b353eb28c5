import type { IpAllowlist } from '../../core/model.ts';
import type { ExecuteContext } from '../../engine/define.ts';
import { isAllowedFrom } from '../../engine/rules/allowlist.ts';
import { ApiError } from '../../lib/errors.ts';

/** The one whose call makes the lists take effect must still be let in afterwards (protocol/organizations 8.4). */
export function refuseLockout({ caller }: ExecuteContext, lists: readonly IpAllowlist[]): void {
  if (!isAllowedFrom(lists, caller.publicKey, caller.address)) {
    throw new ApiError(
      'IP_LOCKOUT',
      'the address of this request would not be allowed afterwards; allowLockout makes it so all the same',
    );
  }
}
