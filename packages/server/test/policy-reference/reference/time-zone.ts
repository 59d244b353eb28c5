// Offsets come from the runtime's zone data. Since 1972 every zone's offset and every change of it is a whole number of
// quarter hours, so one question per quarter hour is enough; the reference makes no promise for earlier instants.

export const MINUTE_MS = 60_000;
const QUARTER_HOUR_MS = 15 * MINUTE_MS;

const formatters = new Map<string, Intl.DateTimeFormat>();
const offsetsByZone = new Map<string, Map<number, number>>();

/** protocol/policies 7.2: an IANA name that the runtime knows; never an offset. */
export function isTimeZone(name: string): boolean {
  if (name === '' || /^[+-]/.test(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** What must be added to the instant to get the wall time of the zone, in milliseconds. */
export function offsetMsAt(zone: string, instantMs: number): number {
  const quarterHour = Math.floor(instantMs / QUARTER_HOUR_MS);
  const known = offsetsByZone.get(zone) ?? new Map<number, number>();
  offsetsByZone.set(zone, known);
  let offset = known.get(quarterHour);
  if (offset === undefined) {
    offset = wallTimeMs(zone, quarterHour * QUARTER_HOUR_MS) - quarterHour * QUARTER_HOUR_MS;
    known.set(quarterHour, offset);
  }
  return offset;
}

function wallTimeMs(zone: string, instantMs: number): number {
  const parts = new Map(
    formatterOf(zone)
      .formatToParts(instantMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name)!;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formatters.set(zone, formatter);
  }
  return formatter;
}
