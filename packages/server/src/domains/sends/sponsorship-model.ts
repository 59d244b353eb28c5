import { MINUTE_MS } from '../../lib/clock.ts';
import type { GasUsageConfigId, OrganizationId } from '../../lib/ids.ts';

/** What a parent lets sponsored sends of its tree cost; limits are US dollars as decimal numbers. */
export interface GasUsageConfig {
  readonly organizationId: OrganizationId;
  readonly id: GasUsageConfigId;
  /** Of the parent and its sub-organizations together. */
  readonly treeLimitUsd: string;
  /** Of each sub-organization. */
  readonly subOrganizationLimitUsd: string;
  readonly windowMinutes: number;
  readonly isEnabled: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
export const DAY_MINUTES = 24 * 60;
/** The longest window that costs can be asked for. */
export const WINDOW_MINUTES_MAX = 30 * DAY_MINUTES;

/** Costs are kept by the minute. */
export const minuteOf = (timeMs: number): number => Math.floor(timeMs / MINUTE_MS);

/** The minute in which a window that ends now begins. It counts as a whole, so that no window is ever too short. */
export const firstMinute = (nowMs: number, windowMinutes: number): number => minuteOf(nowMs) - windowMinutes;
