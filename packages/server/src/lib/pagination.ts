import { ApiError, invalidField } from './errors.ts';
import { isUuid } from './ids.ts';
import { LIMITS } from './limits.ts';

/** What a list query asks for: a page around a cursor, or everything up to the operator's bound. */
export type PageRequest =
  | { readonly kind: 'page'; readonly limit: number; readonly after?: string; readonly before?: string }
  | { readonly kind: 'all'; readonly max: number };

/** The wire's paginationOptions (protocol/http 3.3). */
export interface PaginationOptions {
  readonly limit?: string | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** The wire's pageInfo (protocol/http 3.3). */
export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string;
  readonly endCursor: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pageInfo: PageInfo;
}

/** Absent options mean everything up to `max` (protocol/http 3.4); present ones are exact or refused. */
export const toPageRequest = (options: PaginationOptions | undefined, max: number): PageRequest =>
  readOptions(options, max, parseIdCursor);

/** A page in any case, with cursors of the list's own making: the first of the longest pages where nothing is asked for. */
export function toPageOf<Cursor>(
  options: PaginationOptions | undefined,
  readCursor: (name: 'before' | 'after', text: string) => Cursor,
): { readonly limit: number; readonly after?: Cursor; readonly before?: Cursor } {
  return options === undefined ? { limit: LIMITS.pageSize } : readPage(options, readCursor);
}

function readOptions(
  options: PaginationOptions | undefined,
  max: number,
  readCursor: (name: 'before' | 'after', text: string) => string,
): PageRequest {
  return options === undefined ? { kind: 'all', max } : { kind: 'page', ...readPage(options, readCursor) };
}

function readPage<Cursor>(
  options: PaginationOptions,
  readCursor: (name: 'before' | 'after', text: string) => Cursor,
): { readonly limit: number; readonly after?: Cursor; readonly before?: Cursor } {
  // Clients of generated code send empty strings for what they do not set.
  const [limit, before, after] = [options.limit, options.before, options.after].map((text) => text || undefined);
  if (before !== undefined && after !== undefined) {
    throw invalidField('paginationOptions', 'give either before or after, not both');
  }
  return {
    limit: limit === undefined ? LIMITS.pageSizeDefault : parseLimit(limit),
    ...(before === undefined ? {} : { before: readCursor('before', before) }),
    ...(after === undefined ? {} : { after: readCursor('after', after) }),
  };
}

function parseLimit(text: string): number {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMITS.pageSize) {
    throw invalidField('paginationOptions.limit', `must be a whole number from 1 to ${LIMITS.pageSize}`);
  }
  return limit;
}

export function parseIdCursor(name: 'before' | 'after', text: string): string {
  const id = text.toLowerCase();
  if (!isUuid(id)) throw invalidField(`paginationOptions.${name}`, 'must be the id of an object in this list');
  return id;
}

/** Items in list order, and whether there are more on either side. */
export function toPage<Item extends { readonly id: string }>(
  items: readonly Item[],
  more: { readonly next: boolean; readonly previous: boolean },
): Page<Item> {
  return {
    items,
    pageInfo: {
      hasNextPage: more.next,
      hasPreviousPage: more.previous,
      startCursor: items[0]?.id ?? '',
      endCursor: items.at(-1)?.id ?? '',
    },
  };
}

/** A list does not answer more objects than that at once. */
export const tooMany = (max: number): ApiError =>
  new ApiError('RESULT_TOO_LARGE', `more than ${max} objects match: page with paginationOptions`);

/** One page of a list that is at hand as a whole. Its cursors are texts that tell one item from every other. */
export function pageOfList<Item>(
  items: readonly Item[],
  options: PaginationOptions | undefined,
  max: number,
  cursorOf: (item: Item) => string,
): Page<Item> {
  const request = readOptions(options, max, (_name, text) => text);
  if (request.kind === 'all' && items.length > max) throw tooMany(max);
  const [start, end] = boundsOf(items.map(cursorOf), request);
  const shown = items.slice(start, end);
  const page = toPage(
    shown.map((item) => ({ id: cursorOf(item) })),
    { next: end < items.length, previous: start > 0 },
  );
  return { items: shown, pageInfo: page.pageInfo };
}

/** Where a page begins and where it ends. */
function boundsOf(cursors: readonly string[], request: PageRequest): readonly [number, number] {
  if (request.kind === 'all') return [0, cursors.length];
  const { limit, after, before } = request;
  if (before !== undefined) {
    const end = positionOf(cursors, 'before', before);
    return [Math.max(0, end - limit), end];
  }
  const start = after === undefined ? 0 : positionOf(cursors, 'after', after) + 1;
  return [start, Math.min(cursors.length, start + limit)];
}

function positionOf(cursors: readonly string[], name: 'before' | 'after', cursor: string): number {
  const position = cursors.indexOf(cursor);
  if (position < 0)
    throw invalidField(`paginationOptions.${name}`, 'must be a cursor of this list, as pageInfo has it');
  return position;
}
