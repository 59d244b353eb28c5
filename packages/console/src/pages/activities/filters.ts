import type { ActivityStatus } from '@custos/sdk';
import type { ParametersOf } from '../../api/use-api.ts';

/** What is looked for, as the address holds it. */
export interface ActivitySearch {
  readonly type?: string;
  readonly status?: ActivityStatus;
  readonly user?: string;
  /** Days of this computer's calendar, such as 2026-11-16; both ends are included. */
  readonly from?: string;
  readonly to?: string;
}

export const STATUSES = [
  'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
  'ACTIVITY_STATUS_COMPLETED',
  'ACTIVITY_STATUS_REJECTED',
  'ACTIVITY_STATUS_FAILED',
  'ACTIVITY_STATUS_PENDING',
] as const satisfies readonly ActivityStatus[];

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TYPE = /^ACTIVITY_TYPE_[A-Z0-9_]{1,100}$/;
const ID = /^[0-9a-f-]{36}$/;

const textOf = (value: unknown, shape: RegExp): string | undefined =>
  typeof value === 'string' && shape.test(value) ? value : undefined;

/** Whatever an address says: what does not fit is left out. */
export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const type = textOf(search.type, TYPE);
  const status = STATUSES.find((known) => known === search.status);
  const user = textOf(search.user, ID);
  const from = textOf(search.from, DAY);
  const to = textOf(search.to, DAY);
  return {
    ...(type !== undefined && { type }),
    ...(status !== undefined && { status }),
    ...(user !== undefined && { user }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

/** Midnight of a day here, some days later. */
function dayMs(day: string, later = 0): number | undefined {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const time = new Date(year, month - 1, date + later).getTime();
  return Number.isNaN(time) ? undefined : time;
}

export function parametersOf(search: ActivitySearch): Omit<ParametersOf<'listActivities'>, 'paginationOptions'> {
  const { type, status, user, from, to } = search;
  const after = from === undefined ? undefined : dayMs(from);
  const before = to === undefined ? undefined : dayMs(to, 1);
  return {
    ...(type !== undefined && { filterByType: [type] }),
    ...(status !== undefined && { filterByStatus: [status] }),
    ...(user !== undefined && { filterByUserId: user }),
    ...(after !== undefined && { createdAfterMs: String(after) }),
    ...(before !== undefined && { createdBeforeMs: String(before) }),
  };
}
