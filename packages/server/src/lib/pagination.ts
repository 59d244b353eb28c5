import { invalidField } from './errors.ts';
import { isUuid } from './ids.ts';
import { LIMITS } from './limits.ts';

/** What a list query asks for: a page around a cursor, or everything up to the operator's bound. */
export type PageRequest =
  | { readonly kind: 'page'; readonly limit: number; readonly after?: string; readonly before?: string }
  | { readonly kind: 'all'; readonly max: number };

/** The wire's paginationOptions (spec 2.1). */
export interface PaginationOptions {
  readonly limit?: string | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** The wire's pageInfo (spec 2.1). */
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

/** Absent options mean everything up to `max` (decision 13); present ones are exact or refused. */
export function toPageRequest(options: PaginationOptions | undefined, max: number): PageRequest {
  if (options === undefined) return { kind: 'all', max };
  // Clients of generated code send empty strings for what they do not set.
  const [limit, before, after] = [options.limit, options.before, options.after].map((text) => text || undefined);
  if (before !== undefined && after !== undefined) {
    throw invalidField('paginationOptions', 'give either before or after, not both');
  }
  return {
    kind: 'page',
    limit: limit === undefined ? LIMITS.pageSizeDefault : parseLimit(limit),
    ...(before === undefined ? {} : { before: parseCursor('before', before) }),
    ...(after === undefined ? {} : { after: parseCursor('after', after) }),
  };
}

function parseLimit(text: string): number {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMITS.pageSize) {
    throw invalidField('paginationOptions.limit', `must be a whole number from 1 to ${LIMITS.pageSize}`);
  }
  return limit;
}

function parseCursor(name: 'before' | 'after', text: string): string {
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
