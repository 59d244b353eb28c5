import { parseDuration } from '../time/cron.ts';
import { joinWords } from './wording.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const DAY_MINUTES = 1_440;

/** A window as somebody says it: where it lies in the week, and when in the day. */
export interface WindowWords {
  /** "Monday to Friday", "every day". */
  readonly days: string;
  /** "18:00 to 08:00", "all day". */
  readonly hours: string;
  readonly zone: string;
}

const clock = (minutes: number): string =>
  `${String(Math.floor(minutes / 60) % 24).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

/** Undefined for a schedule that is more than one time of day on some days of the week. */
export function windowWords(schedule: string, duration: string, zone: string): WindowWords | undefined {
  const [minute = '', hour = '', dayOfMonth, month, dayOfWeek = ''] = schedule.trim().split(/[ \t]+/);
  const lengthMs = parseDuration(duration);
  if (typeof lengthMs === 'string' || dayOfMonth !== '*' || month !== '*') return undefined;
  if (!/^[0-9]{1,2}$/.test(minute) || !/^[0-9]{1,2}$/.test(hour)) return undefined;
  const start = Number(hour) * 60 + Number(minute);
  const length = lengthMs / 60_000;
  if (length > DAY_MINUTES) return undefined;
  const days = daysIn(dayOfWeek);
  if (days === undefined) return undefined;
  const hours =
    length === DAY_MINUTES && start === 0 ? 'all day' : `${clock(start)} to ${clock((start + length) % DAY_MINUTES)}`;
  return { days, hours, zone };
}

function daysIn(field: string): string | undefined {
  if (field === '*') return 'every day';
  const found = new Set<number>();
  for (const part of field.split(',')) {
    const [, first, last = first] = /^([0-6])(?:-([0-6]))?$/.exec(part) ?? [];
    if (first === undefined) return undefined;
    for (let day = Number(first); day <= Number(last); day += 1) found.add(day);
  }
  const numbers = [...found].toSorted((left, right) => ((left + 6) % 7) - ((right + 6) % 7));
  if (numbers.length === 7) return 'every day';
  const isRun = numbers.every((day, index) => index === 0 || (numbers[index - 1] as number) % 7 === (day + 6) % 7);
  const names = numbers.map((day) => DAYS[day] as string);
  return isRun && names.length > 2 ? `${names[0]} to ${names.at(-1)}` : joinWords(names, 'and');
}

/** "Berlin" of "Europe/Berlin". */
export const placeOf = (zone: string): string =>
  zone.includes('/') ? (zone.split('/').at(-1) as string).replaceAll('_', ' ') : zone;

function partsAt(atMs: number, zone: string): { readonly weekday: string; readonly time: string } | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      weekday: 'long',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
    return { weekday: parts.get('weekday') ?? '', time: `${parts.get('hour')}:${parts.get('minute')}` };
  } catch {
    // A zone that this runtime does not know, of a policy stored by another one.
    return undefined;
  }
}

/** "Friday 18:42 in Berlin". */
export function momentWords(atMs: number, zone: string): string | undefined {
  const parts = partsAt(atMs, zone);
  if (parts === undefined) return undefined;
  return `${parts.weekday} ${parts.time}${zone === 'UTC' ? ' UTC' : ` in ${placeOf(zone)}`}`;
}

/** "08:00 on Monday". */
export function turningPointWords(atMs: number, zone: string): string | undefined {
  const parts = partsAt(atMs, zone);
  return parts && `${parts.time} on ${parts.weekday}`;
}

/** A moment in UTC, to the minute. */
export const instantWords = (instant: bigint): string => {
  const date = new Date(Number(instant / 1_000_000n));
  if (Number.isNaN(date.getTime())) return String(instant);
  const [day = '', time = ''] = date.toISOString().split('T');
  return `${day} ${time.slice(0, 5)} UTC`;
};
