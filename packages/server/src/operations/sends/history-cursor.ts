import { invalidField } from '../../lib/errors.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { PaginationOptions } from '../../lib/pagination.ts';

/** A place in the history of an address: what is older than the transaction at this index of this block. */
export interface HistoryPlace {
  readonly block: bigint;
  readonly index: number;
}

export interface HistoryPage {
  readonly limit: number;
  readonly after: HistoryPlace | undefined;
}

const VERSION = 1;
const CURSOR_LENGTH_MAX = 200;
/** More than any block holds. */
const INDEX_MAX = 1_000_000_000;

export const toCursor = ({ block, index }: HistoryPlace): string =>
  Buffer.from(JSON.stringify([VERSION, String(block), index])).toString('base64url');

/** The history is read from its newest end on; there is no way back but from the start. */
export function toHistoryPage(options: PaginationOptions = {}): HistoryPage {
  const { limit, before, after } = options;
  if (before) throw invalidField('paginationOptions.before', 'is not served: read on with after');
  return {
    limit: limit ? readLimit(limit) : LIMITS.pageSizeDefault,
    after: after ? readCursor(after) : undefined,
  };
}

function readLimit(text: string): number {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMITS.pageSize) return limit;
  throw invalidField('paginationOptions.limit', `must be a whole number from 1 to ${LIMITS.pageSize}`);
}

function readCursor(text: string): HistoryPlace {
  const refusal = () => invalidField('paginationOptions.after', 'must be the endCursor of a page of this list');
  if (text.length > CURSOR_LENGTH_MAX) throw refusal();
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw refusal();
  }
  if (!Array.isArray(parsed)) throw refusal();
  const [version, block, index] = parsed as unknown[];
  const isBlock = typeof block === 'string' && /^(?:0|[1-9][0-9]{0,18})$/.test(block);
  if (version !== VERSION || !isBlock || !Number.isInteger(index)) throw refusal();
  const place = { block: BigInt(block), index: index as number };
  if (place.index < 0 || place.index > INDEX_MAX || toCursor(place) !== text) throw refusal();
  return place;
}
