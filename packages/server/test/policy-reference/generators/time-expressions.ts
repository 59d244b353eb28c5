// Time expressions together with a `time.now`, mostly close to a change of some zone's clock.
import fc from 'fast-check';
import { parseDurationMs } from '../reference/cron.ts';
import { offsetMsAt } from '../reference/time-zone.ts';
import { oneOf, quote, weighted } from './pools.ts';
import { atLeast, type Piece } from './terms.ts';

export interface ClockChange {
  readonly zone: string;
  /** The first instant of the new offset. */
  readonly at: string;
}

/** Changes of the past, so that newer zone data cannot move them. */
export const CLOCK_CHANGES: readonly ClockChange[] = [
  { zone: 'America/New_York', at: '2024-03-10T07:00:00Z' },
  { zone: 'America/New_York', at: '2024-11-03T06:00:00Z' },
  { zone: 'Europe/Berlin', at: '2023-03-26T01:00:00Z' },
  { zone: 'Europe/Berlin', at: '2023-10-29T01:00:00Z' },
  // Half an hour each way.
  { zone: 'Australia/Lord_Howe', at: '2022-10-01T15:30:00Z' },
  { zone: 'Australia/Lord_Howe', at: '2023-04-01T15:00:00Z' },
  // Two hours each way.
  { zone: 'Antarctica/Troll', at: '2022-03-27T01:00:00Z' },
  { zone: 'Antarctica/Troll', at: '2022-10-30T01:00:00Z' },
  // Midnight does not exist, or comes twice.
  { zone: 'America/Sao_Paulo', at: '2018-11-04T03:00:00Z' },
  { zone: 'America/Sao_Paulo', at: '2019-02-17T02:00:00Z' },
  { zone: 'Asia/Beirut', at: '2022-03-26T22:00:00Z' },
  // Clocks that were changed for good.
  { zone: 'Asia/Pyongyang', at: '2018-05-04T15:00:00Z' },
  { zone: 'America/Caracas', at: '2016-05-01T07:00:00Z' },
  // A whole day was left out.
  { zone: 'Pacific/Apia', at: '2011-12-30T10:00:00Z' },
  // An offset of 45 minutes past the hour.
  { zone: 'Pacific/Chatham', at: '2022-09-24T14:00:00Z' },
];

const STEADY_ZONES = ['UTC', 'Asia/Kathmandu', 'Asia/Tokyo', 'Etc/GMT+12', 'Pacific/Kiritimati'];

const MINUTE_MS = 60_000;
const MINUTES = ['*', '0', '30', '45', '59', '0,30', '15-45', '0-5,50-59', '1,2,3'];
const HOURS = ['*', '0', '1', '2', '3', '9', '22', '23', '0,12', '1-3', '0-23', '22,23,0'];
const DAYS_OF_MONTH = ['*', '*', '*', '1', '10', '30', '31', '1-15', '26-31', '3,4,26,27,29,30'];
const MONTHS = ['*', '*', '*', '3', '10-12', '1-6', '2', '4,9,11'];
const DAYS_OF_WEEK = ['*', '*', '*', '0', '5', '6', '1-5', '0,6', '0-6'];
const DURATIONS = [
  '1m',
  '10m',
  '30m',
  '1h',
  '90m',
  '2h',
  '8h',
  '1h30m',
  '1d',
  '1d12h',
  '6d23h59m',
  '7d',
  '168h',
  '10080m',
];

export interface TimeCase {
  readonly expression: string;
  readonly now: string;
}

/** A well-typed time expression and the server's time. */
export function timeExpressions(): fc.Arbitrary<TimeCase> {
  return fc.tuple(oneOf(CLOCK_CHANGES), nearOffsets()).chain(([change, offsetMs]) => {
    const nowMs = Date.parse(change.at) + offsetMs;
    return timeBools(2, change.zone, nowMs).map(({ text }) => ({
      expression: text,
      now: new Date(nowMs).toISOString(),
    }));
  });
}

/** Milliseconds from the change: often within hours and on a full minute, at times days away. */
function nearOffsets(): fc.Arbitrary<number> {
  return fc
    .tuple(
      fc.oneof(fc.integer({ min: -240, max: 240 }), fc.integer({ min: -8 * 1440, max: 8 * 1440 }), fc.constant(0)),
      oneOf([0, 0, 0, 1, -1, 30_000, 59_999]),
    )
    .map(([minutes, ms]) => minutes * MINUTE_MS + ms);
}

function timeBools(depth: number, zone: string, nowMs: number): fc.Arbitrary<Piece> {
  const leaves = [
    weighted(4, () => spans(zone).map((text): Piece => ({ text, level: 3 }))),
    weighted(3, () => edges(zone, nowMs).map((text): Piece => ({ text, level: 3 }))),
    weighted(3, () => comparisons(nowMs)),
  ];
  if (depth === 0) return fc.oneof(...leaves);
  const operand = (level: Piece['level']): fc.Arbitrary<string> =>
    timeBools(depth - 1, zone, nowMs).map((piece) => atLeast(piece, level));
  return fc.oneof(
    ...leaves,
    weighted(1, () => operand(3).map((text): Piece => ({ text: `!${text}`, level: 3 }))),
    weighted(1, () => fc.tuple(operand(1), operand(1)).map((sides): Piece => ({ text: sides.join(' && '), level: 1 }))),
    weighted(1, () => fc.tuple(operand(0), operand(0)).map((sides): Piece => ({ text: sides.join(' || '), level: 0 }))),
  );
}

function spans(zone: string): fc.Arbitrary<string> {
  const zones = fc.oneof({ weight: 9, arbitrary: fc.constant(zone) }, { weight: 1, arbitrary: oneOf(STEADY_ZONES) });
  return fc.tuple(crons(), oneOf(DURATIONS), zones).map((texts) => `CronSpan(${texts.map(quote).join(', ')})`);
}

/** A window that begins or ends now, or a minute off. */
function edges(zone: string, nowMs: number): fc.Arbitrary<string> {
  return fc
    .tuple(oneOf(DURATIONS), fc.boolean(), oneOf([0, 0, 1, -1]), fc.boolean())
    .map(([duration, isEnd, minutes, isDaily]) => {
      const fireMs = nowMs - (isEnd ? parseDurationMs(duration)! : 0) + minutes * MINUTE_MS;
      const wall = new Date(fireMs + offsetMsAt(zone, fireMs));
      const day = isDaily ? '* *' : `${wall.getUTCDate()} ${wall.getUTCMonth() + 1}`;
      const cron = `${wall.getUTCMinutes()} ${wall.getUTCHours()} ${day} *`;
      return `CronSpan('${cron}', '${duration}', '${zone}')`;
    });
}

function crons(): fc.Arbitrary<string> {
  const fields = fc.tuple(...[MINUTES, HOURS, DAYS_OF_MONTH, MONTHS, DAYS_OF_WEEK].map(oneOf));
  return fc.tuple(fields, oneOf([' ', ' ', '  ', '\t', ' \t '])).map(([texts, separator]) => texts.join(separator));
}

function comparisons(nowMs: number): fc.Arbitrary<Piece> {
  const timestamp = timestamps(nowMs);
  const operator = oneOf(['==', '!=', '<', '<=', '>', '>=']);
  return fc
    .oneof(
      fc.tuple(fc.constant('time.now'), operator, timestamp),
      fc.tuple(timestamp, operator, fc.constant('time.now')),
      fc.tuple(timestamp, operator, timestamp),
    )
    .map((parts) => ({ text: parts.join(' '), level: 2 }));
}

/**
 * Near `now`, in the spellings of protocol/policies 7.1; digits beyond milliseconds are zeros, finer ones need not be
 * kept.
 */
function timestamps(nowMs: number): fc.Arbitrary<string> {
  const spelling = fc.record({
    separator: oneOf(['T', 't']),
    padding: oneOf(['', '0', '000000']),
    zone: oneOf(['Z', 'z', '+00:00', '-00:00']),
  });
  return fc.tuple(oneOf([0, 0, 1, -1, 1000, -86_400_000]), spelling).map(([offsetMs, { separator, padding, zone }]) => {
    const text = new Date(nowMs + offsetMs).toISOString().replace('T', separator).replace('Z', `${padding}${zone}`);
    return `Timestamp('${text}')`;
  });
}
