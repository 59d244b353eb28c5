import { sha256Hex } from '../../lib/encoding.ts';
import { invalidField } from '../../lib/errors.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { PaginationOptions } from '../../lib/pagination.ts';

/** A transaction's place in a chain. */
export interface HistoryPlace {
  readonly block: bigint;
  /** In its block. */
  readonly index: number;
}

/** What is older than a place, or newer than one; with neither, the newest. */
export interface HistoryPage {
  readonly limit: number;
  readonly after?: HistoryPlace;
  readonly before?: HistoryPlace;
}

/** Whose history it is; a cursor is good for that one only. */
export interface HistoryOf {
  readonly organizationId: string;
  readonly caip2: string;
  readonly address: string;
}

/** More than any block holds. */
export const INDEX_MAX = 1_000_000_000;
const CURSOR_LENGTH_MAX = 200;
const OWNER_DIGITS = 16;

export const isOlder = (one: HistoryPlace, other: HistoryPlace): boolean =>
  one.block < other.block || (one.block === other.block && one.index < other.index);

const ownerOf = ({ organizationId, caip2, address }: HistoryOf): string =>
  sha256Hex(`${organizationId} ${caip2} ${address.toLowerCase()}`).slice(0, OWNER_DIGITS);

export const toCursor = (history: HistoryOf, { block, index }: HistoryPlace): string =>
  Buffer.from(JSON.stringify([ownerOf(history), String(block), index])).toString('base64url');

export function toHistoryPage(history: HistoryOf, options: PaginationOptions = {}): HistoryPage {
  const { limit, before, after } = options;
  if (before && after) throw invalidField('paginationOptions', 'give either before or after, not both');
  return {
    limit: limit ? readLimit(limit) : LIMITS.pageSizeDefault,
    ...(after && { after: readCursor(history, 'after', after) }),
    ...(before && { before: readCursor(history, 'before', before) }),
  };
}

function readLimit(text: string): number {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMITS.pageSize) return limit;
  throw invalidField('paginationOptions.limit', `must be a whole number from 1 to ${LIMITS.pageSize}`);
}

function readCursor(history: HistoryOf, name: 'before' | 'after', text: string): HistoryPlace {
  const place = text.length > CURSOR_LENGTH_MAX ? undefined : parseCursor(text);
  if (place !== undefined && toCursor(history, place) === text) return place;
  throw invalidField(`paginationOptions.${name}`, 'must be a cursor of a page of this list');
}

function parseCursor(text: string): HistoryPlace | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  const [, block, index] = parsed as unknown[];
  if (typeof block !== 'string' || !/^(?:0|[1-9][0-9]{0,18})$/.test(block)) return undefined;
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > INDEX_MAX) return undefined;
  return { block: BigInt(block), index };
}
