import { ACTIVITY_STATUSES, type ActivityStatus } from '../../packages/server/src/core/model.ts';
import {
  ACTIVITY_EVENTS,
  ACTIVITY_MOVERS,
  type ActivityEvent,
  TRANSITIONS,
} from '../../packages/server/src/engine/activities/status.ts';

const short = (status: ActivityStatus): string => `\`${status.replace('ACTIVITY_STATUS_', '')}\``;

/** How activities move between statuses, from the table that the server moves them by. */
export function transitionsTable(): string {
  const rows = ACTIVITY_STATUSES.flatMap((from) =>
    Object.entries(TRANSITIONS[from]).map(([event, { to, by }]) => {
      const movers = by.map((mover) => ACTIVITY_MOVERS[mover]).join(', ');
      return `| ${short(from)} | ${ACTIVITY_EVENTS[event as ActivityEvent]} | ${short(to)} | ${movers} |\n`;
    }),
  );
  return `| From | When | To | By |\n|---|---|---|---|\n${rows.join('')}`;
}
