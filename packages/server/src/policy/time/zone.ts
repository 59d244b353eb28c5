import { lruCache } from '../../lib/lru.ts';
import { daysFromCivil } from './calendar.ts';

const DAY_MS = 86_400_000;
/** Names only: newer engines also take offsets such as +01:00 for zones, and those know no daylight saving. */
const IANA_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;
/** More than there are zones, so that all of them stay known. */
const ZONES_MAX = 1_024;
const DAYS_KEPT_MAX = 64;

/** A stretch of time with one offset from UTC. */
export interface OffsetSegment {
  readonly startMs: number;
  readonly endMs: number;
  readonly offsetMs: number;
}

export interface Zone {
  /** The stretches that cover [fromMs, toMs], in order and without holes. */
  segments(fromMs: number, toMs: number): readonly OffsetSegment[];
}

/**
 * Zones are the same for everyone and costly to set up (a formatter each). The key ignores case, as the runtime does.
 */
const zones = lruCache<Zone>(ZONES_MAX);

/** The zone of an IANA name, by the time-zone data of the runtime; undefined when there is none. */
export function findZone(name: string): Zone | undefined {
  if (!IANA_NAME.test(name)) return undefined;
  const key = name.toLowerCase();
  const known = zones.get(key);
  if (known !== undefined) return known;
  const formatter = openFormatter(name);
  if (formatter === undefined) return undefined;
  const zone = createZone((atMs) => offsetAt(formatter, atMs));
  zones.set(key, zone);
  return zone;
}

function openFormatter(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  } catch {
    // The runtime says RangeError for a zone that it does not know.
    return undefined;
  }
}

function offsetAt(formatter: Intl.DateTimeFormat, atMs: number): number {
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (
    formatter.format(atMs).match(/[0-9]+/g) ?? []
  ).map(Number);
  const local = (((daysFromCivil(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1_000;
  return local - Math.floor(atMs / 1_000) * 1_000;
}

/**
 * Finds the changes of an offset by asking for it once per UTC day. That sees every change, because since 1970 no zone has
 * changed twice within a week.
 */
export function createZone(offset: (atMs: number) => number): Zone {
  const offsets = new Map<number, number>();
  const offsetOfDay = (day: number): number => {
    const known = offsets.get(day);
    if (known !== undefined) return known;
    if (offsets.size >= DAYS_KEPT_MAX) offsets.clear();
    const found = offset(day * DAY_MS);
    offsets.set(day, found);
    return found;
  };
  /** The changes within a day, which are none on almost every day. */
  const changes = new Map<number, number>();
  const changeOfDay = (day: number): number => {
    const known = changes.get(day);
    if (known !== undefined) return known;
    if (changes.size >= DAYS_KEPT_MAX) changes.clear();
    const before = offsetOfDay(day);
    let low = day * DAY_MS;
    let high = low + DAY_MS;
    while (high - low > 1_000) {
      const middle = low + Math.floor((high - low) / 2_000) * 1_000;
      if (offset(middle) === before) low = middle;
      else high = middle;
    }
    changes.set(day, high);
    return high;
  };

  return {
    segments(fromMs, toMs) {
      const found: OffsetSegment[] = [];
      const lastDay = Math.floor(toMs / DAY_MS) + 1;
      let day = Math.floor(fromMs / DAY_MS);
      let startMs = day * DAY_MS;
      for (; day < lastDay; day += 1) {
        const offsetMs = offsetOfDay(day);
        if (offsetOfDay(day + 1) === offsetMs) continue;
        const endMs = changeOfDay(day);
        found.push({ startMs, endMs, offsetMs });
        startMs = endMs;
      }
      found.push({ startMs, endMs: lastDay * DAY_MS, offsetMs: offsetOfDay(lastDay) });
      return found;
    },
  };
}
