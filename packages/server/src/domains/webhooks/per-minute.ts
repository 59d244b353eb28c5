import type { AttemptContext } from '../../engine/define.ts';
import { MINUTE_MS } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { RateWindowStore } from '../../storage/rate-windows.ts';

/** Counts what an organization has done for it, so many times in a minute; `what` ends the sentence of the refusal. */
export async function countPerMinute(
  { store, actor, nowMs }: AttemptContext,
  name: string,
  max: number,
  what: string,
): Promise<void> {
  if (await store(RateWindowStore).countUp(actor.organizationId, name, { max, windowMs: MINUTE_MS, nowMs })) return;
  throw new ApiError('RATE_LIMIT_EXCEEDED', `at most ${max} ${what} in a minute`, { retryAfterSeconds: 60 });
}
