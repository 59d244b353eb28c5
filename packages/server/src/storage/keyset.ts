import { setImmediate } from 'node:timers/promises';
import { ApiError } from '../lib/errors.ts';
import { LIMITS } from '../lib/limits.ts';
import { type Page, type PageRequest, tooMany, toPage } from '../lib/pagination.ts';

/** A range of ids in list order, as the stores' queries take it. */
export interface Range {
  readonly greaterThan?: string;
  readonly lessThan?: string;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

/** How many bytes a row has, which costs less to learn than to read the row. */
export interface RowSize {
  readonly id: string;
  readonly bytes: number;
}

/** How a list reads its rows. */
export interface Listing<Item extends { readonly id: string }> {
  readonly order: 'asc' | 'desc';
  /** Whether a cursor names an object of this list, deleted ones included. */
  readonly owns: (cursor: string) => Promise<boolean>;
  readonly fetch: (range: Range) => Promise<Item[]>;
  /** The sizes of the same rows; left out where no row can be large. */
  readonly weigh?: ((range: Range) => Promise<RowSize[]>) | undefined;
  /**
   * Reads a few rows at once, where so many are the whole page and it can tell in another way that they are not too many
   * bytes; else undefined.
   */
  readonly fetchFew?: ((range: Range, isPage: (count: number) => boolean) => Promise<Item[] | undefined>) | undefined;
  /** Whether the answer has next to nothing of each row: then sizes only tell how many are read at a time. */
  readonly isUnbounded?: boolean | undefined;
  /** A page of too many bytes is refused, unless clients of the list expect short pages. */
  readonly whenTooLarge?: 'refuse' | 'shorten' | undefined;
}

interface Row {
  readonly id: string;
}

/** Rows are read in batches, between which other requests have their turn. */
const BATCH_BYTES = 256 * 1024;
const BATCH_ROWS = 500;
const FEW_ROWS = 16;

/**
 * Fetches one page of rows that are listed by id: their sizes first, and the rows if an answer may have so many bytes
 * (docs/decisions/0033). `before` pages are read backwards from the cursor and turned round.
 */
export async function fetchPage<Item extends Row>(request: PageRequest, listing: Listing<Item>): Promise<Page<Item>> {
  if (request.kind === 'all') {
    const { rows, isCut } = await readRows(request, { order: listing.order, limit: request.max }, listing);
    return toPage(rows, { next: isCut, previous: false });
  }
  const cursor = request.after ?? request.before;
  if (cursor !== undefined && !(await listing.owns(cursor))) {
    const field = request.after === undefined ? 'before' : 'after';
    const description = 'must be the id of an object in this list';
    throw new ApiError('REQUEST_INVALID', `paginationOptions.${field}: ${description}`, {
      violations: [{ field: `paginationOptions.${field}`, description }],
    });
  }
  const backwards = request.before !== undefined;
  const order = backwards ? reverse(listing.order) : listing.order;
  const { rows, isCut } = await readRows(request, { ...following(cursor, order), limit: request.limit }, listing);
  const find = listing.weigh ?? listing.fetch;
  const behind = cursor !== undefined && (await find({ ...beyond(rows[0]?.id, order), limit: 1 })).length > 0;
  return backwards
    ? toPage(rows.reverse(), { next: behind, previous: isCut })
    : toPage(rows, { next: isCut, previous: behind });
}

/** The rows of a page, and whether more follow. */
async function readRows<Item extends Row>(
  request: PageRequest,
  range: Range,
  { fetch, weigh, whenTooLarge, isUnbounded, fetchFew }: Listing<Item>,
): Promise<{ readonly rows: Item[]; readonly isCut: boolean }> {
  const withNext = { ...range, limit: range.limit + 1 };
  const fewMax = Math.min(withNext.limit, FEW_ROWS);
  // Where there are as many as were asked for, more may follow; one more than the page has says that they do.
  const isPage = (count: number): boolean => count < fewMax || (count > range.limit && request.kind !== 'all');
  const few = await fetchFew?.({ ...range, limit: fewMax }, isPage);
  if (few !== undefined) return { rows: few.slice(0, range.limit), isCut: few.length > range.limit };
  if (weigh === undefined) {
    const rows = await readAll(fetch, withNext);
    const isCut = rows.length > range.limit;
    if (isCut && request.kind === 'all') throw tooMany(range.limit);
    return { rows: rows.slice(0, range.limit), isCut };
  }
  const sizes = await readAll(weigh, withNext);
  if (sizes.length > range.limit && request.kind === 'all') throw tooMany(range.limit);
  const page = sizes.slice(0, range.limit);
  const fitting = page.slice(0, countFitting(page, isUnbounded ? Number.POSITIVE_INFINITY : LIMITS.pageBytes));
  if (fitting.length < page.length && whenTooLarge !== 'shorten') throw tooLarge(request, fitting.length);
  const rows: Item[] = [];
  for (
    let from = range;
    rows.length < fitting.length;
    from = { ...range, ...following(rows.at(-1)?.id, range.order) }
  ) {
    if (rows.length > 0) await setImmediate();
    const left = fitting.slice(rows.length);
    const batch = await fetch({ ...from, limit: Math.min(countFitting(left, BATCH_BYTES), BATCH_ROWS) });
    rows.push(...batch);
    // Some were deleted meanwhile.
    if (batch.length === 0) break;
  }
  return { rows, isCut: fitting.length < sizes.length };
}

async function readAll<Found extends Row>(read: (range: Range) => Promise<Found[]>, range: Range): Promise<Found[]> {
  const rows: Found[] = [];
  for (let from = range; ; from = { ...range, ...following(rows.at(-1)?.id, range.order) }) {
    const limit = Math.min(range.limit - rows.length, BATCH_ROWS);
    const batch = await read({ ...from, limit });
    rows.push(...batch);
    if (batch.length < limit || rows.length === range.limit) return rows;
    await setImmediate();
  }
}

/** How many of the first rows have no more than so many bytes together; one in any case. */
function countFitting(sizes: readonly RowSize[], bytesMax: number): number {
  let bytes = 0;
  const end = sizes.findIndex((size) => {
    bytes += size.bytes;
    return bytes > bytesMax;
  });
  return end < 0 ? sizes.length : Math.max(end, 1);
}

function tooLarge(request: PageRequest, fitting: number): ApiError {
  const limit = Math.min(fitting, LIMITS.pageSize);
  const what = request.kind === 'all' ? 'the list' : 'this page';
  const field = 'paginationOptions.limit';
  const description = `${what} has more than ${LIMITS.pageBytes} bytes: a limit of ${limit} fits`;
  return new ApiError('RESULT_TOO_LARGE', `${field}: ${description}`, { violations: [{ field, description }] });
}

/** The rows that follow one in this order; all rows, if there is none. */
function following(id: string | undefined, order: 'asc' | 'desc'): Omit<Range, 'limit'> {
  if (id === undefined) return { order };
  return order === 'asc' ? { greaterThan: id, order } : { lessThan: id, order };
}

/** The rows that come before the first one of a page that was read in this order; all rows, if the page is empty. */
const beyond = (firstId: string | undefined, order: 'asc' | 'desc'): Omit<Range, 'limit'> =>
  firstId === undefined ? { order } : following(firstId, reverse(order));

const reverse = (order: 'asc' | 'desc') => (order === 'asc' ? 'desc' : 'asc');
