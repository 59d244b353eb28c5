import type { Activity } from '../core/model.ts';
import type { ErrorCode } from '../lib/errors.ts';

/** Who hears what happens to requests, for logs and metrics. */
export interface EngineObserver {
  activity(activity: Activity): void;
  request(operation: string, code: ErrorCode | 'OK', milliseconds: number): void;
  internalError(errorId: string, operation: string, error: unknown): void;
  unavailable(operation: string, cause: unknown): void;
  signCountDecreased(organizationId: string, authenticatorId: string): void;
  ambiguousAccount(organizationId: string, filterType: string): void;
}
