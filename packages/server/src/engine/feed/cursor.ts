import { type Mark, type Place, UNDER_WAY_MAX } from '../../core/store/changes.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { invalidField } from '../../lib/errors.ts';

/** Where a stream stands. */
export interface FeedCursor {
  /** The database whose numbers these are. */
  readonly origin: string;
  /** What has been told. */
  readonly from: Mark;
  /** When that was. */
  readonly atMs: number;
  /** Up to where it is being told, and how far that is. */
  readonly to?: Mark;
  readonly place?: Place;
}

/** More is told by lists: whoever was away for longer reads those again. */
const KEPT_MS = DAY_MS;
const LENGTH_MAX = 16_384;

type PackedMark = readonly [number, ...number[]];

const packMark = ({ below, underWay }: Mark): PackedMark => [below, ...underWay];

/** Callers keep it and give it back; what it is made of is nobody's business. */
export function printCursor({ origin, from, atMs, to, place }: FeedCursor): string {
  const onTheWay =
    to === undefined || place === undefined ? [] : [packMark(to), [place.source, place.number, place.id]];
  return Buffer.from(JSON.stringify([origin, atMs, packMark(from), ...onTheWay])).toString('base64url');
}

export function parseCursor(text: string): FeedCursor {
  const packed = text.length > LENGTH_MAX ? undefined : unpack(text);
  if (packed === undefined) throw invalidField('cursor', 'must be a cursor of this feed');
  return packed;
}

function unpack(text: string): FeedCursor | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || (value.length !== 3 && value.length !== 5)) return undefined;
  const [origin, atMs, from, to, place] = value as unknown[];
  if (typeof origin !== 'string' || !isCount(atMs) || !isMark(from)) return undefined;
  const cursor = { origin, atMs, from: unpackMark(from) };
  if (value.length === 3) return cursor;
  if (!isMark(to) || !isPlace(place)) return undefined;
  const [source, number, id] = place;
  return { ...cursor, to: unpackMark(to), place: { source, number, id } };
}

const unpackMark = ([below, ...underWay]: PackedMark): Mark => ({ below, underWay });

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isMark = (value: unknown): value is PackedMark =>
  Array.isArray(value) && value.length > 0 && value.length <= UNDER_WAY_MAX + 1 && value.every(isCount);

const isPlace = (value: unknown): value is readonly [number, number, string] =>
  Array.isArray(value) &&
  value.length === 3 &&
  isCount(value[0]) &&
  isCount(value[1]) &&
  typeof value[2] === 'string' &&
  /^[0-9a-f-]{36}$/.test(value[2]);

/** Whether what came after a cursor can still be told: it is of this database, of its past, and not long ago. */
export const isUsable = (cursor: FeedCursor, origin: string, now: Mark, nowMs: number): boolean =>
  cursor.origin === origin &&
  cursor.from.below <= now.below &&
  (cursor.to === undefined || cursor.to.below <= now.below) &&
  cursor.atMs > nowMs - KEPT_MS;
