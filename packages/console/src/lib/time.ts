export type TimeLike = Date | number | string | { readonly seconds: string; readonly nanos?: string };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const JUST = 20_000;

/** Every form in which the service writes a moment: RFC 3339, milliseconds, or seconds and nanoseconds. */
export function toDate(time: TimeLike): Date {
  if (time instanceof Date) return time;
  if (typeof time === 'number') return new Date(time);
  if (typeof time === 'object') return new Date(Number(time.seconds) * 1000 + Number(time.nanos ?? 0) / 1e6);
  return new Date(/^[0-9]{1,15}$/.test(time) ? Number(time) : time);
}

/** "now", "14 min ago", "2 h ago", "yesterday", "61 days ago", "in 3 days". */
export function relative(time: TimeLike, nowMs: number): string {
  const ms = nowMs - toDate(time).getTime();
  if (Number.isNaN(ms)) return 'unknown';
  // The page's clock moves in steps, so what has just happened may seem to be about to.
  return ms > -JUST ? past(ms) : `in ${span(-ms)}`;
}

function past(ms: number): string {
  if (ms < MINUTE) return 'now';
  const days = Math.floor(ms / DAY);
  if (days === 1) return 'yesterday';
  return `${days > 1 ? `${days} days` : span(ms)} ago`;
}

function span(ms: number): string {
  if (ms < MINUTE) return `${Math.max(1, Math.round(ms / 1000))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  const days = Math.floor(ms / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}

/** "23 h 46 min", "51 min", "2 days 3 h": how long something still lasts. */
export function duration(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / MINUTE));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} days` : `${days} days ${hours % 24} h`;
}

export interface TimeLeft {
  readonly text: string;
  /** The last hour is amber. */
  readonly isShort: boolean;
  readonly isOver: boolean;
}

export function timeLeft(until: TimeLike, nowMs: number): TimeLeft {
  const ms = toDate(until).getTime() - nowMs;
  return { text: ms <= 0 ? 'lapsed' : `${duration(ms)} left`, isShort: ms < HOUR, isOver: ms <= 0 };
}

const exactFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});
const clockFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const minuteFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

const written = (format: Intl.DateTimeFormat, time: TimeLike): string => {
  const date = toDate(time);
  return Number.isNaN(date.getTime()) ? 'unknown' : format.format(date);
};

/** The moment with its zone: "Mon, 16 Nov 2026, 10:04:11 CET". */
export const exact = (time: TimeLike): string => written(exactFormat, time);
/** "10:04:11". */
export const clock = (time: TimeLike): string => written(clockFormat, time);
/** "10:04". */
export const clockMinutes = (time: TimeLike): string => written(minuteFormat, time);
/** "16 Nov 2026". */
export const day = (time: TimeLike): string => written(dayFormat, time);
/** For `datetime` and exports: always UTC. */
export const utc = (time: TimeLike): string => {
  const date = toDate(time);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
};
