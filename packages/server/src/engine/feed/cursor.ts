import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Era, Mark, Now, Place } from '../../core/store/changes.ts';
import { UNDER_WAY_MAX } from '../../core/store/changes.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { invalidField } from '../../lib/errors.ts';

/** Where a stream stands. */
export interface FeedCursor {
  /** The era of the database whose numbers these are. */
  readonly origin: string;
  /** What has been told. */
  readonly from: Mark;
  /** When that was. */
  readonly atMs: number;
  /** Up to where it is being told, and how far that is. */
  readonly to?: Mark;
  readonly place?: Place;
}

/** What makes a cursor one of this installation, and of this organization. */
export interface CursorSeal {
  readonly key: Buffer;
  readonly organizationId: string;
}

/** A cursor as a client brings it: it reads well, and nobody knows yet who wrote it. */
export interface PresentedCursor {
  readonly cursor: FeedCursor;
  readonly isGenuine: (seal: CursorSeal) => boolean;
}

/** More is told by lists: a client that was away for longer reads those again. */
const KEPT_MS = DAY_MS;
const LENGTH_MAX = 16_384;
const SEAL_BYTES = 16;

type PackedMark = readonly [number, ...number[]];

const packMark = ({ below, underWay }: Mark): PackedMark => [below, ...underWay];

/** Callers keep it and give it back; what it is made of is nobody's business. */
export function printCursor({ origin, from, atMs, to, place }: FeedCursor, seal: CursorSeal): string {
  const onTheWay =
    to === undefined || place === undefined ? [] : [packMark(to), [place.source, place.number, place.id]];
  const text = Buffer.from(JSON.stringify([origin, atMs, packMark(from), ...onTheWay])).toString('base64url');
  return `${text}.${sealOf(text, seal).toString('base64url')}`;
}

export function parseCursor(text: string): PresentedCursor {
  const [packed = '', sealed = '', ...more] = text.length > LENGTH_MAX ? [] : text.split('.');
  const given = Buffer.from(sealed, 'base64url');
  const cursor = more.length > 0 || given.length !== SEAL_BYTES ? undefined : unpack(packed);
  if (cursor === undefined) throw invalidField('cursor', 'must be a cursor of this feed');
  return { cursor, isGenuine: (seal) => timingSafeEqual(given, sealOf(packed, seal)) };
}

const sealOf = (text: string, { key, organizationId }: CursorSeal): Buffer =>
  createHmac('sha256', key).update(`${organizationId}.${text}`).digest().subarray(0, SEAL_BYTES);

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

/**
 * Whether what came after a cursor can still be told: it stands in the past of this database, and not long ago. What an era
 * did after the next one began is not in this database: a backup was restored.
 */
export function isUsable(
  { origin, from, to, atMs }: FeedCursor,
  eras: readonly Era[],
  now: Now,
  nowMs: number,
): boolean {
  const era = eras.findIndex(({ id }) => id === origin);
  if (era < 0 || atMs <= nowMs - KEPT_MS) return false;
  const end = Math.min(now.next, eras[era + 1]?.begins ?? now.next);
  return from.below <= end && (to === undefined || to.below <= end);
}
