import { ActivityFailedError, ActivityPendingError, ActivityRejectedError } from './errors.ts';
import { sleep } from './exchange.ts';
import type { Activity } from './generated/operations.ts';

const POLL_INTERVAL_MS = 1000;
const POLL_ATTEMPTS = 10;

export interface Polling {
  readonly pollIntervalMs?: number;
  readonly pollAttempts?: number;
}

/** Looks at a running activity until it settles, a bounded number of times. */
export async function settle(
  activity: Activity,
  look: (activity: Activity) => Promise<Activity>,
  { pollIntervalMs = POLL_INTERVAL_MS, pollAttempts = POLL_ATTEMPTS }: Polling,
  signal: AbortSignal | undefined,
): Promise<Activity> {
  let latest = activity;
  for (let attempt = 0; attempt < pollAttempts && isRunning(latest); attempt += 1) {
    await sleep(pollIntervalMs, signal);
    latest = await look(latest);
  }
  return latest;
}

/** Those that wait for people are not running: looking again would not help. */
const isRunning = ({ status }: Activity): boolean =>
  status === 'ACTIVITY_STATUS_CREATED' || status === 'ACTIVITY_STATUS_PENDING';

/** The result of a completed activity; throws for any other. */
export function resultOf(activity: Activity, resultKey: string): object {
  switch (activity.status) {
    case 'ACTIVITY_STATUS_COMPLETED':
      return (activity.result[resultKey] ?? {}) as object;
    case 'ACTIVITY_STATUS_FAILED':
      throw new ActivityFailedError(activity);
    case 'ACTIVITY_STATUS_REJECTED':
      throw new ActivityRejectedError(activity);
    default:
      throw new ActivityPendingError(activity);
  }
}
