// protocol/policies 7.2. The engine walks local dates and turns wall times into instants. The reference walks real
// minutes instead and asks each for its wall time: no idea that could be wrong is used in both.
import { MINUTE_MS, offsetMsAt } from './time-zone.ts';

interface CronField {
  readonly unrestricted: boolean;
  readonly values: ReadonlySet<number>;
}

export interface Cron {
  readonly minute: CronField;
  readonly hour: CronField;
  readonly dayOfMonth: CronField;
  readonly month: CronField;
  readonly dayOfWeek: CronField;
}

export interface Span {
  readonly cron: Cron;
  readonly durationMs: number;
  readonly zone: string;
}

const DURATION_MINUTES_MAX = 7n * 24n * 60n;
// The longest known jump of a clock is a day (Samoa left out 30 December 2011). Looking back further than that finds
// every fire that a jump moved into the window and every first occurrence of a repeated wall time.
const LONGEST_CHANGE_MS = 25 * 60 * MINUTE_MS;

export function parseCron(text: string): Cron | undefined {
  const fields = text.split(/[ \t]+/);
  if (fields.length !== 5) return undefined;
  const minute = parseField(fields[0]!, 0, 59);
  const hour = parseField(fields[1]!, 0, 23);
  const dayOfMonth = parseField(fields[2]!, 1, 31);
  const month = parseField(fields[3]!, 1, 12);
  const dayOfWeek = parseField(fields[4]!, 0, 6);
  return minute && hour && dayOfMonth && month && dayOfWeek && { minute, hour, dayOfMonth, month, dayOfWeek };
}

function parseField(text: string, min: number, max: number): CronField | undefined {
  if (text === '*') return { unrestricted: true, values: new Set() };
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (match === null) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (first < min || last > max || first > last) return undefined;
    for (let value = first; value <= last; value += 1) values.add(value);
  }
  return { unrestricted: false, values };
}

export function parseDurationMs(text: string): number | undefined {
  const match = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?$/.exec(text);
  if (match === null) return undefined;
  const [days, hours, minutes] = match.slice(1).map((digits) => BigInt(digits ?? 0)) as [bigint, bigint, bigint];
  const total = (days * 24n + hours) * 60n + minutes;
  return total > 0n && total <= DURATION_MINUTES_MAX ? Number(total) * MINUTE_MS : undefined;
}

/** True when the instant lies in [f, f + duration) of some fire f. */
export function isWithinSpan(span: Span, nowMs: number): boolean {
  const startMs = nowMs - span.durationMs;
  return firesBetween(span, startMs - LONGEST_CHANGE_MS, nowMs).some((fireMs) => startMs < fireMs && fireMs <= nowMs);
}

/** Walks every real minute of the interval. A wall time is held as the UTC milliseconds that print the same. */
function firesBetween({ cron, zone }: Span, fromMs: number, toMs: number): number[] {
  const fires: number[] = [];
  const seenWallTimes = new Set<number>();
  const firstMinuteMs = Math.floor(fromMs / MINUTE_MS) * MINUTE_MS;
  let previousOffsetMs = offsetMsAt(zone, firstMinuteMs);
  for (let instantMs = firstMinuteMs; instantMs <= toMs; instantMs += MINUTE_MS) {
    const offsetMs = offsetMsAt(zone, instantMs);
    const wallMs = instantMs + offsetMs;
    if (!cron.hour.unrestricted) {
      // Wall times that the clock jumped over fire as late after the jump as they would have come without it.
      for (let skippedMs = instantMs + previousOffsetMs; skippedMs < wallMs; skippedMs += MINUTE_MS) {
        if (matches(cron, skippedMs)) fires.push(skippedMs - previousOffsetMs);
      }
    }
    const repeated = seenWallTimes.has(wallMs);
    seenWallTimes.add(wallMs);
    if (matches(cron, wallMs) && (cron.hour.unrestricted || !repeated)) fires.push(instantMs);
    previousOffsetMs = offsetMs;
  }
  return fires;
}

function matches(cron: Cron, wallMs: number): boolean {
  const wall = new Date(wallMs);
  return (
    admits(cron.minute, wall.getUTCMinutes()) &&
    admits(cron.hour, wall.getUTCHours()) &&
    admits(cron.month, wall.getUTCMonth() + 1) &&
    admitsDay(cron, wall)
  );
}

function admitsDay({ dayOfMonth, dayOfWeek }: Cron, wall: Date): boolean {
  const monthDayFits = admits(dayOfMonth, wall.getUTCDate());
  const weekDayFits = admits(dayOfWeek, wall.getUTCDay());
  const bothRestricted = !dayOfMonth.unrestricted && !dayOfWeek.unrestricted;
  return bothRestricted ? monthDayFits || weekDayFits : monthDayFits && weekDayFits;
}

const admits = (field: CronField, value: number): boolean => field.unrestricted || field.values.has(value);
