import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';

/** Providers are slow at times, and clients ask every few seconds. */
const QUESTIONS_MAX = 64;
/** So that one organization whose provider hangs does not take the turns of all others. */
const QUESTIONS_PER_ORGANIZATION_MAX = 8;

/** Does the work, or refuses when too much of it is under way; nobody waits in line. */
export type InTurn = <T>(organizationId: OrganizationId, work: () => Promise<T>) => Promise<T>;

/** How many questions providers are asked at the same time. */
export function takeTurns(): InTurn {
  const running = new Map<OrganizationId, number>();
  let all = 0;
  return async (organizationId, work) => {
    const own = running.get(organizationId) ?? 0;
    if (own >= QUESTIONS_PER_ORGANIZATION_MAX) {
      throw new ApiError('RATE_LIMIT_EXCEEDED', 'the organization asks on-ramp providers too much at the same time', {
        retryAfterSeconds: 1,
      });
    }
    if (all >= QUESTIONS_MAX) {
      throw new ApiError('UNAVAILABLE', 'on-ramp providers are asked too much at the same time', {
        retryAfterSeconds: 1,
      });
    }
    all += 1;
    running.set(organizationId, own + 1);
    try {
      return await work();
    } finally {
      all -= 1;
      const left = (running.get(organizationId) ?? 1) - 1;
      if (left > 0) running.set(organizationId, left);
      else running.delete(organizationId);
    }
  };
}
