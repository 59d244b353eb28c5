import { type Cron, parseCron, parseDuration } from '../time/cron.ts';
import { parseTimestamp } from '../time/timestamp.ts';
import { findZone, type Zone } from '../time/zone.ts';
import { type Span, type StaticErrorCode, StaticFailure } from './errors.ts';

/** What a call of a time function means; all of it is known before any request (protocol/policies 7). */
export type TimeCall =
  | { readonly kind: 'timestamp'; readonly instant: bigint }
  | { readonly kind: 'cronSpan'; readonly cron: Cron; readonly durationMs: number; readonly zone: Zone };

/** A string literal in a text. */
export interface Literal extends Span {
  readonly value: string;
}

const fail = (code: StaticErrorCode, { start, end }: Span, message: string): StaticFailure =>
  new StaticFailure(code, { start, end }, message);

export function readTimestamp(literal: Literal): TimeCall {
  const instant = parseTimestamp(literal.value);
  if (instant === undefined) {
    throw fail('E_TIMESTAMP', literal, 'expected an RFC 3339 time in UTC, such as 2026-03-01T00:00:00Z');
  }
  return { kind: 'timestamp', instant };
}

export function readCronSpan(schedule: Literal, duration: Literal, timeZone: Literal): TimeCall {
  const cron = parseCron(schedule.value);
  if (typeof cron === 'string') throw fail('E_CRON', schedule, cron);
  const durationMs = parseDuration(duration.value);
  if (typeof durationMs === 'string') throw fail('E_DURATION', duration, durationMs);
  const zone = findZone(timeZone.value);
  if (zone === undefined) throw fail('E_TIMEZONE', timeZone, 'expected an IANA time zone, such as Europe/Berlin');
  return { kind: 'cronSpan', cron, durationMs, zone };
}
