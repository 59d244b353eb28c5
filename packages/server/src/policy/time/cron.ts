import { civilFromDays, weekdayFromDays } from './calendar.ts';
import type { OffsetSegment, Zone } from './zone.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
const DURATION_MS_MAX = 7 * DAY_MS;
/** A wall time may have occurred before as far back as clocks were ever set, which is a day. */
const LOOK_BACK_MS = 2 * DAY_MS;

/** One field of a schedule: its values as bits. */
interface CronField {
  readonly bits: bigint;
  readonly isAny: boolean;
}

export interface Cron {
  readonly minute: CronField;
  readonly hour: CronField;
  readonly dayOfMonth: CronField;
  readonly month: CronField;
  readonly dayOfWeek: CronField;
}

const FIELDS = [
  { name: 'minute', low: 0, high: 59 },
  { name: 'hour', low: 0, high: 23 },
  { name: 'day of month', low: 1, high: 31 },
  { name: 'month', low: 1, high: 12 },
  { name: 'day of week', low: 0, high: 6 },
] as const;

/** The schedule of a text, or what is wrong with it (protocol/policies 7.2). */
export function parseCron(text: string): Cron | string {
  const parts = text.split(/[ \t]+/);
  if (parts.length !== FIELDS.length) {
    return `a schedule has five fields (minute, hour, day of month, month, day of week), this has ${parts.length}`;
  }
  const fields: CronField[] = [];
  for (const [position, { name, low, high }] of FIELDS.entries()) {
    const field = parseField(parts[position] as string, low, high);
    if (typeof field === 'string') return `${name}: ${field}`;
    fields.push(field);
  }
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields as [
    CronField,
    CronField,
    CronField,
    CronField,
    CronField,
  ];
  return { minute, hour, dayOfMonth, month, dayOfWeek };
}

function parseField(text: string, low: number, high: number): CronField | string {
  if (text === '*') return { bits: 0n, isAny: true };
  let bits = 0n;
  for (const part of text.split(',')) {
    const range = /^([0-9]{1,2})(?:-([0-9]{1,2}))?$/.exec(part);
    if (range === null) return `expected * or numbers and ranges such as 1,3-5, found ${JSON.stringify(part)}`;
    const first = Number(range[1]);
    const last = Number(range[2] ?? range[1]);
    if (first < low || last > high) return `${part} is outside ${low}-${high}`;
    if (last < first) return `the range ${part} runs backwards`;
    for (let value = first; value <= last; value += 1) bits |= 1n << BigInt(value);
  }
  return { bits, isAny: false };
}

/** Milliseconds of a duration such as 1d12h, or what is wrong with it. */
export function parseDuration(text: string): number | string {
  const found = /^(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?$/.exec(text);
  if (found === null || text === '')
    return 'expected whole days, hours and minutes in this order, such as 1d12h or 30m';
  const [days = 0, hours = 0, minutes = 0] = found.slice(1).map((part) => Number(part ?? 0));
  const durationMs = ((days * 24 + hours) * 60 + minutes) * MINUTE_MS;
  if (durationMs === 0) return 'a window must last longer than nothing';
  if (durationMs > DURATION_MS_MAX) return 'a window lasts at most seven days';
  return durationMs;
}

const has = (field: CronField, value: number): boolean => field.isAny || ((field.bits >> BigInt(value)) & 1n) === 1n;

function dayMatches(cron: Cron, day: number): boolean {
  const date = civilFromDays(day);
  if (!has(cron.month, date.month)) return false;
  const byMonth = has(cron.dayOfMonth, date.day);
  const byWeek = has(cron.dayOfWeek, weekdayFromDays(day));
  // Both restricted: either day fires. Otherwise the unrestricted one matches anyway.
  return cron.dayOfMonth.isAny || cron.dayOfWeek.isAny ? byMonth && byWeek : byMonth || byWeek;
}

/**
 * Whether a schedule names a wall time in [first, last], both in minutes since 1970 as a clock on the wall shows them.
 */
function matchesBetween(cron: Cron, first: number, last: number): boolean {
  for (let day = Math.floor(first / DAY_MINUTES); day * DAY_MINUTES <= last; day += 1) {
    if (!dayMatches(cron, day)) continue;
    const from = Math.max(0, first - day * DAY_MINUTES);
    const to = Math.min(DAY_MINUTES - 1, last - day * DAY_MINUTES);
    for (let hour = Math.floor(from / 60); hour * 60 <= to; hour += 1) {
      if (!has(cron.hour, hour)) continue;
      const minuteTo = Math.min(59, to - hour * 60);
      for (let minute = Math.max(0, from - hour * 60); minute <= minuteTo; minute += 1) {
        if (has(cron.minute, minute)) return true;
      }
    }
  }
  return false;
}

/**
 * Instants from `fromMs` to `toMs`, both included, in which a clock that runs `offsetMs` ahead of UTC shows a full
 * minute.
 */
function firesBetween(cron: Cron, offsetMs: number, fromMs: number, toMs: number): boolean {
  const first = Math.ceil((fromMs + offsetMs) / MINUTE_MS);
  const last = Math.floor((toMs + offsetMs) / MINUTE_MS);
  return first <= last && matchesBetween(cron, first, last);
}

/**
 * Whether a fire f of the schedule lies in (nowMs - durationMs, nowMs]: then nowMs is in [f, f + duration)
 * (protocol/policies 7.2).
 */
export function inCronSpan(cron: Cron, durationMs: number, zone: Zone, nowMs: number): boolean {
  const afterMs = nowMs - durationMs + 1;
  let before: OffsetSegment | undefined;
  for (const segment of zone.segments(afterMs - LOOK_BACK_MS, nowMs)) {
    if (firesInSegment(cron, segment, before, afterMs, nowMs)) return true;
    before = segment;
  }
  return false;
}

function firesInSegment(
  cron: Cron,
  { startMs, endMs, offsetMs }: OffsetSegment,
  before: OffsetSegment | undefined,
  afterMs: number,
  nowMs: number,
): boolean {
  const untilMs = Math.min(nowMs, endMs - 1);
  // With every hour allowed, each real minute counts by what the clock shows.
  if (cron.hour.isAny || before === undefined) {
    return firesBetween(cron, offsetMs, Math.max(afterMs, startMs), untilMs);
  }
  const turnedMs = before.offsetMs - offsetMs;
  // Set back: what the clock shows for this long, it has shown before, and a daily job runs once.
  const repeatedUntilMs = startMs + Math.max(0, turnedMs);
  if (firesBetween(cron, offsetMs, Math.max(afterMs, repeatedUntilMs), untilMs)) return true;
  // Set forward: wall times that were skipped fire as if the clock had not been touched, so later by the gap.
  const skippedUntilMs = startMs + Math.max(0, -turnedMs) - 1;
  return firesBetween(cron, before.offsetMs, Math.max(afterMs, startMs), Math.min(nowMs, skippedUntilMs));
}
