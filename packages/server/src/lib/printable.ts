/** What a terminal acts on, or what changes how the rest of a line reads. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** Text that others wrote, for a line on somebody's terminal: unfit characters as \\u{…}, and no more than so many. */
export function printable(text: unknown, lengthMax = 100): string {
  const whole = typeof text === 'string' ? text : String(JSON.stringify(text));
  const shown = whole.length > lengthMax ? `${whole.slice(0, lengthMax)}…` : whole;
  return shown.replace(UNFIT, (unfit) => `\\u{${unfit.codePointAt(0)?.toString(16)}}`);
}

/** A moment that others wrote; what no calendar has stands as it is. */
export function printableTime(timeMs: unknown): string {
  const date = new Date(Number(timeMs));
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  return printable(typeof timeMs === 'bigint' ? String(timeMs) : timeMs);
}
